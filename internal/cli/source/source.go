// Package source holds the commands for what is imported and searched: folders, repositories, sites, connectors.
package source

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "source", Short: "Folders, repositories, sites and connectors whose documents are searched, with citations",
		Long: `Folders, repositories that the server serves, sites of the web and resources of connectors, whose documents are searched:
Markdown, HTML, text, code, PDF, DOCX, XLSX, PPTX, e-mail, CSV, JSON and notebooks.
Each passage names its file and place. What policy denies of it is neither imported nor found.`,
	}
	cmd.AddCommand(newPreview(k), newAdd(k), newList(k), newShow(k), newSearch(k), newSync(k), newPause(k), newResume(k),
		newQuarantine(k), newRevoke(k))
	return []*cobra.Command{cmd}
}

func newPreview(k *kit.Kit) *cobra.Command {
	var from wire.From
	cmd := &cobra.Command{
		Use: "preview [FOLDER|ADDRESS]", Short: "See what an import would bring", Args: cobra.MaximumNArgs(1),
		Example: "  tandem source preview docs\n  tandem source preview --repo app --at main",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := placed(cmd, k, &from, args); err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Preview, wire.PreviewIn{From: from})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { previewed(w, out) })
		},
	}
	places(cmd, &from)
	return cmd
}

// places are the flags that say where documents are.
func places(cmd *cobra.Command, from *wire.From) {
	cmd.Flags().StringVar(&from.Repo, "repo", "", "a repository that the server serves, in place of a folder")
	cmd.Flags().StringVar(&from.At, "at", "", "its bookmark, which is followed, or a commit (its main bookmark)")
	cmd.Flags().StringVar(&from.Under, "under", "", "only this folder of the repository")
	cmd.Flags().StringVar(&from.Connector, "connector", "", "an outside MCP server whose resources are read, in place of a folder")
	cmd.Flags().IntVar(&from.Depth, "depth", 0, "of an address: how many links deep (that page alone)")
	cmd.Flags().IntVar(&from.Pages, "pages", 0, "of an address: at most this many pages (100)")
	cmd.Flags().BoolVar(&from.Inside, "inside", false, "its name leads inside this machine or its network, and is meant to")
}

// placed reads where the documents are.
func placed(cmd *cobra.Command, k *kit.Kit, from *wire.From, args []string) (err error) {
	switch {
	case from.Repo != "" && len(args) > 0:
		return kit.Usagef("%s is no repository, and --repo names one: say one of them", args[0])
	case strings.HasPrefix(first(args), "http://"), strings.HasPrefix(first(args), "https://"):
		from.URL = args[0]
	case from.Connector != "" && len(args) > 0:
		return kit.Usagef("%s is no connector, and --connector names one: say one of them", args[0])
	case from.Repo == "" && from.Connector == "":
		from.Folder, err = k.Folder(cmd.Context(), first(args))
	}
	return err
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func previewed(w io.Writer, p wire.PreviewOut) {
	fmt.Fprintf(w, "%s: %d files, %d KB\n", kit.VisibleLine(p.Where()), p.Files, (p.Bytes+1023)/1024)
	for _, format := range slices.Sorted(maps.Keys(p.Formats)) {
		fmt.Fprintf(w, "  %5d %s\n", p.Formats[format], format)
	}
	for _, f := range p.Sample {
		fmt.Fprintf(w, "  %s\n", kit.VisibleLine(f))
	}
	if more := p.Files - len(p.Sample); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	if p.LeftOut > 0 {
		fmt.Fprintf(w, "%d would be left out:\n", p.LeftOut)
	}
	refused(w, p.Left)
}

func refused(w io.Writer, files []wire.BadFile) {
	for _, f := range files {
		fmt.Fprintf(w, "  %s: %s\n", kit.VisibleLine(f.File), kit.VisibleLine(f.Reason))
	}
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	cmd := &cobra.Command{
		Use: "add [FOLDER|ADDRESS]", Short: "Bind a folder, repository, site or connector, and see what an import would bring; needs your PIN",
		Args: cobra.MaximumNArgs(1),
		Long: `Bind a folder, a repository or a site, and see what an import would bring. Nothing is imported yet: the source begins paused.
When what you see is right, let it go on: tandem source resume NAME. A repository is read at a bookmark and follows it, or at one commit.
A site is read from its page on, along links to pages of the same server, as far as --depth and --pages say and its robots.txt allows.`,
		Example: "  tandem source add docs --name handbook\n  tandem source add . --name notes --every 60\n" +
			"  tandem source add --repo app --at main --under docs --name app-docs\n" +
			"  tandem source add https://example.org/manual/ --depth 2 --pages 50 --name manual\n" +
			"  tandem source add --connector notes",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := placed(cmd, k, &in.From, args); err != nil {
				return err
			}
			if in.Name == "" {
				in.Name = named(in.From)
			}
			seen, err := op.Do(cmd.Context(), k, wire.Preview, wire.PreviewIn{From: in.From})
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Add, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				previewed(w, seen)
				fmt.Fprintf(w, "%s is paused, and nothing is imported yet; import it: tandem source resume %s\n", out.Name, out.Name)
			})
		},
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "by which it is cited (the folder's, the repository's or the site's)")
	places(cmd, &in.From)
	cmd.Flags().IntVar(&in.Every, "every", 0, "look at it by itself every so many minutes (only when you ask)")
	return cmd
}

// named is how a source is called that nobody named.
func named(f wire.From) string {
	if f.Repo+f.Connector != "" {
		return f.Repo + f.Connector
	}
	if u, err := url.Parse(f.URL); err == nil && f.URL != "" {
		return u.Hostname()
	}
	return filepath.Base(f.Folder)
}

func newSearch(k *kit.Kit) *cobra.Command {
	var in wire.SearchIn
	cmd := &cobra.Command{
		Use: "search WORDS…", Short: "Search the documents", Args: cobra.MinimumNArgs(1),
		Long: `Search the documents of all sources: words, "phrases in quotes" and beginnings*. The best passages come first, each with its
file and place. You find what you may read, and nothing else changes what you find.`,
		Example: "  tandem source search release checklist\n  tandem source search '\"merge queue\"' --in handbook",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Query = strings.Join(args, " ")
			out, err := op.Do(cmd.Context(), k, wire.Search, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Passages) == 0 {
					fmt.Fprintln(w, "nothing is known of that here")
				}
				for _, p := range out.Passages {
					fmt.Fprintf(w, "%s\n", kit.VisibleLine(Cited(p)))
					for _, line := range Excerpt(p.Text) {
						fmt.Fprintf(w, "    %s\n", kit.VisibleLine(line))
					}
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Source, "in", "", "only in this source")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (10)")
	return cmd
}

// Cited says where a passage stands.
func Cited(p wire.Passage) string {
	out := p.Source + "/" + p.File
	if strings.Contains(p.File, "://") {
		out = p.Source + " " + p.File
	}
	if p.Place != "" {
		out += " (" + p.Place + ")"
	}
	return out
}

// Excerpt are the first lines of a passage.
func Excerpt(text string) []string {
	const lines, columns = 6, 160
	all := strings.Split(strings.TrimSpace(text), "\n")
	out := all[:min(len(all), lines)]
	for i, l := range out {
		if r := []rune(l); len(r) > columns {
			out[i] = string(r[:columns-1]) + "…"
		}
	}
	if len(all) > lines {
		out = append(out, "…")
	}
	return out
}
