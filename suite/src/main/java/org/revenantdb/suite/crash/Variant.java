package org.revenantdb.suite.crash;

import java.util.function.Supplier;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.engine.Database;

/** The work of a life of RevenantDB, by its name on the command line. */
public enum Variant {
  /** {@link MixedSubject}. */
  MIXED(MixedSubject.class, MixedSubject::new),
  /** {@link LazySubject}. */
  LAZY(LazySubject.class, LazySubject::new),
  /** {@link LargeValuesSubject}. */
  LARGE(LargeValuesSubject.class, LargeValuesSubject::new),
  /** {@link EvictionSubject}. */
  EVICTION(EvictionSubject.class, EvictionSubject::new),
  /** {@link LoadSubject}. */
  LOAD(LoadSubject.class, LoadSubject::new),

  /** {@link CompactSubject}. */
  COMPACT(CompactSubject.class, CompactSubject::new),

  /** {@link SequenceSubject}. */
  SEQUENCE(SequenceSubject.class, SequenceSubject::new),

  /** {@link DropSubject}. */
  DROP(DropSubject.class, DropSubject::new),

  /** {@link PreparedSubject}. */
  PREPARED(PreparedSubject.class, PreparedSubject::new),

  /** {@link SchemaSubject}. */
  SCHEMA(SchemaSubject.class, SchemaSubject::new),

  /** {@link VersionsSubject}. */
  VERSIONS(VersionsSubject.class, VersionsSubject::new),

  /** {@link ThrottleSubject}. */
  THROTTLE(ThrottleSubject.class, ThrottleSubject::new),

  /** {@link UnsortedLoadSubject}. */
  UNSORTED(UnsortedLoadSubject.class, UnsortedLoadSubject::new);

  private final Class<? extends RevenantSubject> type;

  @SuppressWarnings("ImmutableEnumChecker") // a constructor
  private final Supplier<CrashSubject<Database>> maker;

  Variant(Class<? extends RevenantSubject> type, Supplier<CrashSubject<Database>> maker) {
    this.type = type;
    this.maker = maker;
  }

  Class<? extends RevenantSubject> type() {
    return type;
  }

  Supplier<CrashSubject<Database>> maker() {
    return maker;
  }
}
