package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

func newModel(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "model", Short: "The model that says what texts mean",
		Long: `The model that says what texts mean. Without one, a table of words that is built in helps to find what
means the same; a small model finds much more. It is computed on the server itself, or asked of a
provider. A search waits for it 0.3 seconds at most, and what it has not seen yet is found as before.`,
		Example: "  tandem memory model show\n  tandem memory model set --endpoint ollama/all-minilm\n" +
			"  tandem memory model set /srv/models/all-MiniLM-L6-v2",
	}
	cmd.AddCommand(newModelShow(k), newModelSet(k), newModelClear(k))
	return cmd
}

func newModelShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show which model is chosen and how many records it has seen", Args: cobra.NoArgs,
		Example: "  tandem memory model show",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Model, wire.ModelIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { sayModel(w, out) })
		},
	}
}

func newModelSet(k *kit.Kit) *cobra.Command {
	var in wire.ModelSetIn
	cmd := &cobra.Command{
		Use: "set [FOLDER|ADDRESS]", Short: "Choose a model; needs your PIN", Args: cobra.MaximumNArgs(1),
		Long: `Choose a model: one of files, which the server computes itself (the BERT family: all-MiniLM-L6-v2, e5-small-v2,
bge-small-en-v1.5), or one of a provider that answers /v1/embeddings.

The files are model.safetensors, config.json and vocab.txt, in a folder of the server's machine or under an address.
The digest is the SHA-256 of model.safetensors, as its publisher names it; of a folder on this machine it is computed.

A provider is sent the text of records and the questions of searches. Of places that are labelled with more than an
everyday class of data nothing is sent out of the house.`,
		Example: "  tandem memory model set /srv/models/all-MiniLM-L6-v2\n" +
			"  tandem memory model set /srv/models/e5-small-v2 --asks 'query: ' --tells 'passage: '\n" +
			"  tandem memory model set --endpoint ollama/all-minilm",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				in.Files = args[0]
			}
			if in.Files != "" && in.Digest == "" && !strings.Contains(in.Files, "://") {
				if in.Files, in.Digest, err = ownDigest(in.Files); err != nil {
					return kit.Usagef("the digest of the model: %w", err)
				}
			}
			if _, err := op.Do(cmd.Context(), k, wire.ModelSet, in); err != nil {
				return err
			}
			out, err := tried(cmd.Context(), k)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { sayModel(w, out) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Endpoint, "endpoint", "", "a provider's model, as provider/model")
	f.StringVar(&in.Digest, "digest", "", "the SHA-256 of model.safetensors, in hex")
	f.StringVar(&in.Asks, "asks", "", "what the model wants before a question, as 'query: '")
	f.StringVar(&in.Tells, "tells", "", "what it wants before a record, as 'passage: '")
	return cmd
}

func newModelClear(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Go back to the table that is built in; needs your PIN", Args: cobra.NoArgs,
		Example: "  tandem memory model clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.ModelClear, wire.ModelIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, "no model; the table that is built in helps as before") })
		},
	}
}

// ownDigest is that of the weights in a folder of this machine.
func ownDigest(folder string) (whole, digest string, err error) {
	if whole, err = filepath.Abs(folder); err != nil {
		return "", "", err
	}
	f, err := os.Open(filepath.Join(whole, "model.safetensors"))
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", "", err
	}
	return whole, hex.EncodeToString(h.Sum(nil)), nil
}

// tried waits a little until the model was tried, so that what is wrong with it is said at once.
func tried(ctx context.Context, k *kit.Kit) (out wire.ModelOut, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		if out, err = op.Do(ctx, k, wire.Model, wire.ModelIn{}); err != nil || out.State != wire.ModelLooking {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-tick.C:
		}
	}
	return out, nil
}

func sayModel(w io.Writer, out wire.ModelOut) {
	what := out.Endpoint + out.Files
	switch out.State {
	case wire.ModelNone:
		fmt.Fprintf(w, "no model; the table that is built in helps to find %d records\n", out.Records)
		fmt.Fprintln(w, "choose one: tandem memory model set --help")
		return
	case wire.ModelLooking:
		fmt.Fprintf(w, "%s is fetched and tried; see how far it is: tandem memory model show\n", what)
		return
	case wire.ModelFailed:
		fmt.Fprintf(w, "%s cannot be used: %s\nsearches go on without it\n", what, out.Problem)
		return
	}
	fmt.Fprintf(w, "%s is ready: %d numbers a text, kept as %s\n", what, out.Dims, out.Name)
	fmt.Fprintf(w, "it has seen %d of %d records; the others are found by words and the table that is built in\n", out.Pointed, out.Records)
	if out.Leaves {
		fmt.Fprintln(w, "records and questions are sent out of the house, to this provider")
	}
	if out.Problem != "" {
		fmt.Fprintf(w, "the last time it could not be asked: %s\n", out.Problem)
	}
}
