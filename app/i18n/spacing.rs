//! The spaces of Chinese: one between Chinese and Latin, none between what is wide on both sides.

/// Whether it is a Chinese character.
pub(super) fn is_han(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

/// Whether it has its own space around it: Chinese characters and their punctuation.
fn is_wide(letter: char) -> bool {
    is_han(letter) || "，。：；、？！（）“”…".contains(letter)
}

/// With a space between Chinese and Latin words, where one was filled in beside the other.
pub(super) fn apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len() + 8);
    let mut last = ' ';
    for letter in text.chars() {
        if meet(last, letter) {
            apart.push(' ');
        }
        apart.push(letter);
        last = letter;
    }
    apart
}

/// Adds a piece of a sentence, with the space that belongs between it and what is there.
pub(crate) fn join(text: &mut String, piece: &str) {
    let (before, after) = (text.trim_end_matches(' '), piece.trim_start_matches(' '));
    let length = before.len();
    let touch = length == text.len() && after.len() == piece.len();
    match (before.chars().next_back(), after.chars().next()) {
        (Some(last), Some(first)) if is_wide(last) && is_wide(first) => {
            text.truncate(length);
            text.push_str(after);
        }
        (Some(last), Some(first)) if touch && meet(last, first) => {
            text.push(' ');
            text.push_str(piece);
        }
        _apart => text.push_str(piece),
    }
}

fn meet(one: char, other: char) -> bool {
    is_han(one) && other.is_ascii_alphanumeric() || one.is_ascii_alphanumeric() && is_han(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_stands_apart() {
        assert_eq!(apart("单任务需要CPU 核 9"), "单任务需要 CPU 核 9");
        assert_eq!(apart("没有A100的节点"), "没有 A100 的节点");
        assert_eq!(apart("内存不足：8 GB"), "内存不足：8 GB");
    }

    #[test]
    fn pieces_have_the_space_between_them_that_belongs_there() {
        let joined = |pieces: &[&str]| {
            let mut text = String::new();
            pieces.iter().for_each(|piece| join(&mut text, piece));
            text
        };
        assert_eq!(joined(&["应为 ", "整数"]), "应为整数");
        assert_eq!(joined(&["应为 ", "JSON"]), "应为 JSON");
        assert_eq!(joined(&["不是有效的", "GPU 型号"]), "不是有效的 GPU 型号");
        assert_eq!(joined(&["没有用户 ", "“ada”", " 的作业"]), "没有用户“ada”的作业");
        assert_eq!(joined(&["", "worker-0", " 已启动"]), "worker-0 已启动");
        assert_eq!(joined(&["整数", " ", ""]), "整数 ");
    }
}
