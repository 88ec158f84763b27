package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A class of the engine, made from its own compiled one, with which the ring of the log is in
 * memory and not in a mapped file. So a killed process loses lazy commits.
 *
 * <p>Failure: {@link IllegalStateException} if the engine is not as this was made for.
 */
public final class EngineOfMemoryRing {
  private EngineOfMemoryRing() {}

  /**
   * Writes it.
   *
   * @param folder for a class path
   * @throws IOException if it cannot
   */
  public static void write(Path folder) throws IOException {
    create().write(folder);
  }

  static ClassPatch create() {
    return new ClassPatch("org.revenantdb.recovery.log.RingFile")
        .insteadOfCalls(
            "create",
            "org.revenantdb.recovery.file.StorageFile",
            "isMappable",
            1,
            code -> code.pop().iconst_0());
  }
}
