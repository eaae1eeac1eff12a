//! Classes of characters, `[…]`, in which the engine knows operators and nesting that Python does not.

use super::Translator;

/// One item of a class.
enum ClassItem {
    Char(char),
    /// A set such as `\w`, in the engine's syntax.
    Set(String),
}

impl Translator<'_> {
    /// A class; its opening bracket is already read.
    pub(super) fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.chars.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let c = self.chars.next().ok_or("a class without its closing bracket")?;
            if c == ']' && !first {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            match self.item(c)? {
                ClassItem::Set(_) if self.begins_range() => {
                    return Err("a range that begins with a set".to_owned());
                }
                ClassItem::Set(set) => self.out.push_str(&set),
                ClassItem::Char(low) if self.begins_range() => self.range(low)?,
                ClassItem::Char(c) => self.member(c),
            }
        }
    }

    /// Whether a hyphen follows that is not the last character of the class.
    fn begins_range(&self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']')
    }

    fn range(&mut self, low: char) -> Result<(), String> {
        self.chars.next();
        let c = self.chars.next().ok_or("a range that does not end")?;
        match self.item(c)? {
            ClassItem::Char(high) if low <= high => {
                self.member(low);
                self.out.push('-');
                self.member(high);
                Ok(())
            }
            ClassItem::Char(high) => Err(format!("the range {low}-{high} runs backwards")),
            ClassItem::Set(_) => Err("a range that ends with a set".to_owned()),
        }
    }

    fn item(&mut self, c: char) -> Result<ClassItem, String> {
        if c != '\\' {
            return Ok(ClassItem::Char(c));
        }
        let c = self.chars.next().ok_or("a backslash at the end")?;
        Ok(match (self.flags.sets().find(c), c) {
            (Some((members, false)), _) => ClassItem::Set(members.to_owned()),
            (Some((members, true)), _) => ClassItem::Set(format!("[^{members}]")),
            (None, 'b') => ClassItem::Char('\x08'),
            (None, '1'..='7') => ClassItem::Char(self.octal(c).ok_or("an octal escape that is too large")?),
            (None, _) => ClassItem::Char(self.escaped_char(c)?),
        })
    }

    /// A character of the class that stands for itself, whatever the engine would make of it.
    fn member(&mut self, c: char) {
        match c.is_ascii() && !c.is_ascii_alphanumeric() {
            true => self.out.push_str(&format!("\\x{:02x}", u32::from(c))),
            false => self.out.push(c),
        }
    }
}
