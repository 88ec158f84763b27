package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Path;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * A class of the engine, made from its own compiled one, with which space maps are latched
 * exclusively for the same steps: the original method of "Concurrent Updates to Pages with
 * Fixed-Size Rows Using Lock-Free Algorithms", Figure 3. The files have the same content.
 *
 * <p>Failure: {@link IllegalStateException} if the engine is not as this was made for.
 */
public final class EngineOfExclusiveMaps {
  private static final String POOL = BufferPool.class.getName();
  private static final String MINI = MiniTransaction.class.getName();
  private static final MethodTypeDesc FIX =
      MethodTypeDesc.of(ConstantDescs.CD_int, ConstantDescs.CD_int);
  private static final MethodTypeDesc UNFIX =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
  private static final MethodTypeDesc CHANGE =
      MethodTypeDesc.of(
          RecordBuilder.class.describeConstable().orElseThrow(), ConstantDescs.CD_int);

  private EngineOfExclusiveMaps() {}

  /**
   * Writes it.
   *
   * @param folder for a class path
   * @throws IOException if it cannot
   */
  public static void write(Path folder) throws IOException {
    changes().write(folder);
  }

  static ClassPatch changes() {
    return new ClassPatch("org.revenantdb.engine.space.MapChanges")
        .insteadOfCalls(
            "latchAndWrite",
            POOL,
            "fixShared",
            1,
            code -> code.invokevirtual(ClassDesc.of(POOL), "fixExclusive", FIX))
        .insteadOfCalls(
            "latchAndWrite",
            MINI,
            "changeShared",
            1,
            code -> code.invokevirtual(ClassDesc.of(MINI), "change", CHANGE))
        .insteadOfCalls(
            "unlatch",
            POOL,
            "unfixShared",
            2, // the compiler writes a finally block twice
            code -> code.invokevirtual(ClassDesc.of(POOL), "unfixExclusive", UNFIX));
  }
}
