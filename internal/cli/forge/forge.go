// Package forge holds the commands for forges: Gitea, Forgejo and GitHub.
package forge

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/forge/wire"
	"tandem/internal/op"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{Use: "forge", Aliases: []string{"forges"},
		Short: "Repositories at Gitea, Forgejo and GitHub: issues in, pull requests out",
		Long: "A forge is a repository at Gitea, Forgejo or GitHub, with a token that is kept sealed. A job is started from an issue there\n" +
			"(tandem job start --from NAME#12) and posted as a pull request (tandem job post JOB). What is read there is data."}
	cmd.AddCommand(newAdd(k), newList(k), newShow(k), newIssues(k), newRemove(k))
	return []*cobra.Command{cmd}
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	var stdin bool
	cmd := &cobra.Command{
		Use: "add NAME OWNER/REPO", Short: "Add a repository at a forge; needs your PIN", Args: cobra.ExactArgs(2),
		Long: "Add a repository at a forge. You are asked for a token, which is sealed and sent to that address alone. It needs to\n" +
			"read issues, and to write code and pull requests. Under a name that is there already it takes that one's place.",
		Example: "  tandem forge add work acme/app --kind gitea --url https://git.example.org\n" +
			"  tandem forge add hub acme/app --kind github",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Name, in.Repo = args[0], args[1]
			switch {
			case in.Secret != "":
			case stdin:
				if in.Token, err = bufio.NewReader(k.In).ReadString('\n'); err == io.EOF {
					err = nil
				}
			default:
				in.Token, err = k.SecretFor(cmd.Context(), "token for "+in.Name)
			}
			if err != nil {
				return err
			}
			in.Token = strings.TrimSpace(in.Token)
			out, err := op.Do(cmd.Context(), k, wire.Add, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is added: %s at %s\nsee its issues: tandem forge issues %s\n", out.Name, out.Repo, out.URL, out.Name)
			})
		},
	}
	cmd.Flags().StringVar((*string)(&in.Kind), "kind", "gitea", "gitea, which Forgejo is as well, or github")
	cmd.Flags().StringVar(&in.URL, "url", "", "where its pages are (https://github.com for github)")
	cmd.Flags().BoolVar(&in.Inside, "inside", false, "its name leads inside this machine or its network")
	cmd.Flags().StringVar(&in.Secret, "secret", "", "a token that is sealed already, forge/…, for several forges (tandem secret set)")
	cmd.Flags().BoolVar(&stdin, "token-stdin", false, "read the token from standard input")
	return cmd
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the forges that were added", Args: cobra.NoArgs, Example: "  tandem forge list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, struct{}{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Forges) == 0 {
					fmt.Fprintln(w, "no forge was added; add one: tandem forge add NAME OWNER/REPO --url https://…")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tKIND\tREPOSITORY\tAT")
				for _, f := range out.Forges {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Kind, f.Repo, f.URL)
				}
				t.Flush()
			})
		},
	}
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show FORGE", Short: "Show a forge and the pull requests of jobs there", Args: cobra.ExactArgs(1),
		Example: "  tandem forge show work",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Get, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s at %s (%s), added by %s\n", out.Name, out.Repo, out.URL, out.Kind, kit.VisibleLine(told.By(out.By)))
				for _, p := range out.Pulls {
					fmt.Fprintf(w, "%s is %s: %s (%s)\n", p.Ref(), p.State, kit.VisibleLine(p.Title), p.Job)
				}
				fmt.Fprintf(w, "see its issues: tandem forge issues %s\n", out.Name)
			})
		},
	}
}

func newIssues(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "issues FORGE", Short: "List the open issues at a forge", Args: cobra.ExactArgs(1), Example: "  tandem forge issues work",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Issues, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Issues) == 0 {
					fmt.Fprintln(w, "no issue is open there")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "ISSUE\tBY\tTITLE")
				for _, i := range out.Issues {
					fmt.Fprintf(t, "%s\t%s\t%s\n", i.Ref, kit.VisibleLine(i.By), kit.VisibleLine(i.Title))
				}
				t.Flush()
				fmt.Fprintf(w, "have one resolved: tandem job start --from %s\n", out.Issues[0].Ref)
			})
		},
	}
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove FORGE", Short: "Remove a forge and its token; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem forge remove work",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is removed; what was posted there stays\n", out.Name) })
		},
	}
}
