package org.revenantdb.suite.crash;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Recording;

/**
 * Recordings of databases whose process dies at a force, and that are then opened again and used.
 * The second process reads what the first left unforced, and must not rely on it.
 */
final class KilledLives {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private KilledLives() {}

  /**
   * Deaths at each force of names in a creation, and at each of a number of forces of the data
   * file.
   */
  static List<Recording> record(long seed, int forcesOfData) throws IOException {
    List<Recording> recordings = new ArrayList<>();
    recordings.addAll(all(KilledLives::directoryForce, Integer.MAX_VALUE, seed));
    recordings.addAll(all(KilledLives::dataForce, forcesOfData, seed));
    return recordings;
  }

  /** Death at a force of names. */
  static DeadFrom directoryForce(int nth) {
    // Only names of files contain a dot.
    return new DeadFrom(
        operation ->
            operation.kind() == FileOperation.Kind.FORCE && operation.path().indexOf('.') < 0,
        nth);
  }

  /** Death at a force of the data file, under its own name. */
  static DeadFrom dataForce(int nth) {
    return new DeadFrom(
        operation ->
            operation.kind() == FileOperation.Kind.FORCE
                && operation.path().endsWith("revenant.data"),
        nth);
  }

  private static List<Recording> all(IntFunction<DeadFrom> death, int most, long seed)
      throws IOException {
    List<Recording> recordings = new ArrayList<>();
    for (int nth = 1; nth <= most; nth++) {
      Recording killed = record(death.apply(nth), nth, seed);
      if (killed == null) {
        break;
      }
      recordings.add(killed);
    }
    return recordings;
  }

  /** A life that dies and one after it, or null if there are fewer than n such operations. */
  static @Nullable Recording record(DeadFrom death, int nth, long seed) throws IOException {
    Recording recording =
        new LifeRecorder<>(ShortSubject::new, seed, 1, LIMIT).recordDeath(death, /* before= */ 0);
    return death.seen() < nth ? null : recording;
  }
}
