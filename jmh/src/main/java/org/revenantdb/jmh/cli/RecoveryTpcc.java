package org.revenantdb.jmh.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.baseline.EngineOfWriterIds;
import org.revenantdb.jmh.baseline.FormerVersions;
import org.revenantdb.jmh.baseline.OffRowVersions;
import org.revenantdb.jmh.tpcc.TpccFork;

/**
 * The cost for TPC-C of versions that survive a crash: in their rows, as here, or logged in
 * separate pages, both compared with rows that contain only the id of their writer.
 */
final class RecoveryTpcc {
  /** The figure: transactions a second, as the engine is, divided by rows of writers' ids. */
  static final String RATIO = "tpcc_ctr_ratio";

  /** The figure: the same with versions off their rows. */
  static final String OFF_ROW_RATIO = "tpcc_ctr_offrow_ratio";

  private static final String IN_ROW = "versions in rows";
  private static final String OFF_ROW = "versions off rows";
  private static final String WRITER_ONLY = "writer's id only";

  private static final String RATE = "transactions";
  private static final String SESSIONS = "2";
  private static final String WAREHOUSES = "10";
  private static final int ROUNDS = 5;

  private RecoveryTpcc() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String scale = session.quick() ? "0.01" : "0.1";
    figures.setting(
        "TPC-C",
        WAREHOUSES
            + " warehouses, items, customers and orders times "
            + scale
            + ", "
            + SESSIONS
            + " sessions without think times, 1 % of New-Orders rolled back; lazy, so that"
            + " processors are the limit and not the medium");
    List<ForkSession.Child> children =
        List.of(
            child(session, IN_ROW, null, scale),
            child(
                session, WRITER_ONLY, engine(session, "writer-only", FormerVersions.class), scale),
            child(session, OFF_ROW, engine(session, "off-row", OffRowVersions.class), scale));
    Map<String, Sample> samples =
        session.run("TPC-C, versions", session.quick() ? 1 : ROUNDS, children, SpaceMapTpcc.UNITS);
    Plot plot =
        new Plot(
            "How many TPC-C transactions a second, by where versions are?",
            Plot.Form.BARS,
            "former versions",
            "1/s",
            /* logarithmic= */ false);
    for (ForkSession.Child child : children) {
      plot.mark("lazy, " + SESSIONS + " sessions", child.name(), RATE + "," + child.name());
    }
    figures.plot(plot);
    double without = ForkSession.median(samples, RATE + "," + WRITER_ONLY);
    figures.put(RATIO, ForkSession.median(samples, RATE + "," + IN_ROW) / without);
    figures.put(OFF_ROW_RATIO, ForkSession.median(samples, RATE + "," + OFF_ROW) / without);
  }

  private static Path engine(ForkSession session, String name, Class<? extends FormerVersions> kept)
      throws CannotMeasureException {
    return session.engine(
        name,
        "an engine whose rows have just their writer's id",
        folder -> EngineOfWriterIds.write(folder, kept));
  }

  private static ForkSession.Child child(
      ForkSession session, String name, @Nullable Path classes, String scale) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "DIRECTORY",
                WAREHOUSES,
                scale,
                SESSIONS,
                session.sized(2_500, 10_000),
                session.sized(1_500, 20_000),
                session.seed(),
                "lazy"));
    return new ForkSession.Child(
        name, TpccFork.class, List.of("-Xms1g", "-Xmx1g"), classes, arguments);
  }
}
