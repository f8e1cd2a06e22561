# Work that goes on by itself, until a person is asked.
machines laptop
laptop$ mkdir -p docs/examples; cp /home/checkout/docs/examples/morning.toml docs/examples; tandem pin set
laptop> tandem automation add docs/examples/morning.toml      # from a clone of the sources; stored, switched off
  shows morning is stored
laptop> tandem automation on morning                          # shows what it may do, and asks for your PIN
  shows day: runs date +%A
  shows morning is switched on
laptop> tandem automation run morning                         # now, and not only on weekdays at nine
  shows morning begins
laptop$ until tandem inbox | grep -q release; do :; done
laptop> tandem inbox                                          # its question, and the line that answers it
  shows look: Is this a day for a release?
  shows tandem approvals approve ask_
laptop$ tandem approvals approve
laptop$ until tandem automation runs list | grep -q completed; do :; done; tandem resource get release/day
  shows day
