package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Path;
import org.revenantdb.engine.version.Cleaner;

/**
 * A class of the engine, made from its own compiled one, with which a database rolls back
 * uncommitted work before it is open, as other engines do.
 *
 * <p>Failure: {@link IllegalStateException} if the engine is not as this was made for.
 */
public final class EngineOfEagerRevert {
  private EngineOfEagerRevert() {}

  /**
   * Writes it.
   *
   * @param folder for a class path
   * @throws IOException if it cannot
   */
  public static void write(Path folder) throws IOException {
    open().write(folder);
  }

  static ClassPatch open() {
    ClassDesc cleaner = Cleaner.class.describeConstable().orElseThrow();
    return new ClassPatch("org.revenantdb.engine.lifecycle.OpenDatabase")
        .beforeReturn(
            "startCleaner",
            code ->
                code.dup()
                    .invokevirtual(cleaner, "cleanNow", MethodTypeDesc.of(ConstantDescs.CD_void)));
  }
}
