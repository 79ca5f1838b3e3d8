use leptos::prelude::*;

/// Options are sought in texts of no more bytes than this; nobody reads a longer one from end to end.
const LARGEST: usize = 65_536;

/// A command, or a file with commands in it: a line may end before an option, not behind its hyphens.
/// What is copied of it is the text.
pub(crate) fn command(text: String) -> AnyView {
    if text.len() > LARGEST {
        return text.into_any();
    }
    let shown = pieces(&text).into_iter().map(|(piece, is_option)| {
        let piece = piece.to_owned();
        match is_option {
            true => view! { <span class="option">{piece}</span> }.into_any(),
            false => piece.into_any(),
        }
    });
    shown.collect_view().into_any()
}

/// The text in pieces, none of them empty, and which of them are options.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, option, behind)) = first_option(rest) {
        pieces.extend([(before, false), (option, true)]);
        rest = behind;
    }
    pieces.push((rest, false));
    pieces.retain(|(piece, _)| !piece.is_empty());
    pieces
}

/// What stands before the first option, the option without its value, and what stands behind it.
fn first_option(text: &str) -> Option<(&str, &str, &str)> {
    let of_option = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut begins = true;
    for (at, c) in text.char_indices() {
        if begins && c == '-' {
            let (before, word) = text.split_at(at);
            let (option, behind) =
                word.split_at(word.find(|c: char| !of_option(c)).unwrap_or(word.len()));
            if option.contains(|c: char| c != '-') {
                return Some((before, option, behind));
            }
        }
        begins = c.is_whitespace() || matches!(c, '"' | '\'');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn options_are_pieces_of_their_own_and_nothing_of_the_text_is_lost() {
        let cases: [(&str, &[&str]); 6] = [
            ("python train.py --dataset kits23", &["--dataset"]),
            ("--lr=-1 -m torch.run", &["--lr", "-m"]),
            ("{\"command\": \"-v --learning-rate 0.1\"}", &["-v", "--learning-rate"]),
            ("a-b - c\n---\n- name: x --\n", &[]),
            ("训练 --数据 --data 集", &["--data"]),
            ("", &[]),
        ];
        for (text, options) in cases {
            let cut = pieces(text);
            let whole: String = cut.iter().map(|(piece, _)| *piece).collect();
            assert_eq!(whole, text);
            assert!(cut.iter().all(|(piece, _)| !piece.is_empty()), "{cut:?}");
            let found: Vec<_> = cut.iter().filter(|(_, is)| *is).map(|(piece, _)| *piece).collect();
            assert_eq!(found, options, "{text}");
        }
    }
}
