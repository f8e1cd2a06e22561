package notify

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// show puts a notice on the desktop. Some desktops read its text as markup, so that it has none.
func (n *Notifier) show(ctx context.Context, x item) error {
	if len(n.Desktop) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(x.notice.Summary)
	cmd := exec.CommandContext(ctx, n.Desktop[0], append(n.Desktop[1:len(n.Desktop):len(n.Desktop)], x.notice.title(), text)...)
	cmd.WaitDelay = 200 * time.Millisecond
	return cmd.Run()
}
