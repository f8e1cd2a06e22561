// Package spec is the language in which an automation is written: a TOML file with triggers, limits and nodes. It reads a file, says all
// that is wrong with it at once, and gives a definition its digest. It computes only, runs nothing and knows no house: whether a folder
// is granted or a connector exists is asked by whoever switches an automation on.
//
// What holds of every definition that passes Check:
//   - A node sees what it names and nothing else: its inputs are outputs of earlier nodes, and tools, connectors, folders and knowledge
//     are lists that are empty unless written.
//   - The nodes form no ring, every branch leads somewhere, every map and every wait has an end.
//   - Counts, sizes, attempts, money and time have bounds, written or by default, and no node's own are wider than the automation's.
//
// The digest is that of the meaning, with defaults written out: comments, order of keys and spelling of durations do not change it.
package spec
