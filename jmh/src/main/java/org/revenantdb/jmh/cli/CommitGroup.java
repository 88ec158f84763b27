package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.revenantdb.jmh.commit.CommitsFork;
import org.revenantdb.jmh.commit.HotCounterFork;
import org.revenantdb.jmh.commit.OneRowCommits;
import org.revenantdb.jmh.commit.RevenantCommits;
import org.revenantdb.jmh.peer.BerkeleyCommits;
import org.revenantdb.jmh.peer.RocksCommits;

/** Many sessions that commit durably: ours compared with other engines, and all on one row. */
final class CommitGroup {
  private static final int SESSIONS = 32;
  private static final String PLATFORM = "platform";

  private static final Map<String, String> UNITS =
      Map.of("commits", "1/s", "increments", "1/s", "p50_us", "us", "p99_us", "us");

  private CommitGroup() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.version("RocksDB", Peers.versionOf("rocksdbjni"));
    figures.version("Berkeley DB JE", Peers.versionOf("je"));
    figures.setting("rows", "key 8 bytes, value 100 bytes; 256 rows a session");
    figures.setting(
        "promise", "all three force their log before a commit returns: kill and power cut");
    figures.setting("RevenantDB", "defaults, 128 MiB for pages");
    figures.setting(
        "RocksDB",
        "put with sync; recycled log files (4) and a write buffer of 1 MiB, the best of plain,"
            + " pipelined, recycled and both");
    figures.setting(
        "Berkeley DB JE",
        "COMMIT_SYNC, 128 MiB cache; the best of defaults, useODSYNC, larger files, group commit"
            + " interval");
    List<ForkSession.Child> children =
        List.of(
            child(session, "ours", RevenantCommits.class, PLATFORM),
            child(session, "rocksdb", RocksCommits.class, PLATFORM),
            child(session, "berkeley", BerkeleyCommits.class, PLATFORM),
            child(session, "ours-virtual", RevenantCommits.class, "virtual"));
    Map<String, Sample> samples = session.run("commit, 32 sessions", children, UNITS);
    Plot plot =
        new Plot(
            "How many durable commits a second, 32 sessions?",
            Plot.Form.BARS,
            "engine",
            "1/s",
            /* logarithmic= */ false);
    children.forEach(it -> plot.mark(it.name(), it.name(), "commits," + it.name()));
    figures.plot(plot);
    double best =
        Math.max(
            ForkSession.median(samples, "commits,rocksdb"),
            ForkSession.median(samples, "commits,berkeley"));
    figures.put("group_commit_vs_best", ForkSession.median(samples, "commits,ours") / best);
  }

  private static ForkSession.Child child(
      ForkSession session, String name, Class<? extends OneRowCommits> engine, String threads) {
    return new ForkSession.Child(
        name,
        CommitsFork.class,
        Peers.NATIVE,
        null,
        List.of(
            engine.getName(),
            "DIRECTORY",
            Integer.toString(SESSIONS),
            threads,
            session.sized(3500, 5000), // of many threads that compete with the compiler
            session.sized(1200, 4000),
            session.seed()));
  }

  /** All sessions on one row; points only. */
  static void measureHotCounter(ForkSession session) throws CannotMeasureException {
    List<ForkSession.Child> children =
        Stream.of("after", "before")
            .map(when ->
                new ForkSession.Child(
                    "counter,acts=" + when,
                    HotCounterFork.class,
                    "DIRECTORY",
                    Integer.toString(SESSIONS),
                    when,
                    session.sized(800, 3000),
                    session.sized(1000, 4000)))
            .toList();
    session.run("commit, one counter", session.quick() ? 1 : 3, children, UNITS);
  }
}
