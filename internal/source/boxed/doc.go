// Package boxed reads documents in a process of its own, in the box: what a document makes a decoder do, it does to a process that sees
// no file and no network, within bounds of time and memory, and that is gone afterwards. This program starts itself for that.
//
// One process reads plain texts one after the other. Formats that are packed, or whose readers are long, get a process each, so that no
// document speaks for another. A process that ends is the fault of the document that it had, which is refused with a reason.
package boxed
