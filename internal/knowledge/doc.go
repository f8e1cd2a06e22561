// Package knowledge owns knowledge spaces: curated collections whose items answer questions, with citations or not at all.
//
// A knowledge space has a purpose, owners, readers, and says what an item needs before it answers and how long it is fresh. An item is
// working, promoted, default or deprecated. Anybody who may write adds one; it is working, and answers nobody, until an owner who is
// present has read it and promoted it. A default item weighs more, and there is one for each topic. A
// newer item with the same key takes the place of the older one, which is deprecated and stays.
//
// A question is answered with items that hold most of what it asks for, or with the word that it is not known here. Nothing in between is
// made up: no model is called. Items are looked for in those knowledge spaces alone that the caller may read, and scores are counted
// there alone.
//
// The journal, stored answers and asks never hold a title, a text, a topic or a source, so that what is removed is gone.
//
// It refuses bodies over 64 KB, and more knowledge spaces and items than its bounds.
package knowledge
