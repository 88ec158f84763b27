package org.revenantdb.chaos.teeth;

import java.util.List;
import java.util.function.Supplier;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;

/** The honest store and the broken ones, as subjects. */
public final class BrokenSubjects {

  private BrokenSubjects() {}

  /** The crash that makes a flaw visible. */
  public enum Trigger {
    /** A power cut alone. */
    POWER_CUT,
    /** A force that fails and leaves its pages clean, and a power cut later. */
    FAILED_FORCE,
    /** The end of a process, and a power cut while the next one works. */
    DEATH_AND_POWER_CUT,
    /** The end of the process alone. */
    PROCESS_DEATH;

    /**
     * Returns the kind of crash for which this trigger is a proof.
     *
     * @return the kind
     */
    public Crash crash() {
      return this == PROCESS_DEATH ? Crash.PROCESS_DEATH : Crash.POWER_CUT;
    }
  }

  /**
   * A subject that must be found.
   *
   * @param flaw the step in which its store is broken
   * @param broken that step in words
   * @param trigger the crash that makes it visible
   * @param profile a profile under which it is visible
   * @param seed a seed with which it was found, in few states
   * @param type class of the subject, for forked JVMs
   * @param maker creates an instance
   */
  public record Broken(
      Flaw flaw,
      String broken,
      Trigger trigger,
      PlatformProfile profile,
      long seed,
      Class<? extends CrashSubject<TinyStore>> type,
      Supplier<CrashSubject<TinyStore>> maker) {

    /**
     * Returns the name of its class.
     *
     * @return for instance {@code NoForce}
     */
    public String name() {
      return type.getSimpleName();
    }
  }

  /**
   * Returns every subject that must be found.
   *
   * @return six that a power cut finds, and one that the end of a process finds
   */
  public static List<Broken> all() {
    return List.of(
        new Broken(
            Flaw.NO_FORCE,
            "a record is written and never forced",
            Trigger.POWER_CUT,
            PlatformProfile.EXT4_ORDERED,
            3,
            NoForce.class,
            NoForce::new),
        new Broken(
            Flaw.NO_DIRECTORY_FORCE,
            "a new log's name is not forced before the old log is deleted",
            Trigger.POWER_CUT,
            PlatformProfile.NAMES_LOST,
            1,
            NoDirectoryForce.class,
            NoDirectoryForce::new),
        new Broken(
            Flaw.RECORD_WITHOUT_CRC,
            "a record is accepted without checking its checksum",
            Trigger.POWER_CUT,
            PlatformProfile.STRICT_POSIX,
            1,
            RecordWithoutCrc.class,
            RecordWithoutCrc::new),
        new Broken(
            Flaw.FORCE_ERROR_SWALLOWED,
            "a failed force is treated as successful",
            Trigger.FAILED_FORCE,
            PlatformProfile.EXT4_ORDERED,
            8,
            ForceErrorSwallowed.class,
            ForceErrorSwallowed::new),
        new Broken(
            Flaw.ACKNOWLEDGED_BEFORE_FORCE,
            "a put is acknowledged before its record is forced",
            Trigger.POWER_CUT,
            PlatformProfile.EXT4_ORDERED,
            1,
            AcknowledgedBeforeForce.class,
            AcknowledgedBeforeForce::new),
        new Broken(
            Flaw.CACHE_TRUSTED,
            "a log is continued whose name a dead process had not forced",
            Trigger.DEATH_AND_POWER_CUT,
            PlatformProfile.NAMES_LOST,
            1,
            CacheTrusted.class,
            CacheTrusted::new),
        new Broken(
            Flaw.ACKNOWLEDGED_FROM_HEAP,
            "a put is acknowledged while its record is in the heap",
            Trigger.PROCESS_DEATH,
            PlatformProfile.EXT4_ORDERED,
            1,
            AcknowledgedFromHeap.class,
            AcknowledgedFromHeap::new));
  }

  /**
   * Returns the first subject that a trigger makes visible.
   *
   * @param trigger the trigger
   * @return the subject
   */
  public static Broken of(Trigger trigger) {
    return all().stream().filter(broken -> broken.trigger() == trigger).findFirst().orElseThrow();
  }

  /** The correct store, which must never be found. */
  public static final class Honest extends TinyStoreSubject {
    /** Creates the subject. */
    public Honest() {
      super(Flaw.NONE);
    }
  }

  /** {@link Flaw#NO_FORCE}. */
  public static final class NoForce extends TinyStoreSubject {
    /** Creates the subject. */
    public NoForce() {
      super(Flaw.NO_FORCE);
    }
  }

  /** {@link Flaw#NO_DIRECTORY_FORCE}. */
  public static final class NoDirectoryForce extends TinyStoreSubject {
    /** Creates the subject. */
    public NoDirectoryForce() {
      super(Flaw.NO_DIRECTORY_FORCE);
    }
  }

  /** {@link Flaw#RECORD_WITHOUT_CRC}. */
  public static final class RecordWithoutCrc extends TinyStoreSubject {
    /** Creates the subject. */
    public RecordWithoutCrc() {
      super(Flaw.RECORD_WITHOUT_CRC);
    }
  }

  /** {@link Flaw#FORCE_ERROR_SWALLOWED}. */
  public static final class ForceErrorSwallowed extends TinyStoreSubject {
    /** Creates the subject. */
    public ForceErrorSwallowed() {
      super(Flaw.FORCE_ERROR_SWALLOWED);
    }
  }

  /** {@link Flaw#ACKNOWLEDGED_BEFORE_FORCE}. */
  public static final class AcknowledgedBeforeForce extends TinyStoreSubject {
    /** Creates the subject. */
    public AcknowledgedBeforeForce() {
      super(Flaw.ACKNOWLEDGED_BEFORE_FORCE);
    }
  }

  /** {@link Flaw#CACHE_TRUSTED}. */
  public static final class CacheTrusted extends TinyStoreSubject {
    /** Creates the subject. */
    public CacheTrusted() {
      super(Flaw.CACHE_TRUSTED);
    }
  }

  /** {@link Flaw#ACKNOWLEDGED_FROM_HEAP}. */
  public static final class AcknowledgedFromHeap extends TinyStoreSubject {
    /** Creates the subject. */
    public AcknowledgedFromHeap() {
      super(Flaw.ACKNOWLEDGED_FROM_HEAP);
    }
  }
}
