"""Texts of the "Import classes" card."""

from app.drops import classes_text
from app.graph_import.logic import GraphSurvey
from app.texts import fill, plural, tr
from app.wording import clauses, enumeration, number
from engine.collection.importing.import_graph import GraphImport, GraphPreview
from engine.files import shown
from engine.interchange.detect import FORMATS
from engine.interchange.versions.plan import Clash, ImportReport, ReportKind, ReportLine
from engine.texts import paragraph, translated

LEVELS_NAMED = 8  # longer lists of levels show only their number


def kind_text(survey: GraphSurvey, report: ImportReport) -> str:
    """`OBO, 1,203 classes, 1,202 edges`."""
    title = format_title(survey.format_name)
    edges = plural(report.edges, "1 edge", "{n} edges")
    return clauses(title, classes_text(report.classes), edges)


def format_title(name: str) -> str:
    titles = {
        "folders": tr("Folders"),
        "csv": tr("Table"),
        "json": "JSON",
        "wordnet": "WordNet",
        "imagenet": "ImageNet",
    }
    return titles.get(name) or tr(FORMATS[name].description).split(":")[0]


def left_out_rows(report: ImportReport) -> list[tuple[str, ...]]:
    """Reason, examples and count of skipped entries."""
    rows: list[tuple[str, ...]] = []
    for each in report.left_out:
        reason = tr(each.reason.value)
        names = enumeration(map(shown, map(translated, each.names)))
        rows.append((reason[:1].upper() + reason[1:], names, number(each.count)))
    return rows


def levels_text(report: ImportReport) -> str:
    """`3 levels with 1, 12 and 140 classes, 17 synonyms`."""
    synonyms = plural(report.synonyms, "1 synonym", "{n} synonyms") if report.synonyms else ""
    return clauses(*filter(None, (_levels(report), synonyms)))


def _levels(report: ImportReport) -> str:
    counts = [number(count) for count in report.levels]
    if len(counts) == 1:
        return tr("1 level")
    if len(counts) > LEVELS_NAMED:
        return plural(len(counts), "1 level", "{n} levels")
    named = enumeration(counts[:-1]), counts[-1]
    return plural(
        len(counts), "1 level with {2} classes", "{n} levels with {1} and {2} classes", *named
    )


def summary_text(preview: GraphPreview) -> str:
    """`12 new classes, 3 renamed, 2 moved`, or that nothing is new."""
    report, counts = preview.report, preview.report.counts
    parts = [plural(counts["new"], "1 new class", "{n} new classes")] if counts["new"] else []
    parts += [plural(counts["renamed"], "1 renamed", "{n} renamed")] if counts["renamed"] else []
    parts += [plural(counts["merged"], "1 merged", "{n} merged")] if counts["merged"] else []
    if moved := counts["moved"]:
        linked = plural(moved, "1 linked", "{n} linked")
        parts.append(plural(moved, "1 moved", "{n} moved") if report.is_update else linked)
    if not parts and report.completed:
        parts.append(tr("Synonyms of {1}", classes_text(report.completed)))
    if not parts and preview.noted:
        parts.append(tr("Notes of {1}", classes_text(preview.noted)))
    return clauses(*parts) or tr("Nothing new")


def is_all_new(report: ImportReport) -> bool:
    """Whether all classes are new, so that the tree replaces the list of new ones."""
    return report.counts["new"] == report.classes


def besides_text(survey: GraphSurvey, preview: GraphPreview) -> str:
    report, parts = preview.report, []
    if report.same:
        template = plural(
            report.same, "{1} is in the project already.", "{1} are in the project already."
        )
        parts.append(fill(template, classes_text(report.same)))
    if report.completed and (report.counts["new"] or report.counts["moved"]):
        parts.append(
            plural(
                report.completed,
                "1 class gets a source id or synonyms.",
                "{n} classes get a source id or synonyms.",
            )
        )
    if preview.noted:
        one = "1 class gets the note or colour that the file has for it."
        parts.append(
            plural(
                preview.noted, one, "{n} classes get the note or colour that the file has for them."
            )
        )
    if not preview.changes and not survey.known_name:
        parts.append(tr("The list is remembered, to compare its next version with it."))
    return paragraph(*parts)


def update_note(survey: GraphSurvey) -> str:
    if survey.known_name:
        return tr(
            "An earlier version was imported from {1}. Labels stay with their classes, and "
            "your own changes stay.",
            shown(survey.known_name),
        )
    return tr(
        "Many of these classes are in the project. If this is a new version of them, labels "
        "stay with their classes."
    )


def section_title(kind: ReportKind, report: ImportReport) -> str:
    count = report.counts[kind]
    if kind == "moved" and not report.is_update:
        return plural(count, "1 class gets another parent", "{n} classes get other parents")
    titles: dict[ReportKind, str] = {
        "new": plural(count, "1 class is new", "{n} classes are new"),
        "renamed": plural(count, "1 class is renamed", "{n} classes are renamed"),
        "moved": plural(count, "1 class is moved", "{n} classes are moved"),
        "merged": plural(
            count, "1 class is merged into another", "{n} classes are merged into others"
        ),
        "split": plural(
            count,
            "1 class is split in the file. It stays, with its labels.",
            "{n} classes are split in the file. They stay, with their labels.",
        ),
        "gone": plural(
            count,
            "1 class is no longer in the file. It stays.",
            "{n} classes are no longer in the file. They stay.",
        ),
        "removed_here": plural(
            count,
            "1 class was removed here and does not come back.",
            "{n} classes were removed here and do not come back.",
        ),
        "kept": plural(
            count,
            "1 class differs in the file. Yours stays.",
            "{n} classes differ in the file. Yours stay.",
        ),
    }
    return titles[kind]


def section_rows(kind: ReportKind, lines: tuple[ReportLine, ...]) -> list[tuple[str, ...]]:
    if kind in {"new", "removed_here"}:
        return [(shown(line.path),) for line in lines]
    if kind == "kept":
        return [(shown(line.path), shown(line.becomes), _reason(line.why)) for line in lines]
    labels = [number(line.labels) if line.labels else "" for line in lines]
    if kind == "gone":
        return [(shown(line.path), count) for line, count in zip(lines, labels, strict=True)]
    return [
        (shown(line.path), shown(line.becomes), count)
        for line, count in zip(lines, labels, strict=True)
    ]


def _reason(why: str) -> str:
    reasons = {
        Clash.NAME.value: tr("Renamed here"),
        Clash.PLACE.value: tr("Moved here"),
        Clash.NAME_TAKEN.value: tr("The name is taken"),
        Clash.CYCLE.value: tr("It would be its own ancestor"),
    }
    return reasons[why]


def import_button(preview: GraphPreview) -> str:
    """`Import 12 classes`, or `Update` for an update."""
    if preview.report.is_update:
        return tr("Update")
    count = preview.report.counts["new"]
    return tr("Import {1}", classes_text(count)) if count else tr("Import")


def stayed_text(done: GraphImport) -> str:
    first, others = translated(done.stayed[0]), len(done.stayed) - 1
    if others:
        return tr("{1}. Kept: {2}, such as {3}", done.change.text, classes_text(others + 1), first)
    return tr("{1}. Kept: {2}", done.change.text, first)
