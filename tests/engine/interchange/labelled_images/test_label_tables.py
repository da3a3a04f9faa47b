"""Tables of labels of other programs: which image, which class, and whose."""

import zipfile
from pathlib import Path

import pytest

from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError, UsageError
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels

FOX = ("Mammalia", "Carnivora", "Canidae", "Vulpes", "Vulpes vulpes")
VIA = (
    "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,"
    "region_attributes\n"
)
LABELBOX = (
    '"{""objects"": [], ""classifications"": [{""title"": ""kind"", ""answer"": {""title"": '
    '""Fox"", ""value"": '
    '""fox""}}]}"'
)
WILDLIFE = (
    "project_id,deployment_id,image_id,filename,location,is_blank,identified_by,wi_taxon_id,"
    "class,order,family,genus,"
    "species,common_name,number_of_objects\n"
)


def read(tmp_path: Path, text: str, name: str = "labels.csv", **columns: str) -> ForeignLabels:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_labels(tmp_path / name, columns=columns)[1]


def pairs(found: ForeignLabels) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.image, each.names) for each in found.labels]


def one(found: ForeignLabels) -> ForeignLabel:
    (label,) = found.labels
    return label


def test_wildlife_insights(tmp_path: Path) -> None:
    """The finest rank with its path; blanks are none of the classes, machine answers no labels."""
    rows = (
        "1,dep_a,i1,A.JPG,gs://b/1.JPG,0,Ada,u1,Mammalia,Carnivora,Canidae,Vulpes,vulpes,Red Fox,3",
        "1,dep_a,i2,B.JPG,gs://b/2.JPG,1,Ada,u2,,,,,,Blank,",
        "1,dep_a,i3,C.JPG,gs://b/3.JPG,0,Ada,u3,Mammalia,Carnivora,Canidae,,,Canidae Family,1",
        (
            "1,dep_a,i4,D.JPG,gs://b/4.JPG,0,Computer vision,u1,Mammalia,Carnivora,Canidae,Vulpes,"
            "vulpes,Red Fox,1"
        ),
        "1,dep_a,i5,E.JPG,gs://b/5.JPG,0,Ada,u5,,,,,,Vehicle,1",
        "1,dep_b,i6,E.JPG,gs://b/6.JPG,0,Ada,u1,Mammalia,Carnivora,Canidae,Vulpes,vulpes,Red Fox,1",
        "1,dep_b,i7,F.JPG,gs://b/7.JPG,0,Ada,u7" + 6 * ",No CV Result" + ",1",
    )
    found = read(tmp_path, WILDLIFE + "\n".join(rows))
    fox, blank, dog, by_machine, vehicle, other_fox = found.labels
    assert (fox.image, fox.names, fox.who) == ("A.JPG", FOX, "Ada")
    assert fox.other_names == ("Vulpes vulpes", "Red Fox")
    assert (blank.names, blank.may_be_none) == (("Blank",), True)
    assert dog.names == FOX[:3]
    assert by_machine.is_machine
    assert (vehicle.image, vehicle.names) == ("dep_a/E.JPG", ("Vehicle",))
    assert other_fox.image == "dep_b/E.JPG"
    assert found.table is not None
    assert found.table.title == "Wildlife Insights"
    assert found.table.used["class"] == (
        "class",
        "order",
        "family",
        "genus",
        "species",
        "common_name",
    )


@pytest.mark.parametrize(
    ("header", "row", "names"),
    [
        (
            "filename,class,order,family,genus,species",
            "a.jpg,Mammalia,Carnivora,Canidae,Vulpes,Vulpes vulpes",
            FOX,
        ),
        (
            "image,kingdom,phylum,scientificName",
            "a.jpg,Animalia,Chordata,Vulpes",
            ("Animalia", "Chordata", "Vulpes"),
        ),
        (
            "Datei,Klasse,Ordnung,Art",
            "a.jpg,Mammalia,,Vulpes vulpes",
            ("Mammalia", "Vulpes vulpes"),
        ),
        (
            "photo,family,genus,species,subspecies",
            "a.jpg,F,Parus,major,minor",
            ("F", "Parus", "Parus major", "Parus major minor"),
        ),
        ("filename,label,order,family", "a.jpg,red fox,Carnivora,Canidae", ("red fox",)),
        ("filename,order,family,species", "a.jpg,Carnivora,Unknown,", ("Carnivora",)),
        ("filename,family,genus,species", "a.jpg,Canidae,Vulpes,sp.", ("Canidae", "Vulpes")),
    ],
)
def test_ranks(tmp_path: Path, header: str, row: str, names: tuple[str, ...]) -> None:
    assert pairs(read(tmp_path, f"{header}\n{row}\n")) == [("a.jpg", names)]


