package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.revenantdb.jmh.insert.DequeueFork;
import org.revenantdb.jmh.insert.InsertFork;
import org.revenantdb.jmh.insert.InsertStore;
import org.revenantdb.jmh.insert.RevenantInserts;
import org.revenantdb.jmh.peer.MvStoreInserts;
import org.revenantdb.jmh.peer.RocksInserts;
import org.revenantdb.jmh.peer.TuplInserts;

/**
 * A hundred and twenty sessions that insert rows with growing keys, in the four ways of the article
 * "PAGELATCH_EX waits and heavy inserts", compared with other engines. Also the other end of such a
 * table, used as a queue.
 */
final class HeavyInsertBench implements Bench {
  private static final String SESSIONS = "120";
  private static final String LAZY = "lazy";
  private static final String DURABLE = "durable";

  private static final Map<String, String> UNITS =
      Map.of(
          "inserts", "1/s",
          "seconds", "s",
          "page_waits_per_insert", "",
          "page_wait_avg_us", "us",
          "page_wait_max_us", "us",
          "page_wait_ms", "ms",
          "dequeues_first", "1/s",
          "dequeues_last", "1/s",
          "dequeue_ratio", "");

  @Override
  public String name() {
    return "heavy-insert";
  }

  @Override
  public String question() {
    return "What do many sessions cost each other that all insert at the end of one table?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        "clustered_vs_hash",
        "page_waits_per_insert",
        "insert_vs_tupl",
        "insert_vs_best",
        "dequeue_ratio");
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      session.begin(60);
      figures.attempt(() -> lazily(session));
      session.begin(80);
      figures.attempt(() -> durably(session));
      session.begin(40);
      figures.attempt(() -> dequeuing(session));
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }

  private static void lazily(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting(
        "rows", "key 8 bytes, value 13 (varchar(50) in the article); a transaction each");
    figures.setting("sessions", SESSIONS + " platform threads, without a pause");
    figures.setting(
        "promise",
        "lazy: ours loses a tenth of a second at most when killed, TuplDB (NO_FLUSH) what is in its"
            + " buffer, RocksDB nothing, MVStore a second; a power cut takes more of each but ours");
    figures.setting("hash", "8 partitions");
    figures.setting("bit-reversed", "each number logged by itself; cached: once in 10,000");
    figures.version("RocksDB", Peers.versionOf("rocksdbjni"));
    figures.version("TuplDB", Peers.versionOf("tupl"));
    figures.version("H2 MVStore", Peers.versionOf("h2"));
    String rows = session.sized(120_000, 1_200_000);
    List<ForkSession.Child> children = new ArrayList<>();
    for (RevenantInserts.Way way : RevenantInserts.Way.values()) {
      children.add(child(session, title(way), way.name(), rows, LAZY));
    }
    children.add(peer(session, "rocksdb", RocksInserts.class, rows, LAZY));
    children.add(peer(session, "tupl", TuplInserts.class, rows, LAZY));
    children.add(peer(session, "mvstore", MvStoreInserts.class, rows, LAZY));
    Map<String, Sample> samples = session.run("heavy inserts, lazy", children, UNITS);
    Plot plot =
        new Plot(
            "How many inserts a second, 120 sessions?",
            Plot.Form.BARS,
            "way or engine",
            "1/s",
            /* logarithmic= */ false);
    children.forEach(it -> plot.mark(it.name(), it.name(), "inserts," + it.name()));
    figures.plot(plot);
    double clustered = ForkSession.median(samples, "inserts,clustered");
    figures.put(
        "clustered_vs_hash", clustered / ForkSession.median(samples, "inserts,hash-partitioned"));
    figures.put(
        "page_waits_per_insert", ForkSession.median(samples, "page_waits_per_insert,clustered"));
    double tupl = ForkSession.median(samples, "inserts,tupl");
    figures.put("insert_vs_tupl", clustered / tupl);
    double best =
        Math.max(
            ForkSession.median(samples, "inserts,rocksdb"),
            Math.max(tupl, ForkSession.median(samples, "inserts,mvstore")));
    figures.put("insert_vs_best", clustered / best);
  }

  /** The same, forced: points only. */
  private static void durably(ForkSession session) throws CannotMeasureException {
    String rows = session.sized(24_000, 240_000);
    session.run(
        "heavy inserts, durable",
        session.quick() ? 1 : 3,
        List.of(
            child(session, "clustered,durable", "CLUSTERED", rows, DURABLE),
            child(session, "hash-partitioned,durable", "HASH_PARTITIONED", rows, DURABLE),
            peer(session, "rocksdb,durable", RocksInserts.class, rows, DURABLE),
            peer(session, "tupl,durable", TuplInserts.class, rows, DURABLE)),
        UNITS);
  }

  /** The other end of the table: one session that takes the first row, again and again. */
  private static void dequeuing(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "dequeuing",
            List.of(
                new ForkSession.Child(
                    "queue",
                    DequeueFork.class,
                    List.of("-Xms512m", "-Xmx512m"),
                    null,
                    List.of(
                        "DIRECTORY",
                        session.sized(100_000, 1_000_000),
                        session.sized(128 << 20, 512 << 20)))),
            UNITS);
    session.figures().put("dequeue_ratio", ForkSession.median(samples, "dequeue_ratio,queue"));
  }

  private static String title(RevenantInserts.Way way) {
    return way.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static ForkSession.Child child(
      ForkSession session, String name, String engine, String rows, String durability) {
    return child(session, name, engine, rows, durability, List.of());
  }

  private static ForkSession.Child peer(
      ForkSession session,
      String name,
      Class<? extends InsertStore> engine,
      String rows,
      String durability) {
    return child(session, name, engine.getName(), rows, durability, Peers.NATIVE);
  }

  private static ForkSession.Child child(
      ForkSession session,
      String name,
      String engine,
      String rows,
      String durability,
      List<String> more) {
    List<String> flags = new ArrayList<>(List.of("-Xms512m", "-Xmx512m"));
    flags.addAll(more);
    return new ForkSession.Child(
        name,
        InsertFork.class,
        flags,
        null,
        List.of(
            "DIRECTORY", engine, SESSIONS, rows, session.sized(128 << 20, 512 << 20), durability));
  }
}
