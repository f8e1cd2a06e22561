// Package prepare fetches what checks depend on, so that these can run without the network.
//
// It owns the folder in which that is kept. What is fetched is named by lock files, comes from registries that a person named, and is
// compared with the lock files' own digests before anything reads it. No program is run with the network, and no install script at all.
// What was made is kept under the digest of the lock files that it was made from; checks see it and cannot change it, and agents do not see
// it. It refuses what a lock file names without a digest, and what does not come from a registry.
package prepare
