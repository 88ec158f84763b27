package org.revenantdb.engine;

/**
 * What {@link Transaction#commit} waits for.
 *
 * <p>Commits of both kinds are atomic. The commits that survive a crash are a prefix of the commit
 * order, over all tables: if a commit survives, all earlier ones do.
 */
public enum Durability {
  /**
   * The commit returns when no crash can undo it. A crash cannot undo what such a transaction has
   * read either. If the result of a read depends on a lazy commit that is not durable yet, the read
   * waits until that commit is durable. That includes the result that there is no row.
   */
  DURABLE,

  /**
   * The commit returns at once and does not wait for the disk, except while the disk is full
   * ({@link Transaction#commit}). A power cut, or a crash of the operating system, can undo it
   * until it is durable. The death of the process cannot undo it, unless the file system cannot map
   * files into memory. It becomes durable within {@link DatabaseOptions#maxLazyDelay}, or earlier
   * with {@link Database#sync}, with a later durable commit, with a durable read of it, or with the
   * close. Such a transaction can read commits that are not durable. If an application acts on them
   * outside of the database, a crash may undo what it has read.
   */
  LAZY
}
