package repo

import (
	"context"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/op"
	model "tandem/internal/repo"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

// admit shows others' changes to files that command agents or tools, and asks
// for them, before they come into the workspace.
func (c *command) admit(ctx context.Context, s model.Store, workspace string, from model.MergedTree, to *model.Commit) error {
	held, err := c.r.Commanding(ctx, s, workspace, from, to)
	if err != nil || len(held) == 0 {
		return err
	}
	in := host.AdmitIn{Repo: c.r.Ref(), Workspace: workspace}
	for _, h := range held {
		in.Files = append(in.Files, host.AdmitFile{Path: string(h.Path), Status: h.Status, By: h.By, Diff: h.Diff})
		fmt.Fprintf(c.k.Err, "%s %s, by %s:\n%s", h.Status, h.Path, h.By, h.Diff)
	}
	m, err := c.way(c.ctx)
	if err == nil {
		_, err = op.Do(c.ctx, m, host.WorkspaceAdmit, in)
	}
	if err == nil {
		return c.r.Admit(workspace, held)
	}
	if fault.Is(err, fault.Unavailable) {
		err = fault.New(fault.Unavailable, "workspace.admit",
			"files that command agents were changed by others, and the server that could be asked is away").
			WithNext("try again when it is back; look at them with: tandem diff -r REV --ignore-working-copy")
	}
	c.held = err
	return fmt.Errorf("%s", heldWords(held))
}

func heldWords(held []replica.Held) string {
	words := "others' changes to files that command agents come in only when somebody approves them:"
	for _, h := range held {
		words += " " + string(h.Path)
	}
	return words
}
