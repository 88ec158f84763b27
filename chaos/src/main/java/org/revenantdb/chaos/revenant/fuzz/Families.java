package org.revenantdb.chaos.revenant.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.chaos.crash.Seeds;

/**
 * The families of a run, in files of its directory. Whoever needs one first makes it; variants take
 * their turns, {@link #CHUNK} at a time.
 */
final class Families {

  /** So many variants in a row are of one family. */
  static final int CHUNK = 200;

  /** So many chunks in a row are of one population. */
  private static final int CHUNKS = 250;

  /** One in so many chunks is of the family whose databases are large. */
  private static final int RARE = 50;

  private static final int KINDS = Population.Kind.values().length;

  private Families() {}

  /** The family of a variant. */
  static int of(long index) {
    long chunk = index / CHUNK;
    int population = Math.toIntExact(chunk / CHUNKS);
    int rare = Population.Kind.INDEXED.ordinal();
    int kind = chunk % RARE == RARE - 1 ? rare : (int) (chunk % rare);
    return population * KINDS + kind;
  }

  /** Reads a family, or makes it. */
  static Family get(Path directory, long seed, int family) throws IOException {
    Path file = directory.resolve("family-%d-%d".formatted(seed, family));
    if (!Files.exists(file)) {
      Population.Kind kind = Population.Kind.values()[family % KINDS];
      FamilyFile.write(Population.make(kind, Seeds.of(seed, family)), file);
    }
    return FamilyFile.read(file);
  }
}
