package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.peer.MvStoreBareItems;
import org.revenantdb.jmh.peer.MvStoreItems;
import org.revenantdb.jmh.peer.SqliteItems;
import org.revenantdb.jmh.work.IndexedInsertFork;
import org.revenantdb.jmh.work.IndexedItems;
import org.revenantdb.jmh.work.RevenantIndexedItems;

/** Inserts into a table with two indexes, lazily, beside MVStore and SQLite. */
final class IndexedInserts {
  /** The figure: ours divided by the better of those that promise the same, one row each. */
  static final String FIGURE = "indexed_insert_vs_best";

  private static final String RATE = "indexed_inserts";
  private static final String CPU = "indexed_insert_cpu_us";
  private static final Map<String, String> UNITS = Map.of(RATE, "1/s", CPU, "us");

  private IndexedInserts() {}

  /** The engines. */
  private enum Engine {
    OURS("revenant", RevenantIndexedItems.class),
    MVSTORE("mvstore", MvStoreItems.class),
    SQLITE("sqlite", SqliteItems.class),
    BARE("mvstore without transactions", MvStoreBareItems.class);

    private final String variant;
    private final Class<? extends IndexedItems> items;

    Engine(String variant, Class<? extends IndexedItems> items) {
      this.variant = variant;
      this.items = items;
    }
  }

  /** One row a transaction; in a full run 100 as well, and MVStore without transactions. */
  static void measure(ForkSession session) throws CannotMeasureException {
    describe(session);
    List<ForkSession.Child> children = new ArrayList<>();
    for (Engine engine : List.of(Engine.OURS, Engine.MVSTORE, Engine.SQLITE)) {
      children.add(child(session, engine, 1));
    }
    Map<String, Sample> samples = session.run("collections, two indexes", children, UNITS);
    session.figures().put(FIGURE, ratio(samples));
    if (!session.quick()) {
      List<ForkSession.Child> others = new ArrayList<>();
      others.add(child(session, Engine.BARE, 1));
      for (Engine engine : Engine.values()) {
        others.add(child(session, engine, 100));
      }
      Map<String, Sample> _ = session.run("collections, two indexes, more", 3, others, UNITS);
    }
  }

  /** The figure. */
  static double ratio(Map<String, Sample> samples) throws CannotMeasureException {
    double best = Math.max(rate(samples, Engine.MVSTORE), rate(samples, Engine.SQLITE));
    return rate(samples, Engine.OURS) / best;
  }

  private static double rate(Map<String, Sample> samples, Engine engine)
      throws CannotMeasureException {
    return ForkSession.median(samples, RATE + "," + name(engine, 1));
  }

  private static String name(Engine engine, int each) {
    return "engine=" + engine.variant + ",rows=" + each;
  }

  private static ForkSession.Child child(ForkSession session, Engine engine, int each) {
    List<String> flags = new ArrayList<>(List.of("-Xms2g", "-Xmx2g"));
    if (engine != Engine.OURS) {
      flags.addAll(Peers.NATIVE);
    }
    return new ForkSession.Child(
        name(engine, each),
        IndexedInsertFork.class,
        flags,
        null,
        List.of(
            "DIRECTORY",
            engine.items.getName(),
            session.sized(50_000, 250_000),
            Integer.toString(each),
            Integer.toString(256 << 20),
            session.seed()));
  }

  private static void describe(ForkSession session) {
    Figures figures = session.figures();
    figures.setting(
        "two indexes",
        "a table of "
            + session.sized(50_000, 250_000)
            + " rows gets as many again, by one thread; keys ascend, a name of 20 letters (unique"
            + " index) and a number below 100,000 (index that is not) are random, a note has 60"
            + " letters; caches of 256 MiB; the figure is one row a transaction, committed lazily;"
            + " 100 rows a transaction are points");
    figures.setting(
        "two indexes, RevenantDB",
        "a typed table of records, putIfAbsent; a kill or a power cut loses a tenth of a second");
    figures.setting(
        "two indexes, MVStore",
        "three maps kept by hand in a TransactionStore, so that a row and its entries are there"
            + " together or not at all, as with the others; types of its own for rows and entries; a"
            + " write buffer of 128 MiB (with the default it writes the same pages more often); a"
            + " kill loses a second, a power cut more; without transactions, which is a point only,"
            + " a kill can leave a row without its entries");
    figures.setting(
        "two indexes, SQLite",
        "WAL, synchronous NORMAL, opened for one process, one prepared INSERT; a kill loses"
            + " nothing, a power cut what came after its last checkpoint");
    figures.version("H2", Peers.versionOf("h2"));
    figures.version("SQLite", Peers.versionOf("sqlite-jdbc"));
  }
}
