//! Texts inside elements whose content the framework writes as it is: `<textarea>` and `<title>`.

/// A text as it stands in markup: it opens and closes no element, and names no character.
pub(crate) fn escaped(text: &str) -> String {
    let mut markup = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            other => markup.push(other),
        }
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_element() {
        let text = "\n{ // </textarea></TITLE ><form>&lt;&#60;script>\r\n";
        let markup =
            "\n{ // &lt;/textarea&gt;&lt;/TITLE &gt;&lt;form&gt;&amp;lt;&amp;#60;script&gt;\r\n";
        assert_eq!(escaped(text), markup);
        assert_eq!(escaped(""), "");
    }
}
