package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/models"
	"tandem/internal/op"
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
			out, err := op.Do(cmd.Context(), k, models.ProviderList, models.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "ID\tNAME\tREADY\tKEY\tADDRESS")
				for _, p := range out.Providers {
					ready := "no"
					switch {
					case p.Keyless && p.ID != "local": // whether it runs shows when it is asked
						ready = "keyless"
					case p.Connected:
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
		Use: "models PROVIDER", Short: "Ask a provider which models it offers", Args: cobra.ExactArgs(1),
		Example: "  tandem provider models anthropic",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, models.ProviderModels, models.ProviderIn{ID: args[0]})
			if err != nil {
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
	var in models.ProviderKeyIn
	var stdin bool
	cmd := &cobra.Command{
		Use: "key PROVIDER", Short: "Store a provider's key, sealed", Args: cobra.ExactArgs(1),
		Long: "Store a provider's key. It is asked for on the terminal and not shown, or read from a pipe; it never stands on a command line.\n" +
			"The question shows the address that the key is for; a script says it with --base. " +
			"The key is refused when the provider has another one by then.",
		Example: "  tandem provider key anthropic\n  pass show anthropic | tandem provider key anthropic",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			in.ID = args[0]
			if stdin || !k.Asks() {
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
				in.Key, err = k.SecretFor(cmd.Context(), "key for "+in.ID+" at "+in.Base)
			}
			if err != nil {
				return err
			}
			in.Key = strings.TrimSpace(in.Key)
			out, err := op.Do(cmd.Context(), k, models.ProviderKey, in)
			if err != nil {
				return err
			}
			err = k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "the key for %s is sealed%s\n", in.ID, k.AtPlace(cmd.Context())) })
			if err != nil || k.JSON {
				return err
			}
			return offerDefault(cmd.Context(), k, in.ID)
		},
	}
	cmd.Flags().StringVar(&in.Base, "base", "", "the address that the key is meant for")
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the key from standard input, as it is where that is no terminal")
	return cmd
}

// offerDefault says what sessions use now, and offers the provider that just got its key as long as they use the built-in model, which
// only repeats what it is told.
func offerDefault(ctx context.Context, k *kit.Kit, id string) error {
	out, err := op.Do(ctx, k, models.ProviderList, models.Nothing{})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(out.Providers, func(p models.ProviderInfo) bool { return p.ID == id })
	if i < 0 || out.Default != models.Default || out.Providers[i].Default == "" {
		fmt.Fprintf(k.Err, "sessions use %s unless told otherwise: tandem provider default PROVIDER/MODEL\n", out.Default)
		return nil
	}
	model := id + "/" + out.Providers[i].Default
	if !k.Asks() {
		fmt.Fprintf(k.Err, "sessions still use %s, which repeats what it is told; let them use this one: tandem provider default %s\n",
			out.Default, model)
		return nil
	}
	yes, err := k.Yes(fmt.Sprintf("sessions%s use %s, which repeats what it is told. Use %s from now on?",
		k.AtPlace(ctx), out.Default, model), true)
	if err != nil || !yes {
		return err
	}
	set, err := op.Do(ctx, k, models.ProviderDefault, models.DefaultIn{Model: model})
	if err != nil {
		return err
	}
	fmt.Fprintf(k.Out, "sessions use %s unless told otherwise\n", set.Model)
	return nil
}

// baseOf is where a provider is.
func baseOf(ctx context.Context, k *kit.Kit, id string) (string, error) {
	out, err := op.Do(ctx, k, models.ProviderList, models.Nothing{})
	if err != nil {
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
	var in models.ProviderAddIn
	cmd := &cobra.Command{
		Use: "add ID ADDRESS", Short: "Add an endpoint that speaks a known wire", Args: cobra.ExactArgs(2),
		Example: "  tandem provider add mine http://127.0.0.1:8080/v1 --keyless",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Base = args[0], args[1]
			out, err := op.Do(cmd.Context(), k, models.ProviderAdd, in)
			if err != nil {
				return err
			}
			return k.Show(models.ProviderInfo{Entry: out}, func(w io.Writer) { fmt.Fprintf(w, "%s is at %s\n", out.ID, out.Base) })
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
			out, err := op.Do(cmd.Context(), k, models.ProviderRemove, models.ProviderIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is forgotten\n", args[0]) })
		},
	}
}

func newProviderDefault(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "default MODEL", Short: "Choose the model of sessions that name none", Args: cobra.ExactArgs(1),
		Example: "  tandem provider default anthropic/claude-sonnet-4-5",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, models.ProviderDefault, models.DefaultIn{Model: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "sessions use %s unless told otherwise\n", out.Model) })
		},
	}
}
