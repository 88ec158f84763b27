package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.version.GarbageStrategy;
import org.revenantdb.gc.version.VolatileStore;

/**
 * Classes of the engine, made from its own compiled ones, in which another strategy manages older
 * versions of rows. Everything else is unchanged: the leaf keeps the last version before its
 * current one, and versions beyond the memory limit go to files.
 *
 * <p>One open database a JVM. {@link #STRATEGY} and {@link #FREQUENCY} are system properties of it.
 *
 * <p>Failure: {@link IllegalStateException} if the engine is not as this was made for.
 */
public final class EngineOfOtherGarbage {
  /** The strategy of a JVM: the name of a {@link Strategy}. */
  public static final String STRATEGY = "org.revenantdb.jmh.garbage";

  /** Its period in milliseconds, or its threshold in transactions. */
  public static final String FREQUENCY = "org.revenantdb.jmh.garbage.frequency";

  /** The strategies that the thesis compares with Steam (Tables 9 and 10). */
  public enum Strategy {
    /** {@link WatermarkGarbage}. */
    WATERMARK {
      @Override
      OtherGarbage garbage(Horizon horizon, long frequency) {
        return new WatermarkGarbage(horizon);
      }
    },
    /** {@link EpochGarbage} of three. */
    EPOCHS_OF_THREE {
      @Override
      OtherGarbage garbage(Horizon horizon, long frequency) {
        return new EpochGarbage(/* three= */ true, frequency);
      }
    },
    /** {@link EpochGarbage} of any number. */
    EPOCHS {
      @Override
      OtherGarbage garbage(Horizon horizon, long frequency) {
        return new EpochGarbage(/* three= */ false, frequency);
      }
    },
    /** {@link IntervalGarbage}. */
    INTERVAL {
      @Override
      OtherGarbage garbage(Horizon horizon, long frequency) {
        return new IntervalGarbage(horizon, frequency);
      }
    },
    /** {@link AssignedGarbage}. */
    ASSIGNED {
      @Override
      OtherGarbage garbage(Horizon horizon, long frequency) {
        return new AssignedGarbage(horizon, frequency);
      }
    };

    /**
     * Makes it.
     *
     * @param frequency milliseconds or transactions, if it has either
     */
    abstract OtherGarbage garbage(Horizon horizon, long frequency);
  }

  private static final int SLOTS = 1 << 16;

  private static final ClassDesc SELF = desc(EngineOfOtherGarbage.class);
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);

  private static final AtomicReference<@Nullable OtherGarbage> CURRENT = new AtomicReference<>();

  /** The entry of the snapshot that the thread is taking. */
  private static final ThreadLocal<Integer> ENTERED = ThreadLocal.withInitial(() -> 0);

  /** By the slot of a snapshot, its entry plus one. */
  private static final AtomicIntegerArray ENTRIES = new AtomicIntegerArray(SLOTS);

  private EngineOfOtherGarbage() {}

  private static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }

  /**
   * Writes them.
   *
   * @param folder for a class path
   * @throws IOException if it cannot
   */
  public static void write(Path folder, Strategy strategy) throws IOException {
    database().write(folder);
    store().write(folder);
    if (strategy != Strategy.INTERVAL) {
      writer().write(folder);
    }
    if (strategy == Strategy.EPOCHS || strategy == Strategy.EPOCHS_OF_THREE) {
      snapshots().write(folder);
    }
  }

  /** Opens with another strategy. */
  static ClassPatch database() {
    return new ClassPatch("org.revenantdb.engine.lifecycle.Opening")
        .insteadOfCalls(
            "makeEngine",
            GarbageStrategy.class.getName(),
            "of",
            1,
            code ->
                code.invokestatic(
                    SELF,
                    "of",
                    MethodTypeDesc.of(desc(GarbageStrategy.class), desc(Horizon.class))));
  }

  /** Reports that the database is closed. */
  static ClassPatch store() {
    return new ClassPatch(VolatileStore.class.getName())
        .atHead("close", code -> code.invokestatic(SELF, "closed", NOTHING));
  }

  /** Reports that a transaction has ended. */
  static ClassPatch writer() {
    return new ClassPatch(RowWriter.class.getName())
        .atHead("end", code -> code.invokestatic(SELF, "ended", NOTHING));
  }

  /** Enters before a snapshot is taken, and leaves when it is given back. */
  static ClassPatch snapshots() {
    MethodTypeDesc ofSlot = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    return new ClassPatch(ActiveSnapshots.class.getName())
        .atHead("open", code -> code.invokestatic(SELF, "opening", NOTHING))
        .beforeReturn("open", code -> code.dup().invokestatic(SELF, "opened", ofSlot))
        .atHead("close", code -> code.iload(1).invokestatic(SELF, "closing", ofSlot));
  }

  private static OtherGarbage current() {
    return Objects.requireNonNull(CURRENT.get(), "no database is open");
  }

  /**
   * Called instead of the engine's own.
   *
   * @param horizon of the database that is being opened
   * @return the strategy that the properties name
   */
  public static GarbageStrategy of(Horizon horizon) {
    OtherGarbage made =
        Strategy.valueOf(System.getProperty(STRATEGY, Strategy.WATERMARK.name()))
            .garbage(horizon, Long.getLong(FREQUENCY, 1));
    CURRENT.set(made);
    return made;
  }

  /** The database is closed. */
  public static void closed() {
    current().close();
  }

  /** A transaction that may have written has ended. */
  public static void ended() {
    current().ended();
  }

  /** A snapshot is about to be taken. */
  public static void opening() {
    ENTERED.set(current().entered());
  }

  /**
   * It was taken.
   *
   * @param slot of the snapshot
   */
  public static void opened(int slot) {
    ENTRIES.set(slot, ENTERED.get() + 1);
  }

  /**
   * A snapshot is about to be given back.
   *
   * @param slot of the snapshot
   */
  public static void closing(int slot) {
    int entry = ENTRIES.getAndSet(slot, 0);
    if (entry != 0) {
      current().left(entry - 1);
    }
  }
}