@pytest.mark.parametrize(
    ("header", "row", "image", "names"),
    [
        ("filename,species", "a.jpg,Fox", "a.jpg", ("Fox",)),
        ("path,identity,species", "img/a.jpg,ada,Fox", "img/a.jpg", ("Fox",)),
        ("image_id,identity,path,species", "17,ada,img/a.jpg,Fox", "img/a.jpg", ("Fox",)),
        ("image_id,category", "0a1b,Fox", "0a1b", ("Fox",)),
        (
            "File,RelativePath,DateTime,DeleteFlag,Species",
            r"a.JPG,camB\sub,,false,Fox",
            "camB/sub/a.JPG",
            ("Fox",),
        ),
        ("Photo;Artname;Anzahl", "a.jpg;Fuchs;3", "a.jpg", ("Fuchs",)),
        ("x,picture of,species", "1,a.png,Fox", "a.png", ("Fox",)),
        ("folder\tfile\tlabel", "camA\ta.jpg\tFox", "camA/a.jpg", ("Fox",)),
        ("folder,file_path,label", "camA,camA/a.jpg,Fox", "camA/a.jpg", ("Fox",)),
        (
            "image_url,scientific_name,common_name,id",
            "https://x/a.jpg,Fox,f,5",
            "https://x/a.jpg",
            ("Fox",),
        ),
        ("subject_id,filename,answer,votes", "1,a.jpg,Fox,5", "a.jpg", ("Fox",)),
        ("Datei;Klasse", "a.jpg;Fox", "a.jpg", ("Fox",)),
        ("Nome file;Specie", "a.jpg;Fox", "a.jpg", ("Fox",)),
        ("Nom de fichier;Catégorie", "a.jpg;Fox", "a.jpg", ("Fox",)),
        (
            "annotation_id,annotator,choice,id,image,lead_time",
            "1,7,Fox,1,/data/upload/1/0b1c2d3e-a.jpg,3",
            "a.jpg",
            ("Fox",),
        ),
        (
            "External ID,Labeled Data,Label,Created By",
            f"a.jpg,https://x/0b.jpg,{LABELBOX},ada",
            "a.jpg",
            ("Fox",),
        ),
    ],
)
def test_an_image_and_a_class(
    tmp_path: Path, header: str, row: str, image: str, names: tuple[str, ...]
) -> None:
    assert pairs(read(tmp_path, f"{header}\n{row}\n")) == [(image, names)]


@pytest.mark.parametrize("named", [{}, {"file": "a.jpg", "class": "Fox"}])
def test_a_table_without_a_header_keeps_its_first_row(
    tmp_path: Path, named: dict[str, str]
) -> None:
    found = read(tmp_path, "a.jpg;Fox\nb.jpg;Deer\n", **named)
    assert pairs(found) == [("a.jpg", ("Fox",)), ("b.jpg", ("Deer",))]
    with pytest.raises(
        FormatError, match="were not recognised"
    ):  # nor is a number taken for a class
        read(tmp_path, "a.jpg,0\nb.jpg,1\n")


def test_a_header_in_windows_1252(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes("fichier;espèce\r\na.jpg;Hérisson\r\n".encode("cp1252"))
    assert pairs(read_labels(tmp_path / "labels.csv")[1]) == [("a.jpg", ("Hérisson",))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"image": "a.jpg", "label": "Fox"}]', [("a.jpg", ("Fox",))]),
        ('[{"image": "a.jpg", "label": {"name": "Fox"}}]', [("a.jpg", ("Fox",))]),
        (
            '[{"image": "a.jpg", "label": [{"name": "Fox"}, {"name": "Deer"}]}]',
            [("a.jpg", ("Fox",)), ("a.jpg", ("Deer",))],
        ),
        (
            '[{"image": "a.jpg", "label": ["Fox", "Deer"]}]',
            [("a.jpg", ("Fox",)), ("a.jpg", ("Deer",))],
        ),
        (
            (
                '{"a.jpg9": {"filename": "a.jpg", "regions": [], "file_attributes": {"species": '
                '"Fox"}}}'
            ),
            [("a.jpg", ("Fox",))],
        ),
        (
            '[{"SourceFile": "a.jpg"}, {"SourceFile": "b.jpg", "Keywords": ["Fox", "sea, wide"]}]',
            [("b.jpg", ("Fox",)), ("b.jpg", ("sea, wide",))],
        ),
        (
            (
                '[{"annotation_id": 1, "lead_time": 1, "image": '
                '"/data/local-files/?d=x/a%20b.jpg", '
                '"choice": {"choices": ["Fox"]}}]'
            ),
            [("x/a b.jpg", ("Fox",))],
        ),
    ],
)
def test_rows_of_json(
    tmp_path: Path, text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    """A class may be an object or a list, which is never taken for its name."""
    assert pairs(read(tmp_path, text, "labels.json")) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "l.json",
            '[{"image": "a.jpg", "label": [{"x": 1, "width": 3, "rectanglelabels": ["Fox"]}]}]',
        ),
        (
            "l.csv",
            (
                'External ID,Label,Created By\na.jpg,"{""objects"": [{""title"": ""Fox"", '
                '""bbox"": {}}]}",ada\n'
            ),
        ),
        ("l.jsonl", '{"image": "a.jpg", "label": {"name": "Fox", "bbox": [1, 2, 3, 4]}}\n'),
    ],
)
def test_boxes_in_the_value_of_a_class_are_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(FormatError, match="has bounding boxes"):
        read(tmp_path, text, name)


