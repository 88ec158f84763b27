package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.revenantdb.chaos.crash.Seeds;

/**
 * The families of a run, in files of its directory. The first child that needs a family creates it.
 * Variants use the families in turn, {@link #CHUNK} at a time.
 */
final class Families {

  /** The number of consecutive variants of one family. */
  static final int CHUNK = 200;

  /** The number of consecutive chunks of one population. */
  private static final int CHUNKS = 250;

  /** One chunk in this many belongs to the family whose databases are large. */
  private static final int RARE = 50;

  private static final List<Population.Kind> USUAL =
      List.of(
          Population.Kind.EVERYTHING,
          Population.Kind.UNDECIDED,
          Population.Kind.SPILLED,
          Population.Kind.FLUSHING);

  /** The kinds in a population: the usual ones, and {@link Population.Kind#INDEXED} last. */
  private static final int KINDS = USUAL.size() + 1;

  private Families() {}

  /** The family of a variant. */
  static int of(long index) {
    long chunk = index / CHUNK;
    int population = Math.toIntExact(chunk / CHUNKS);
    int kind = chunk % RARE == RARE - 1 ? USUAL.size() : (int) (chunk % USUAL.size());
    return population * KINDS + kind;
  }

  /** Reads a family, or creates it. */
  static Family get(Path directory, long seed, int family) throws IOException {
    Path file = directory.resolve("family-%d-%d".formatted(seed, family));
    if (!Files.exists(file)) {
      int number = family % KINDS;
      Population.Kind kind = number < USUAL.size() ? USUAL.get(number) : Population.Kind.INDEXED;
      FamilyFile.write(Population.make(kind, Seeds.of(seed, family)), file);
    }
    return FamilyFile.read(file);
  }
}
