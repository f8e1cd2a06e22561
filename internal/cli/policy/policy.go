// Package policy holds the commands about what may be done: the rules, the grants, and why.
package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	policy := &cobra.Command{Use: "policy", Short: "The rules: show, explain, test and edit them",
		Long: "Rules are written in Cedar: permit and forbid, with @ask for what needs an approval, @approvers for who may give it " +
			"(people and groups), @critical where two people have to, @presence(\"passkey\") for how they show that they are here, " +
			"@others where it is not the person for whom it is asked, @reason and @id. A denial always wins, and what nothing grants is refused."}
	policy.AddCommand(newShow(k), newExplain(k), newWhyNot(k), newTest(k), newEdit(k), newLabel(k),
		newVocabulary(k), newContext(k))
	grant := &cobra.Command{Use: "grant", Short: "Grants: who may do what to which resources, until when"}
	grant.AddCommand(newGrantList(k), newGrantAdd(k), newGrantTake(k), newGrantRevoke(k), newGrantFolder(k), newGrantUnconfined(k))
	return []*cobra.Command{policy, grant, newGroup(k), newAccess(k)}
}

func newShow(k *kit.Kit) *cobra.Command {
	var in book.ShowIn
	var schema bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show the rules in force, or those of an earlier version", Args: cobra.NoArgs,
		Example: "  tandem policy show\n  tandem policy show --history\n  tandem policy show --schema",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, book.PolicyShow, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if schema {
					fmt.Fprint(w, out.Schema)
					return
				}
				fmt.Fprintf(w, "// version %d, %d grants in force\n", out.Version, out.Grants)
				if len(out.Boundary.Allowed) > 0 {
					fmt.Fprintf(w, "// data that may pass: %v\n", out.Boundary.Allowed)
				}
				if len(out.Boundary.Denied) > 0 {
					fmt.Fprintf(w, "// data that may not pass: %v\n", out.Boundary.Denied)
				}
				for _, l := range out.Labels {
					fmt.Fprintf(w, "// %s holds %s\n", l.Resource, l.Class)
				}
				fmt.Fprintln(w, strings.TrimRight(out.Rules, "\n"))
				for _, v := range out.History {
					fmt.Fprintf(w, "// %d  %s  %s  %s %s %s\n", v.Version, v.At.Local().Format("2006-01-02 15:04"), told.By(v.By), v.Change,
						v.Subject, v.Note)
				}
			})
		},
	}
	cmd.Flags().Int64Var(&in.Version, "version", 0, "an earlier version")
	cmd.Flags().BoolVar(&in.History, "history", false, "also list the changes")
	cmd.Flags().BoolVar(&schema, "schema", false, "print the words that rules may use")
	return cmd
}

// needs is what an approval needs beside somebody who may give it.
func needs(a book.Answer) (text string) {
	if a.Two {
		text += "; two different people"
	}
	if len(a.Presence) > 0 {
		text += "; with a " + strings.Join(a.Presence, " or a ")
	}
	if a.Others {
		text += "; not by the person for whom it is asked"
	}
	return text
}

func newExplain(k *kit.Kit) *cobra.Command {
	var in book.Case
	cmd := &cobra.Command{
		Use: "explain", Short: "Say whether an actor may do something, and why", Args: cobra.NoArgs,
		Example: "  tandem policy explain --actor builder --op resource.put --resource /lock/deploy\n" +
			"  tandem policy explain --actor builder --tool bash --command 'git push'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Op == "" && in.Right == "" && in.Tool == "" {
				return kit.Usagef("name what is done: --op, --right or --tool")
			}
			out, err := op.Do(cmd.Context(), k, book.PolicyExplain, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s, %s\n", out.Actor, out.Effect, out.Reason)
				if out.By != "" {
					fmt.Fprintf(w, "decided by %s\n", out.By)
				}
				if len(out.Approvers) > 0 {
					fmt.Fprintf(w, "may be approved by %s%s\n", strings.Join(out.Approvers, ", "), needs(out.Answer))
				}
				for _, s := range out.Steps {
					who := s.Principal
					if s.Group != "" {
						who += ", in group:" + s.Group
					}
					fmt.Fprintf(w, "  %s: %s says %s %s\n", who, s.By, s.Effect, s.Note)
				}
			})
		},
	}
	caseFlags(cmd, &in)
	return cmd
}

// caseFlags are how a question about somebody is put.
func caseFlags(cmd *cobra.Command, in *book.Case) {
	f := cmd.Flags()
	f.StringVar(&in.Actor, "actor", "", "the actor's name (you)")
	f.StringVar(&in.Op, "op", "", "an operation, e.g. resource.put")
	f.StringVar(&in.Right, "right", "", "a right instead of an operation, e.g. folder.write")
	f.StringVar(&in.Resource, "resource", "", "what it touches: kind:/path or /path")
	f.StringVar(&in.Class, "class", "", "the data's class (what the resource is labelled with)")
	f.StringVar(&in.Tool, "tool", "", "the tool that is called")
	f.StringArrayVar(&in.Paths, "path", nil, "a path that the call touches")
	f.StringVar(&in.Command, "command", "", "the shell line that the call runs")
	f.StringArrayVar(&in.Hosts, "host", nil, "a host that the call speaks to")
	f.BoolVar(&in.Present, "present", false, "suppose that a person is present")
}

func newTest(k *kit.Kit) *cobra.Command {
	var cases string
	cmd := &cobra.Command{
		Use: "test [RULES]", Short: "Try rules against questions with known answers", Args: cobra.MaximumNArgs(1),
		Long: "Check that rules compile and, with --cases, that they answer as they should. RULES is a file, - for standard input; " +
			"without one the rules in force are tried. Nothing is put in force. " +
			`The cases are a JSON list such as [{"actor":"builder","tool":"bash","command":"git push","want":"deny"}].`,
		Example: "  tandem policy test rules.cedar\n  tandem policy test rules.cedar --cases cases.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var in book.TestIn
			if len(args) == 1 {
				text, err := readFile(k, args[0])
				if err != nil {
					return err
				}
				in.Rules = &text
			}
			if cases != "" {
				text, err := readFile(k, cases)
				if err != nil {
					return err
				}
				if err := json.Unmarshal([]byte(text), &in.Cases); err != nil {
					return fault.New(fault.Invalid, "policy.test", "%s is not a list of cases: %w", cases, err).
						WithNext("see an example: tandem policy test --help")
				}
			}
			out, err := op.Do(cmd.Context(), k, book.PolicyTest, in)
			if err != nil {
				return err
			}
			err = k.Show(out, func(w io.Writer) {
				for i, r := range out.Results {
					word := "ok"
					if !r.OK {
						word = "FAIL"
					}
					fmt.Fprintf(w, "%s\tcase %d: %s %s%s%s %s\twant %s, got %s (%s)\n", word, i+1, r.Actor, r.Op, r.Right, r.Tool, r.Resource, r.Want,
						r.Got, r.Reason)
				}
				fmt.Fprintf(w, "the rules compile; %d cases\n", len(out.Results))
			})
			if err == nil && !out.OK {
				return kit.Silent{Code: 1}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&cases, "cases", "", "a file with questions and the answers they should get")
	return cmd
}

func readFile(k *kit.Kit, name string) (string, error) {
	if name == "-" {
		data, err := io.ReadAll(k.In)
		return string(data), err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fault.New(fault.Invalid, "policy", "cannot read %s: %w", name, err)
	}
	return string(data), nil
}

func table(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }
