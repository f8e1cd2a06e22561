package policy

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/told"
)

func newWhyNot(k *kit.Kit) *cobra.Command {
	var in book.Case
	cmd := &cobra.Command{
		Use: "why-not", Short: "Say what would be needed before an actor may do something", Args: cobra.NoArgs,
		Long: "Say what is in the way of something, in order: which grant is lacking, which denial would have to end, whose approval or " +
			"presence it needs. Each is tried on a copy of the policy; nothing is changed.",
		Example: "  tandem policy why-not --actor builder --op resource.put --resource /lock/deploy",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Op == "" && in.Right == "" && in.Tool == "" {
				return kit.Usagef("name what is done: --op, --right or --tool")
			}
			out, err := op.Do(cmd.Context(), k, book.PolicyWhyNot, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s, %s\n", out.Actor, out.Effect, out.Reason)
				if len(out.Needs) == 0 {
					fmt.Fprintln(w, "nothing is needed")
					return
				}
				fmt.Fprintln(w, "needed:")
				for i, n := range out.Needs {
					fmt.Fprintf(w, "  %d. %s\n", i+1, n.What)
					if n.Next != "" {
						fmt.Fprintf(w, "     %s\n", n.Next)
					}
				}
				fmt.Fprintf(w, "then the answer is %s\n", out.Then)
			})
		},
	}
	caseFlags(cmd, &in)
	return cmd
}

func newAccess(k *kit.Kit) *cobra.Command {
	var in book.AccessIn
	cmd := &cobra.Command{
		Use: "access [ACTOR]", Short: "List who has access to what, why, and when it was last used", Args: cobra.MaximumNArgs(1),
		Long: "List who has access to what: by which grant and which group, given by whom, until when, and when it was last used. " +
			"Looking is not recorded, nor which tool was used, and only somebody's newest acts are looked at.",
		Example: "  tandem access\n  tandem access builder\n  tandem access --resource folder:/srv/shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Actor = args[0]
			}
			out, err := op.Do(cmd.Context(), k, book.AccessList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Access) == 0 {
					fmt.Fprintln(w, "nobody was given anything here; what the house gives everybody: tandem access --house")
					return
				}
				t := table(w)
				fmt.Fprintln(t, "WHO\tMAY\tWHAT\tWHERE\tWHY\tBY\tUNTIL\tLAST USED")
				for _, a := range out.Access {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Principal, a.Effect, rights(a), a.Resource, why(a),
						cmp.Or(told.By(a.AddedBy), "the house"), moment(a.ExpiresAt, "for ever"), used(a))
				}
				t.Flush()
				if out.More > 0 {
					fmt.Fprintf(w, "and %s more: name an actor or --resource, or the same with --after '%s'\n", beyond(out.More), out.Next)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Resource, "resource", "", "only what covers this, as kind:/path")
	f.BoolVar(&in.House, "house", false, "also what the house gives everybody")
	f.StringVar(&in.After, "after", "", "only rows behind this place, as the page before says it")
	f.IntVar(&in.Limit, "limit", 500, "at most so many rows")
	return cmd
}

// beyond says how many rows there are, as far as they were counted.
func beyond(n int) string {
	if n >= book.AccessCounted {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.Itoa(n)
}

func rights(a book.Access) string {
	var all []string
	for _, p := range a.Permissions {
		all = append(all, string(p))
	}
	text := strings.Join(all, ",")
	if len(a.Tools) > 0 {
		text += " with " + strings.Join(a.Tools, ", ")
	}
	return text
}

func why(a book.Access) string {
	if a.Group != "" {
		return a.Grant + ", in group:" + a.Group
	}
	return a.Grant
}

// used is when it was last used. That it was not can be said only of what is recorded, and of somebody in particular.
func used(a book.Access) string {
	looks := !slices.ContainsFunc(a.Permissions, func(p policy.AccessPermission) bool { return p != policy.CanView && p != policy.CanRead })
	if a.Effect == policy.Deny.String() || len(a.Tools) > 0 || looks || strings.HasSuffix(a.Principal, "*") {
		return moment(a.UsedAt, "not recorded")
	}
	return moment(a.UsedAt, "not lately")
}

func moment(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}
