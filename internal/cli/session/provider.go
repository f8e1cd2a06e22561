package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	room "tandem/internal/session"
)

func newProvider(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "provider", Aliases: []string{"providers"}, Short: "Model providers: keys, addresses, models"}
	cmd.AddCommand(newProviderList(k), newProviderModels(k), newProviderKey(k), newProviderAdd(k), newProviderRemove(k), newProviderDefault(k))
	return cmd
}

func newProviderList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List providers, and which have a key", Args: cobra.NoArgs, Example: "  tandem provider list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out room.ProvidersOut
			if err := k.Call(cmd.Context(), "provider.list", room.Nothing{}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "ID\tNAME\tREADY\tKEY\tADDRESS")
				for _, p := range out.Providers {
					ready := "no"
					if p.Connected {
						ready = "yes"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.ID, p.Name, ready, p.Source, p.Base)
				}
				t.Flush()
				fmt.Fprintf(w, "default model: %s\n", out.Default)
			})
		},
	}
}

func newProviderModels(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "models PROVIDER", Short: "Ask a provider which models it offers", Args: cobra.ExactArgs(1), Example: "  tandem provider models anthropic",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out room.ModelsOut
			if err := k.Call(cmd.Context(), "provider.models", room.ProviderIn{ID: args[0]}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, m := range out.Models {
					fmt.Fprintf(w, "%s/%s\n", args[0], m.ID)
				}
			})
		},
	}
}

func newProviderKey(k *kit.Kit) *cobra.Command {
	var in room.ProviderKeyIn
	var stdin bool
	cmd := &cobra.Command{
		Use: "key PROVIDER", Short: "Store a provider's key, sealed", Args: cobra.ExactArgs(1),
		Long: "Store a provider's key. It is asked for on the terminal and not shown, or read from standard input; it never stands on a command line.\n" +
			"The question shows the address that the key is for; a script says it with --base. The key is refused when the provider has another one by then.",
		Example: "  tandem provider key anthropic\n  pass show anthropic | tandem provider key anthropic --stdin --base https://api.anthropic.com",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			in.ID = args[0]
			if stdin {
				in.Key, err = bufio.NewReader(k.In).ReadString('\n')
				if err == io.EOF {
					err = nil
				}
			} else {
				if in.Base == "" {
					in.Base, err = baseOf(cmd.Context(), k, in.ID)
				}
				if err != nil {
					return err
				}
				in.Key, err = k.Secret("key for " + in.ID + " at " + in.Base + ": ")
			}
			if err != nil {
				return err
			}
			in.Key = strings.TrimSpace(in.Key)
			var out room.OK
			if err := k.Call(cmd.Context(), "provider.key", in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "the key for %s is sealed\n", in.ID) })
		},
	}
	cmd.Flags().StringVar(&in.Base, "base", "", "the address that the key is meant for")
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the key from standard input")
	return cmd
}

// baseOf is where a provider is.
func baseOf(ctx context.Context, k *kit.Kit, id string) (string, error) {
	var out room.ProvidersOut
	if err := k.Call(ctx, "provider.list", room.Nothing{}, &out); err != nil {
		return "", err
	}
	for _, p := range out.Providers {
		if p.ID == id {
			return p.Base, nil
		}
	}
	return "", fault.New(fault.NotFound, "provider", "there is no provider %s", id).WithNext("list what there is: tandem provider list")
}

func newProviderAdd(k *kit.Kit) *cobra.Command {
	var in room.ProviderAddIn
	cmd := &cobra.Command{
		Use: "add ID ADDRESS", Short: "Add an endpoint that speaks a known wire", Args: cobra.ExactArgs(2), Example: "  tandem provider add mine http://127.0.0.1:8080/v1 --keyless",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Base = args[0], args[1]
			var out room.ProviderInfo
			if err := k.Call(cmd.Context(), "provider.add", in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is at %s\n", out.ID, out.Base) })
		},
	}
	cmd.Flags().StringVar(&in.Wire, "wire", "", "chat (the default), responses or anthropic")
	cmd.Flags().StringVar(&in.Name, "name", "", "its name for people")
	cmd.Flags().StringVar(&in.Model, "model", "", "the model to use when none is named")
	cmd.Flags().BoolVar(&in.Keyless, "keyless", false, "it needs no key")
	return cmd
}

func newProviderRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Forget an endpoint that was added", Args: cobra.ExactArgs(1), Example: "  tandem provider remove mine",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out room.OK
			if err := k.Call(cmd.Context(), "provider.remove", room.ProviderIn{ID: args[0]}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is forgotten\n", args[0]) })
		},
	}
}

func newProviderDefault(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "default MODEL", Short: "Choose the model of sessions that name none", Args: cobra.ExactArgs(1), Example: "  tandem provider default anthropic/claude-sonnet-4-5",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out room.DefaultIn
			if err := k.Call(cmd.Context(), "provider.default", room.DefaultIn{Model: args[0]}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions use %s unless told otherwise\n", out.Model) })
		},
	}
}
