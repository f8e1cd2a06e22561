// Package text finds things by their words. It computes only: it takes a text apart into terms, reads a query, and scores what was
// found from counts that the caller brings, so that a tenant's scores come from that tenant's texts alone, on every database alike.
//
// A term is a stem: lower case, without accents, English endings taken off, words without meaning left out. An identifier counts as a
// whole and in its parts, so that "board" finds boardRoom, board_room and internal/board.
//
// It refuses nothing: every text has terms, though perhaps none.
package text
