// Package resource holds the commands for shared keys.
package resource

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/resource/wire"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use:   "resource",
		Short: "Shared keys: locks, leases and small values",
		Long: "Shared keys with compare-and-set, an owner, a fencing number and a time to live. Locks and leases are keys that are put with " +
			"--if-absent --own --ttl.",
	}
	cmd.AddCommand(newList(k), newGet(k), newPut(k), newDelete(k))
	return []*cobra.Command{cmd}
}

func newList(k *kit.Kit) *cobra.Command {
	var in wire.ListIn
	cmd := &cobra.Command{
		Use: "list [PREFIX]", Short: "List shared keys", Args: cobra.MaximumNArgs(1),
		Example: "  tandem resource list\n  tandem resource list lock/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Prefix = args[0]
			}
			out, err := op.Do(cmd.Context(), k, wire.List, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if out.Count == 0 {
					fmt.Fprintln(w, "no keys")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "KEY\tREV\tFENCE\tOWNER\tEXPIRES\tVALUE")
				for _, r := range out.Items {
					fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\n", r.Key, r.Rev, r.Fence, told.By(r.Owner), expiry(r), short(string(r.Value)))
				}
				t.Flush()
				if out.More {
					fmt.Fprintf(w, "more: tandem resource list --after %s\n", out.Items[len(out.Items)-1].Key)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.After, "after", "", "only keys behind this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (100)")
	return cmd
}

func newGet(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Read a shared key", Args: cobra.ExactArgs(1), Example: "  tandem resource get lock/deploy",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Get, wire.KeyIn{Key: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, string(out.Value)) })
		},
	}
}

func newPut(k *kit.Kit) *cobra.Command {
	var in wire.PutIn
	var ttl time.Duration
	var rev, fence int64
	cmd := &cobra.Command{
		Use: "put KEY VALUE", Short: "Create or change a shared key", Args: cobra.ExactArgs(2),
		Long:    "Create or change a shared key. VALUE is JSON; anything else is taken as a string.",
		Example: "  tandem resource put project/owner '\"team a\"'\n  tandem resource put lock/deploy mine --if-absent --own --ttl 10m",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Key, in.Value, in.TTL = args[0], value(args[1]), ttl.Milliseconds()
			if cmd.Flags().Changed("if-match") {
				in.IfMatch = &rev
			}
			if cmd.Flags().Changed("fence") {
				in.Fence = &fence
			}
			out, err := op.Do(cmd.Context(), k, wire.Put, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is at revision %d, fence %d\n", out.Key, out.Rev, out.Fence)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&in.IfAbsent, "if-absent", false, "only create it")
	f.BoolVar(&in.Own, "own", false, "become its owner: nobody else can change it")
	f.Int64Var(&rev, "if-match", 0, "only when it is at this revision")
	f.Int64Var(&fence, "fence", 0, "the fencing number you were given")
	f.DurationVar(&ttl, "ttl", 0, "it disappears by itself after this long, e.g. 10m")
	return cmd
}

func newDelete(k *kit.Kit) *cobra.Command {
	var in wire.DeleteIn
	var rev, fence int64
	cmd := &cobra.Command{
		Use: "delete KEY", Aliases: []string{"rm"}, Short: "Delete a shared key", Args: cobra.ExactArgs(1),
		Example: "  tandem resource delete lock/deploy",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Key = args[0]
			if cmd.Flags().Changed("if-match") {
				in.IfMatch = &rev
			}
			if cmd.Flags().Changed("fence") {
				in.Fence = &fence
			}
			out, err := op.Do(cmd.Context(), k, wire.Delete, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone\n", out.Key) })
		},
	}
	cmd.Flags().Int64Var(&rev, "if-match", 0, "only when it is at this revision")
	cmd.Flags().Int64Var(&fence, "fence", 0, "the fencing number you were given")
	return cmd
}

func value(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	data, _ := json.Marshal(s)
	return data
}

func expiry(r *wire.Resource) string {
	if r.ExpiresAt == nil {
		return ""
	}
	return r.ExpiresAt.Local().Format("15:04:05")
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
