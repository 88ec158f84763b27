package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The cost of rows in a tree of pages, part by part: in memory compared with other engines, updated
 * at random, by mode of the latches, and with a pool that holds a fifth of them. A part that fails
 * does not affect the others.
 */
final class TreeBench implements Bench {
  @Override
  public String name() {
    return "tree";
  }

  @Override
  public String question() {
    return "What do rows in a tree of pages cost, in memory and beyond it?";
  }

  @Override
  public List<String> promises() {
    List<String> names = new ArrayList<>(TreeMemory.FIGURES);
    names.addAll(
        List.of(
            TreeSpill.FIGURE,
            TreeLatches.FIGURE,
            TreeUpdates.WIDE,
            TreeUpdates.TUPL,
            TreeUpdates.BIG,
            TreeRing.FIGURE));
    return names;
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, 3);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      TreeMemory.describe(session);
      session.begin(60);
      if (settings.wants(TreeMemory.FIGURES.toArray(String[]::new))) {
        figures.attempt(() -> TreeMemory.measure(session));
      }
      session.begin(90);
      if (settings.wants(TreeUpdates.WIDE, TreeUpdates.TUPL)) {
        figures.attempt(() -> TreeUpdates.measureSmall(session));
      }
      session.begin(110);
      if (settings.wants(TreeUpdates.BIG)) {
        figures.attempt(() -> TreeUpdates.measureBig(session));
      }
      session.begin(125);
      if (settings.wants(TreeRing.FIGURE)) {
        figures.attempt(() -> TreeRing.measure(session));
      }
      session.begin(150);
      if (settings.wants(TreeLatches.FIGURE)) {
        figures.attempt(() -> TreeLatches.measure(session));
      }
      session.begin(175);
      if (settings.wants(TreeSpill.FIGURE)) {
        figures.attempt(() -> TreeSpill.measure(session));
      }
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
