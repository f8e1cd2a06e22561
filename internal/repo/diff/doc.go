// Package diff finds what several texts have in common. It is jj's algorithm:
// words (lines, or finer tokens) that occur equally and seldom in both texts
// anchor the match, and the stretches between anchors are matched in turn. The
// results decide how files merge and therefore commit ids, so they must equal
// jj's, ties included.
//
// It is pure and knows nothing of repositories.
package diff
