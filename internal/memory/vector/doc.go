// Package vector finds texts by what they mean. It computes only: it takes a text apart into the pieces of a vocabulary, adds up the
// vectors of these pieces, and says which of many texts lie near a question.
//
// The vectors are a table that was distilled from all-MiniLM-L6-v2 (scripts/distil-vectors, docs/formats/word-vectors.md) and is part of
// the program: nothing is fetched, and nothing is read before somebody asks. Built with the tag novectors the program has no table, and
// Builtin says so.
//
// A text's vector depends on that text alone. How rare a word is where somebody may read is weighed in the question's vector, so that
// what they may not read moves nothing.
package vector
