package org.revenantdb.engine.session;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.latch.PatientLock;

/**
 * The open transactions, by the slots of their snapshots. Finds the leaked ones.
 *
 * <p>Threads: any. The transaction in a slot and the sweeping thread write its entry.
 */
public final class OpenTransactions {
  /*
   * Entry       null | the transaction itself | Watched: weakly the transaction, and its core
   *             Kept: the core whose cursor or stream has this slot; ends with that, and a sweep ignores it
   * Transitions null -> transaction      begin    by its session, which has the slot
   *             transaction -> Watched   sweep    CAS: it has been open for a while
   *             any -> null              end      by its session, or the thread that rolls it back, before the slot is freed
   *
   * Watched     needs the core of the transaction, which is made if there is none. From then on the core ends the
   *             transaction and clears the entry. If the transaction ends first, there is nothing to watch.
   *             (protocols.md §38)
   *
   * Why in two steps   A weak reference for each transaction would be the most expensive part of a short one. So a
   *                    young transaction is held strongly, which costs a store. Only a transaction that is still open
   *                    at the next sweep gets a weak reference. A leaked one is found within about two sweeps after
   *                    the garbage collection that notices it.
   */
  private static final int SHIFT = 6;
  private static final int CHUNK = 1 << SHIFT;

  /** References from one slot to the next, so that sessions do not share a cache line. */
  private static final int STRIDE = 16;

  /**
   * A transaction, for monitoring.
   *
   * @param id 0 if it has not written
   * @param name its name; null if it has none
   */
  public record Holder(long id, @Nullable String name) {
    public static final Holder NOBODY = new Holder(0, null);

    /** How messages refer to it, as in {@code transaction 9 "nightly report"}. */
    String described() {
      return "transaction " + id + (name == null ? "" : " \"" + name + "\"");
    }

    static Holder of(TransactionCore core) {
      return new Holder(core.id(), core.name());
    }
  }

  private record Watched(WeakReference<Transaction> face, TransactionCore core) {}

  private record Kept(TransactionCore core) {}

  private static final class Slots extends AtomicReferenceArray<@Nullable Object> {
    private static final long serialVersionUID = 1;

    Slots() {
      super(CHUNK * STRIDE);
    }
  }

  private final ActiveSnapshots snapshots;
  private final PatientLock growing = new PatientLock();

  private volatile @Nullable Slots[] chunks = new Slots[1];

  /** Makes an object for transactions with slots of these snapshots. */
  OpenTransactions(ActiveSnapshots snapshots) {
    this.snapshots = snapshots;
  }

  /** Called when a transaction has begun. */
  public void begin(int slot, Transaction transaction) {
    enter(slot, transaction);
  }

  /** Called when a cursor or stream of a transaction gets its own slot, until {@link #end}. */
  void keep(int slot, TransactionCore core) {
    enter(slot, new Kept(core));
  }

  private void enter(int slot, Object entry) {
    Slots chunk = chunkOf(slot);
    if (chunk == null) {
      chunk = grow(slot);
    }
    chunk.setRelease(index(slot), entry);
  }

  /** Called when the transaction, cursor or stream in that slot has ended. */
  public void end(int slot) {
    Slots chunk = chunkOf(slot);
    if (chunk != null) {
      chunk.setRelease(index(slot), null);
    }
  }

  /**
   * All used transactions that are open during the whole call; of those that begin or end
   * meanwhile, some.
   */
  List<TransactionCore> cores() {
    List<TransactionCore> cores = new ArrayList<>();
    for (Slots chunk : chunks) {
      for (int i = 0; chunk != null && i < chunk.length(); i += STRIDE) {
        TransactionCore core = coreOf(chunk.get(i));
        if (core != null) {
          cores.add(core);
        }
      }
    }
    return cores;
  }

