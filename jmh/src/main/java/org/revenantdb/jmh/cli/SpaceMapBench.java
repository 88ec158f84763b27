package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The cost of contention for the same space maps among threads that allocate pages, part by part:
 * latched shared with a compare-and-set for each byte, compared with the original method, latched
 * exclusively. A part that fails does not affect the others.
 */
final class SpaceMapBench implements Bench {
  @Override
  public String name() {
    return "space-map";
  }

  @Override
  public String question() {
    return "What does contention for the space maps cost threads that allocate pages?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        SpaceMapAllocation.SPEEDUP,
        SpaceMapAllocation.RATIO_OF_ONE,
        SpaceMapAllocation.WAIT_SHARE,
        SpaceMapTpcc.SPEEDUP,
        SpaceMapMemory.BYTES,
        SpaceMapLsn.RAISE,
        SpaceMapLsn.READ);
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      figures.attempt(() -> SpaceMapLsn.measure(figures, rounds, settings.quick()));
      figures.attempt(() -> SpaceMapMemory.measure(session));
      session.begin(40); // a quick run has time for one round of each
      figures.attempt(() -> SpaceMapAllocation.measure(session));
      session.begin(60);
      figures.attempt(() -> SpaceMapTpcc.measure(session));
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
