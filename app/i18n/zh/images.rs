use protocol::image::ImageState;

use crate::i18n::words_images::Images;

pub(super) const IMAGES: Images = Images {
    title: "已保存的镜像",
    hint: "由您任务的容器制作。作业按名称使用，可在任意节点运行。",
    none: "您还没有已保存的镜像：可在作业的“任务”页将任务的容器保存为镜像。",
    save: "保存为镜像…",
    dialog_title: |task| format!("将 {task} 保存为镜像"),
    dialog_text: "保留容器内的全部文件（挂载的文件夹除外）。复制期间任务会暂停。环境变量、密钥和机密信息不会写入镜像。",
    size: |own, whole| format!("新增 {own}；整个镜像占用 {whole}。"),
    measuring: "正在估算大小…",
    name: "名称",
    name_hint: "小写字母、数字，中间可用 . _ -：saved/<所有者>/<名称>。",
    tag: "标签",
    tag_hint: "留空则为 latest。",
    registry: "推送到镜像仓库",
    registry_hint: "例如 registry.example.org/team/torch:1。推送后不保留在节点上。",
    auth_file: "仓库密码文件",
    auth_file_hint: "您存储中的三行文件：仓库、用户名、密码。",
    begin: "保存",
    begun: "正在保存，进度显示在任务下方。",
    image: "镜像",
    from: "来源",
    remove_title: |image| format!("删除 {image}？"),
    remove_text: "将从所有节点删除。已推送的镜像仍保留在其仓库中。",
    removed: "正在删除。",
    state: |state| match state {
        ImageState::Saving => "保存中",
        ImageState::Pushing => "推送中",
        ImageState::Saved => "已保存",
        ImageState::Pushed => "已推送",
        ImageState::Failed => "失败",
        ImageState::Removing => "删除中",
    },
};
