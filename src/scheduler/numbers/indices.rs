//! Numbers of nodes, virtual clusters, accounts and the like, each of a type of its own, so that none is
//! taken for another; and lists that are asked by them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

macro_rules! indices {
    ($($(#[$about:meta])* $name:ident($inner:ty);)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name($inner);

        impl From<usize> for $name {
            #[inline]
            fn from(at: usize) -> Self {
                Self(<$inner>::try_from(at).unwrap_or(<$inner>::MAX))
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(index: $name) -> usize {
                index.0 as usize
            }
        }
    )+};
}

indices! {
    /// A node.
    NodeIndex(u32);
    /// A kind of nodes.
    KindIndex(u32);
    /// Nodes that cells are cut from alike.
    PoolIndex(u32);
    /// A virtual cluster.
    ClusterIndex(u32);
    /// What a virtual cluster is guaranteed, or what nobody is: the last of them.
    AccountIndex(u32);
    /// One bounded amount of an account.
    SumIndex(u32);
    /// What tasks ask for.
    TaskRequestIndex(u32);
    /// An address of nodes.
    AddressIndex(u32);
    /// A range of ports at an address.
    PortsIndex(u32);
    /// One user's waiting jobs of one class.
    LineIndex(u64);
    /// A class of waiting jobs, whoever waits.
    ClassIndex(u64);
}

impl ClusterIndex {
    /// The account of what it is guaranteed.
    #[inline]
    pub(crate) fn account(self) -> AccountIndex {
        AccountIndex(self.0)
    }
}

/// A list by the numbers of what its entries are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct By<I, T> {
    entries: Vec<T>,
    of: PhantomData<I>,
}

impl<I: From<usize> + Into<usize>, T> By<I, T> {
    /// Adds an entry, and says its number.
    pub(crate) fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::from(self.entries.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, index: I) -> Option<&T> {
        let at: usize = index.into();
        self.entries.get(at)
    }

    /// The numbers of all entries.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::from)
    }

    /// All entries with their numbers.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (I, &T)> {
        self.numbers().zip(&self.entries)
    }
}

impl<I, T> From<Vec<T>> for By<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, of: PhantomData }
    }
}

impl<I, T> Default for By<I, T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<I, T> FromIterator<T> for By<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Self {
        Self::from(Vec::from_iter(entries))
    }
}

impl<I: Into<usize>, T> Index<I> for By<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, index: I) -> &T {
        let at: usize = index.into();
        &self.entries[at]
    }
}

impl<I: Into<usize>, T> IndexMut<I> for By<I, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        let at: usize = index.into();
        &mut self.entries[at]
    }
}

impl<I, T> Deref for By<I, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<I, T> DerefMut for By<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }
}

impl<'a, I, T> IntoIterator for &'a By<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<I, T> IntoIterator for By<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_the_numbers_by_which_it_is_asked() {
        let mut names: By<NodeIndex, &str> = By::default();
        let (first, second) = (names.push("a"), names.push("b"));
        assert_eq!((names[first], names.get(second)), ("a", Some(&"b")));
        assert_eq!(names.get(NodeIndex::from(2_usize)), None);
        names[second] = "c";
        assert_eq!(names.numbered().collect::<Vec<_>>(), [(first, &"a"), (second, &"c")]);
        assert!(names.numbers().eq([first, second]), "in their order");
    }

    #[test]
    fn the_account_of_a_virtual_cluster_has_its_number() {
        let cluster = ClusterIndex::from(3_usize);
        assert_eq!(usize::from(cluster.account()), usize::from(cluster));
    }
}
