// Package ui is the panel's design system: the page shell and the parts that
// pages are made of. It owns how things look and read; it knows no operation,
// no room and no request. Everything here takes plain values.
//
// Two rules hold for every part. Text from outside (an agent, a peer, a tool)
// goes through Text, Block or Plain, which show characters that would
// otherwise be invisible or reorder a line. Nothing is styled or scripted
// inline, because the panel's content security policy refuses it.
//
// A part's look is in static/*.css under the class of the same name.
package ui
