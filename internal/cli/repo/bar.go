package repo

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tandem/internal/cli/kit"
)

// bar shows on a terminal how far something has come; elsewhere it is silent.
type bar struct {
	to    io.Writer // nil when nobody would see it
	shown bool
}

func newBar(k *kit.Kit) *bar {
	if f, ok := k.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &bar{to: f}
	}
	return &bar{}
}

const barWidth = 30

// step draws it.
func (b *bar) step(done, total int) {
	if b.to == nil || total <= 0 {
		return
	}
	full := min(done*barWidth/total, barWidth)
	fmt.Fprintf(b.to, "\rfetching [%s%s] %3d %%  %d of about %d objects", strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		min(100*done/total, 100), done, total)
	b.shown = true
}

// end makes room for what is printed next.
func (b *bar) end() {
	if b.shown {
		fmt.Fprintln(b.to)
	}
}
