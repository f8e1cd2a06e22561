package identity

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// paged gives a list's command the flags of its pages.
func paged(cmd *cobra.Command, after *string, limit *int, what string) *cobra.Command {
	cmd.Flags().StringVar(after, "after", "", "only "+what+" behind this one")
	cmd.Flags().IntVar(limit, "limit", 0, "at most this many (500)")
	return cmd
}

// later says how the next page is read, where there is one.
func later(w io.Writer, more bool, last string) {
	if more {
		fmt.Fprintf(w, "more: the same with --after %s\n", last)
	}
}
