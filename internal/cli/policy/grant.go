package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
)

func newGrantList(k *kit.Kit) *cobra.Command {
	var in book.GrantsIn
	cmd := &cobra.Command{
		Use: "list", Short: "List grants, and the folders that sessions may work in", Args: cobra.NoArgs,
		Example: "  tandem grant list\n  tandem grant list --house\n  tandem grant list --principal person:anna --limit 50",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, book.GrantList, in)
			if err != nil {
				return err
			}
			var given session.FoldersOut
			if in.Principal == "" && in.After == "" && !k.JSON && !in.Published {
				if given, err = op.Do(cmd.Context(), k, session.FolderList, session.Nothing{}); err != nil {
					return err
				}
			}
			return k.Show(out, func(w io.Writer) {
				if in.Published {
					printJSON(w, out.Published)
					return
				}
				if len(given.Folders) > 0 {
					fmt.Fprintln(w, "folders that sessions may work in:")
					printFolders(w, given.Folders)
					fmt.Fprintln(w)
				}
				if len(out.Grants) == 0 {
					fmt.Fprintln(w, "no grants but the house's own (tandem grant list --house)")
					return
				}
				t := table(w)
				fmt.Fprintln(t, "ID\tWHO\tEFFECT\tPERMISSIONS\tRESOURCE\tUNTIL\tNOTE")
				for _, g := range out.Grants {
					var perms []string
					for _, p := range g.Permissions {
						perms = append(perms, string(p))
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.ID, g.Principal, g.Effect, strings.Join(perms, ","), written(g), until(g), note(g))
				}
				t.Flush()
				if out.More {
					fmt.Fprintf(w, "more: the same with --after %s\n", out.Grants[len(out.Grants)-1].ID)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.After, "after", "", "only grants behind this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (500)")
	cmd.Flags().StringVar(&in.Principal, "principal", "", "only those that speak of this actor, as kind:name")
	cmd.Flags().BoolVar(&in.Revoked, "revoked", false, "also those that were taken back")
	cmd.Flags().BoolVar(&in.House, "house", false, "also the house's own")
	cmd.Flags().BoolVar(&in.Published, "published", false, "print them as ScopedGrants of the published vocabulary")
	return cmd
}

// written is what a grant is about, in the words that it was given with.
func written(g book.GrantView) string {
	out := g.Resource
	flag := func(name string, values ...string) {
		for _, v := range values {
			out += " --" + name + " " + quoted(v)
		}
	}
	flag("tool", g.Tools...)
	flag("only", g.Only...)
	flag("except", g.Except...)
	if g.MaxDepth != nil {
		flag("depth", strconv.Itoa(*g.MaxDepth))
	}
	if len(g.Classes) > 0 {
		var classes []string
		for _, c := range g.Classes {
			classes = append(classes, string(c))
		}
		flag("class", strings.Join(classes, ","))
	}
	flag("approver", g.Approvers...)
	if g.Written != "" {
		out += " (written " + g.Written + ")"
	}
	return out
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if strings.ContainsAny(s, " ()*;'\"\\$`|&<>?[]{}~#") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

func until(g book.GrantView) string {
	switch {
	case g.RevokedAt != nil:
		return "revoked " + g.RevokedAt.Local().Format("2006-01-02 15:04")
	case g.ExpiresAt != nil:
		return g.ExpiresAt.Local().Format("2006-01-02 15:04")
	}
	return "-"
}

func note(g book.GrantView) string {
	if g.Dead != "" {
		return "dead: " + g.Dead
	}
	return g.Note
}

func newGrantAdd(k *kit.Kit) *cobra.Command {
	var in book.GrantIn
	var perms, classes string
	var life time.Duration
	var depth int
	cmd := &cobra.Command{
		Use: "add PRINCIPAL RESOURCE", Short: "Grant a right, or deny it; needs your PIN", Args: cobra.ExactArgs(2),
		Long: "Grant somebody a right. PRINCIPAL is kind:name, kind:* or *; RESOURCE is kind:/path and covers everything " +
			"below it, or *:/ for all.",
		Example: "  tandem grant add agent:builder folder:/home/me/code --can read,edit --class source_code --expires 8h\n" +
			"  tandem grant add agent:builder tool:/ --can execute --tool 'bash(command: git log)'\n" +
			"  tandem grant add 'session:*' resource:/prod --deny --can edit",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Principal, in.Resource = args[0], args[1]
			in.Permissions = strings.Split(perms, ",")
			if classes != "" {
				in.Classes = strings.Split(classes, ",")
			}
			var err error
			if in.TTL, err = kit.Life(cmd, "expires", life, time.Second); err != nil {
				return err
			}
			if cmd.Flags().Changed("depth") {
				in.MaxDepth = &depth
			}
			out, err := op.Do(cmd.Context(), k, book.GrantAdd, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s for %s on %s\n", out.ID, out.Effect, out.Principal, written(out.GrantView))
				for _, why := range idle(cmd.Context(), k, out.GrantView) {
					fmt.Fprintln(w, why)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&perms, "can", "read", "of view, read, edit, execute, delegate, admin, with commas")
	f.StringVar(&classes, "class", "", "classes of data, with commas; * is all (public,internal,source_code)")
	f.StringVar(&in.Effect, "effect", "", "allow, ask or deny (allow)")
	f.BoolFunc("ask", "the same as --effect ask", func(string) error { in.Effect = "ask"; return nil })
	f.BoolFunc("deny", "the same as --effect deny", func(string) error { in.Effect = "deny"; return nil })
	f.StringArrayVar(&in.Tools, "tool", nil, "only with this tool, e.g. 'bash(command: git log)'")
	f.StringArrayVar(&in.Approvers, "approver", nil, "who may answer an ask: person:name or group:name")
	f.IntVar(&depth, "depth", 0, "how many components below the resource it reaches")
	f.StringArrayVar(&in.Only, "only", nil, "only paths that fit this glob")
	f.StringArrayVar(&in.Except, "except", nil, "not this tree below it, as kind:/path")
	f.DurationVar(&life, "expires", 0, "how long it lasts, e.g. 8h")
	f.StringVar(&in.From, "from", "", "pass on this grant of yours")
	f.IntVar(&in.Redelegate, "redelegate", 0, "how many times in a row it may be passed on")
	f.StringVar(&in.Note, "note", "", "why; shown to whoever it stops")
	return cmd
}

// idle says why a grant speaks of nothing yet. It is kept all the same: what it names may still come.
func idle(ctx context.Context, k *kit.Kit, g book.GrantView) (out []string) {
	kind, name, _ := strings.Cut(g.Principal, ":")
	if name != "" && name != "*" && kind != "session" && nobody(ctx, k, kind, name) {
		out = append(out, fmt.Sprintf("it matches nobody yet: there is no %s called %s (tandem actor list)", kind, name))
	}
	if kind == "agent" && g.Effect == "deny" {
		out = append(out, "it binds agents and their sessions; sessions that people open themselves are not agents: "+
			"deny it to session:* as well to bind those")
	}
	if path, ok := strings.CutPrefix(g.Resource, "folder:"); ok {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			out = append(out, fmt.Sprintf("it matches nothing yet: there is no %s on this machine", path))
		}
	}
	return out
}

// nobody says that there is surely no actor of that kind and name.
func nobody(ctx context.Context, k *kit.Kit, kind, name string) bool {
	all, err := op.Do(ctx, k, identity.ActorList, identity.ActorsIn{ID: name})
	return err == nil && !slices.ContainsFunc(all.Actors, func(a *identity.Actor) bool { return a.Name == name && string(a.Kind) == kind })
}

func newGrantRevoke(k *kit.Kit) *cobra.Command {
	var in book.GrantIDIn
	cmd := &cobra.Command{
		Use: "revoke ID", Short: "Take a grant back, and what was passed on from it; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem grant revoke grt_…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, book.GrantRevoke, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is taken back\n", out.ID)
				for _, g := range out.Ended {
					fmt.Fprintf(w, "%s ended with it\n", g)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Note, "note", "", "why, for the history")
	return cmd
}