def test_several_classes_of_ground_truth(tmp_path: Path) -> None:
    """They are no boxes."""
    facts = '"kind-metadata": {"class-map": {"0": "Fox", "2": "Deer"}, "human-annotated": "yes"}'
    found = read(
        tmp_path, f'{{"source-ref": "s3://b/a.jpg", "kind": [0, 2], {facts}}}\n', "x.manifest"
    )
    assert [each.names for each in found.labels] == [("Fox",), ("Deer",)]


def test_vertex_as_json_lines(tmp_path: Path) -> None:
    text = '{"imageGcsUri": "gs://b/a.jpg", "classificationAnnotation": {"displayName": "Fox"}}\n'
    assert pairs(read(tmp_path, text, "labels.jsonl")) == [("gs://b/a.jpg", ("Fox",))]


def test_settings_in_json_are_no_labels(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="none of the formats"):
        read(tmp_path, '{"name": "lake", "version": "1.0"}', "labels.json")


def test_camtrap_dp_observations_alone(tmp_path: Path) -> None:
    header = (
        "observationID,deploymentID,mediaID,observationType,scientificName,"
        "classificationMethod,classifiedBy\n"
    )
    rows = (
        "o1,d,m1,animal,Vulpes vulpes,human,Ada\n",
        "o2,d,m2,blank,,human,Ada\n",
        "o3,d,m3,animal,Fox,machine,x\n",
    )
    fox, blank, by_machine = read(tmp_path, header + "".join(rows)).labels
    assert (fox.image, fox.names, fox.who) == ("m1", ("Vulpes vulpes",), "Ada")
    assert blank.may_be_none
    assert by_machine.is_machine


def test_what_a_detector_says_is_no_label_until_a_person_verified_it(tmp_path: Path) -> None:
    text = (
        "absolute_path,relative_path,data_type,label,confidence,human_verified,bbox_left\n"
        "/x/a.jpg,a.jpg,img,fox,0.9,False,1\n/x/b.jpg,b.jpg,img,fox,0.9,True,1\n"
    )
    assert [(each.image, each.is_machine) for each in read(tmp_path, text).labels] == [
        ("a.jpg", True),
        ("b.jpg", False),
    ]


def test_open_images(tmp_path: Path) -> None:
    """Verified by people: 1 is there, 0 is not; between them a machine says so."""
    rows = "00a1,verification,/m/01,1\n", "00a2,verification,/m/01,0\n", "00a3,machine,/m/01,0.8\n"
    text = "ImageID,Source,LabelName,Confidence\n" + "".join(rows)
    found = read(tmp_path, text)
    assert [(each.image, each.source_id, each.is_machine) for each in found.labels] == [
        ("00a1", "/m/01", False),
        ("00a3", "/m/01", True),
    ]


def test_keywords_by_exiftool(tmp_path: Path) -> None:
    text = (
        'SourceFile,Keywords,HierarchicalSubject\n./a.jpg,"Fox, sea","Animal|Fox"\n./b.jpg,'
        "Hare,\n./c.jpg,,\n"
    )
    found = read(tmp_path, text)
    assert pairs(found) == [
        ("./a.jpg", ("Animal", "Fox")),
        ("./a.jpg", ("sea",)),
        ("./b.jpg", ("Hare",)),
    ]
    assert all(each.is_keyword for each in found.labels)