  /**
   * The transaction with this id, if it is open and the calling thread has it; else null. For a
   * caller that has met the id.
   */
  public @Nullable TransactionCore ofThisThread(long id) {
    return ofThisThread(core -> core.id() == id);
  }

  /**
   * How messages refer to the transaction with this id: with its name if it has one and is open.
   */
  String described(long id) {
    TransactionCore core = find(each -> each.id() == id);
    return (core == null ? new Holder(id, null) : Holder.of(core)).described();
  }

  /**
   * A transaction that the calling thread has open and that has dropped or truncated a table; null
   * if there is none.
   */
  @Nullable TransactionCore ofThisThreadThatHas(Table table) {
    return ofThisThread(core -> core.hasTaken(table));
  }

  /** Whether the calling thread has a transaction open that has written. */
  boolean hasOfThisThread() {
    return ofThisThread(core -> true) != null;
  }

  private @Nullable TransactionCore ofThisThread(Predicate<TransactionCore> which) {
    return find(core -> core.isOfThisThread() && which.test(core) && core.isOpen());
  }

  private @Nullable TransactionCore find(Predicate<TransactionCore> which) {
    for (Slots chunk : chunks) {
      for (int i = 0; chunk != null && i < chunk.length(); i += STRIDE) {
        TransactionCore core = coreOf(chunk.get(i));
        if (core != null && which.test(core)) {
          return core;
        }
      }
    }
    return null;
  }

  private static @Nullable TransactionCore coreOf(@Nullable Object entry) {
    return switch (entry) {
      case Transaction young -> ApiAccess.api().usedCore(young);
      case Watched watched -> watched.core;
      case null, default -> null;
    };
  }

  /** Called at the end of the database: no thread is inside it, and no transaction can begin. */
  public void databaseCloses() {
    for (Slots chunk : chunks) {
      for (int i = 0; chunk != null && i < chunk.length(); i += STRIDE) {
        switch (chunk.get(i)) {
          case Transaction young -> ApiAccess.api().databaseCloses(young);
          case Watched watched -> watched.core.databaseCloses();
          case null, default -> {}
        }
      }
    }
  }

  /** Watches the transactions that are still open, and rolls back the leaked ones. */
  void sweep() {
    snapshots.note(System.currentTimeMillis());
    for (Slots chunk : chunks) {
      for (int i = 0; chunk != null && i < chunk.length(); i += STRIDE) {
        switch (chunk.get(i)) {
          case Transaction open -> {
            TransactionCore core = ApiAccess.api().openCore(open);
            if (core != null) {
              chunk.compareAndSet(i, open, new Watched(new WeakReference<>(open), core));
            }
          }
          case Watched watched when watched.face.get() == null -> watched.core.forgotten();
          case null, default -> {}
        }
      }
    }
  }

  /** The holder of a slot. */
  public Holder holderIn(int slot) {
    Slots chunk = chunkOf(slot);
    return switch (chunk == null ? null : chunk.get(index(slot))) {
      case Transaction young -> new Holder(young.id(), ApiAccess.api().name(young));
      case Watched watched -> Holder.of(watched.core);
      case Kept kept -> Holder.of(kept.core);
      case null, default -> Holder.NOBODY;
    };
  }

  private static int index(int slot) {
    return (slot & (CHUNK - 1)) * STRIDE;
  }

  private @Nullable Slots chunkOf(int slot) {
    @Nullable Slots[] now = chunks;
    int index = slot >>> SHIFT;
    return index < now.length ? now[index] : null;
  }

  private Slots grow(int slot) {
    growing.lock();
    try {
      Slots chunk = chunkOf(slot);
      if (chunk == null) {
        int index = slot >>> SHIFT;
        @Nullable Slots[] wider =
            java.util.Arrays.copyOf(chunks, Math.max(chunks.length, index + 1));
        chunk = new Slots();
        wider[index] = chunk;
        chunks = wider;
      }
      return chunk;
    } finally {
      growing.unlock();
    }
  }
}
