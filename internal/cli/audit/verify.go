package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

func newVerify(k *kit.Kit) *cobra.Command {
	var anchors []string
	var receipt, export, key string
	var whole bool
	cmd := &cobra.Command{
		Use: "verify", Short: "Check the journal, a receipt or an export", Args: cobra.NoArgs,
		Long: "Check what the journal recorded since the last check that found nothing. " +
			"The tree must begin with the root that was signed then;\n" +
			"entries from before are not read again. With --whole, or held against anchors that you kept elsewhere, it reads everything.\n" +
			"With --receipt or --export it checks a file instead, with the public key alone: no server is asked.",
		Example: "  tandem audit verify\n  tandem audit verify --whole\n  tandem audit verify --anchor ~/usb/anchor.txt\n  tandem audit " +
			"verify --receipt receipt.json --key tandem.localhost/journal/…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			texts, err := readAnchors(anchors)
			if err != nil {
				return err
			}
			if (receipt != "" || export != "") && key == "" {
				return kit.Usagef("--key is needed: the public key that you have from elsewhere (tandem audit anchor prints it)")
			}
			switch {
			case receipt != "" && export != "":
				return kit.Usagef("--receipt and --export do not go together")
			case receipt != "":
				return verifyReceipt(k, receipt, key)
			case export != "":
				return verifyExport(k, export, key, texts)
			}
			out, err := op.Do(cmd.Context(), k, journal.AuditVerify, journal.VerifyIn{Anchors: texts, Whole: whole})
			if err != nil {
				return err
			}
			return report(k, out)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&anchors, "anchor", nil, "a file with a checkpoint that you kept elsewhere; may be given several times")
	f.BoolVar(&whole, "whole", false, "read every entry again, also those that were checked before")
	f.StringVar(&receipt, "receipt", "", "check this receipt and nothing else")
	f.StringVar(&export, "export", "", "check this export and nothing else")
	f.StringVar(&key, "key", "", "the journal's public key, for --receipt and --export")
	return cmd
}

// readAnchors reads checkpoints, plain or as audit anchor --json wrote them.
func readAnchors(files []string) ([]string, error) {
	var texts []string
	for _, name := range files {
		data, err := readFile(name)
		if err != nil {
			return nil, err
		}
		text := string(data)
		var a journal.Anchor
		if json.Unmarshal(data, &a) == nil && a.Checkpoint != "" {
			text = a.Checkpoint
		}
		if err := journal.CheckAnchor(text); err != nil {
			return nil, fault.New(fault.Invalid, "audit.verify", "%s is not an anchor: %w", name, err).
				WithNext("bring a file that was made with: tandem audit anchor --out FILE")
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func readFile(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.New(fault.Invalid, "audit.verify", "cannot read the file: %w", err)
	}
	return data, nil
}

func verifyReceipt(k *kit.Kit, name, key string) error {
	data, err := readFile(name)
	if err != nil {
		return err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return err
	}
	c, err := journal.OpenReceipt(r, key)
	if err != nil {
		return err
	}
	out := struct {
		OK     bool          `json:"ok"`
		Origin string        `json:"origin"`
		Size   int64         `json:"size"`
		Entry  journal.Entry `json:"entry"`
	}{true, c.Origin, c.Size, r.Entry}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintf(w, "The receipt is good: event %d is in the journal %s, signed when it had %d entries.\n", r.Entry.Seq, c.Origin, c.Size)
		describe(w, r.Entry)
	})
}

func verifyExport(k *kit.Kit, name, key string, anchors []string) error {
	f, err := os.Open(name)
	if err != nil {
		return fault.New(fault.Invalid, "audit.verify", "cannot read the file: %w", err)
	}
	defer f.Close()
	out, err := journal.VerifyExport(f, key, anchors)
	if err != nil {
		return err
	}
	return report(k, out)
}

// report prints what a check found; findings are a failure.
func report(k *kit.Kit, r *journal.Report) error {
	err := k.Show(r, func(w io.Writer) {
		if r.OK {
			fmt.Fprintf(w, "The journal is sound: %d entries, root %s.\n", r.Size, short(r.Root))
		} else {
			found := "1 finding"
			if n := int64(len(r.Findings)) + r.More; n != 1 {
				found = fmt.Sprintf("%d findings", n)
			}
			fmt.Fprintf(w, "The journal is NOT sound: %s in %d entries.\n", found, r.Size)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(w, "  %-10s %s\n", f.Kind, f.What)
		}
		if r.More > 0 {
			fmt.Fprintf(w, "  and %d more\n", r.More)
		}
		list(w, "This shows:", r.Excludes)
		list(w, "This cannot exclude:", r.Cannot)
	})
	if err == nil && !r.OK {
		return kit.Silent{Code: 1}
	}
	return err
}

func list(w io.Writer, head string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "%s\n  - %s\n", head, strings.Join(lines, "\n  - "))
	}
}

func short(hash string) string { return hash[:min(16, len(hash))] }