@pytest.mark.parametrize("row", ["gs://b/img/a.jpg,Fox", "TRAIN,gs://b/img/a.jpg,Fox"])
def test_vertex(tmp_path: Path, row: str) -> None:
    assert pairs(read(tmp_path, f"{row}\n{row.replace('a.jpg', 'b.jpg')}\n"))[0] == (
        "gs://b/img/a.jpg",
        ("Fox",),
    )


@pytest.mark.parametrize(
    "text",
    [
        "gs://b/a.jpg,Fox,0.1,0.2,,,0.3,0.4,,\n",
        VIA + 'a.jpg,9,"{}",1,0,"{""name"":""rect""}","{""type"":""fox""}"\n',
    ],
)
def test_tables_of_boxes_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match="has bounding boxes"):
        read(tmp_path, text)


def test_via_with_a_class_for_the_file(tmp_path: Path) -> None:
    row = 'a.jpg,9,"{""species"":""fox""}",0,0,"{}","{}"\n'
    assert pairs(read(tmp_path, VIA + row)) == [("a.jpg", ("fox",))]


def test_ground_truth(tmp_path: Path) -> None:
    line = (
        '{"source-ref": "s3://b/%s.jpg", "kind": 0, "kind-metadata": {"class-name": "fox", '
        '"human-annotated": "%s"}}\n'
    )
    found = read(tmp_path, line % ("a", "yes") + line % ("b", "no"), "output.manifest")
    assert [(each.image, each.names, each.is_machine) for each in found.labels] == [
        ("s3://b/a.jpg", ("fox",), False),
        ("s3://b/b.jpg", ("fox",), True),
    ]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig", "mac_roman"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, end: str) -> None:
    if encoding == "mac_roman" and end != "\r":
        pytest.skip("old Macs end their lines so")
    if encoding == "cp1252" and end == "\r":
        pytest.skip("Windows does not")
    file = tmp_path / "labels.csv"
    file.write_bytes(
        end.join(("image;class", "Möwe.png;Käuzchen", "b.png;Gull", "")).encode(encoding)
    )
    assert pairs(read_labels(file)[1]) == [("Möwe.png", ("Käuzchen",)), ("b.png", ("Gull",))]


def test_a_zipped_table(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        archive.writestr("export/labels.csv", "filename,species\na.jpg,Fox\n")
    assert pairs(read_labels(tmp_path / "labels.zip")[1]) == [("a.jpg", ("Fox",))]


def test_an_unclear_column_is_asked_for(tmp_path: Path) -> None:
    """The refusal lists the columns and the roles; named, they are read."""
    text = "nr,what,where\n1,Fox,x\n"
    with pytest.raises(
        FormatError,
        match=r'columns for name or path of the image.*class.*"nr", "what", "where".*--column',
    ):
        read(tmp_path, text)
    assert pairs(read(tmp_path, text, **{"file": "where", "class": "what"})) == [("x", ("Fox",))]
    with pytest.raises(UsageError, match=r'no column "why".*"nr", "what", "where"'):
        read(tmp_path, text, **{"class": "why"})
    with pytest.raises(UsageError, match=r'no role "kind"'):
        read(tmp_path, text, kind="what")


def test_a_column_that_is_named_overrules_what_was_recognised(tmp_path: Path) -> None:
    text = "filename,class,order,species\na.jpg,Mammalia,Carnivora,Fox\n"
    assert pairs(read(tmp_path, text, **{"class": "order"}))[0][1][-1] == "Carnivora"


LABEL_STUDIO = "annotation_id,annotator,box,class,id,image,lead_time\n"


def test_paths_of_label_studio(tmp_path: Path) -> None:
    """A path of its taxonomy is one class, not one for each name in it."""
    found = read(
        tmp_path,
        LABEL_STUDIO
        + (
            '1,7,,"[{""taxonomy"":[[""Bird"",""Tern A/B""],[""Pet""]]}]",1,'
            "/data/local-files/?d=a.jpg,"
        ),
    )
    assert pairs(found) == [("a.jpg", ("Bird", "Tern A/B")), ("a.jpg", ("Pet",))]


def test_boxes_in_another_column_of_label_studio(tmp_path: Path) -> None:
    """They are not lost in silence beside a class."""
    box = '"[{""x"":0.0,""y"":0.0,""width"":50.0,""height"":50.0,""rectanglelabels"":[""Fox""]}]"'
    with pytest.raises(FormatError, match="has bounding boxes"):
        read(tmp_path, f"{LABEL_STUDIO}1,7,{box},,1,/data/local-files/?d=a.jpg,\n")
