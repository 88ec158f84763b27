package org.revenantdb.jmh.baseline;

import java.io.IOException;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Path;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Classes of the engine, made from its own compiled ones, with which a row contains only the id of
 * its writer. Its content before an update is in {@link FormerVersions}, in memory, for readers and
 * for rollbacks. With {@link OffRowVersions} it is also logged in other pages.
 *
 * <p>So a page is marked for the cleaner only if a row on it was deleted. Everything else is
 * unchanged. It is not a real database: after a crash uncommitted work cannot be rolled back.
 *
 * <p>Failure: {@link IllegalStateException} if the engine is not as this was made for.
 */
public final class EngineOfWriterIds {
  private static final String VERSION = "org.revenantdb.engine.version.";
  private static final String WRITER = VERSION + "RowWriter";
  private static final String CHANGE = VERSION + "RowChange";
  private static final String FIELD = "formerVersions";

  private static final ClassDesc STORAGE = ClassDesc.of(VERSION + "Storage");
  private static final ClassDesc SEGMENT = ClassDesc.of("java.lang.foreign.MemorySegment");
  private static final ClassDesc RECORD = ClassDesc.of("org.revenantdb.recovery.log.RecordBuilder");
  private static final ClassDesc STORE = desc(VolatileStore.class);
  private static final ClassDesc FOUND = STORE.nested("Version");
  private static final ClassDesc FORMER = desc(FormerVersions.class);
  private static final ClassDesc KEY = ConstantDescs.CD_byte.arrayType();
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);

  private EngineOfWriterIds() {}

  private static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }

  /**
   * Writes them.
   *
   * @param folder for a class path
   * @param kept what keeps the former versions
   * @throws IOException if it cannot
   */
  public static void write(Path folder, Class<? extends FormerVersions> kept) throws IOException {
    writer(desc(kept)).write(folder);
    change().write(folder);
    history().write(folder);
    revert().write(folder);
    insert().write(folder);
    visit().write(folder);
    reader().write(folder);
  }

  /** Keeps the present version before it is replaced. */
  static ClassPatch writer(ClassDesc kept) {
    ClassDesc owner = ClassDesc.of(WRITER);
    return new ClassPatch(WRITER)
        .field(FIELD, FORMER)
        .beforeReturn(
            "<init>",
            code ->
                code.aload(0)
                    .new_(kept)
                    .dup()
                    .aload(1)
                    .invokespecial(
                        kept,
                        ConstantDescs.INIT_NAME,
                        MethodTypeDesc.of(ConstantDescs.CD_void, STORAGE))
                    .putfield(owner, FIELD, FORMER))
        .atHead("write", code -> former(code).invokevirtual(FORMER, "prepare", NOTHING))
        .beforeCalls("apply", CHANGE, "apply", 1, EngineOfWriterIds::beforeChange)
        .atHead("end", code -> former(code).invokevirtual(FORMER, "ended", NOTHING));
  }

  /** At the call of {@code apply(leaf, slot, id)} in a method with the same arguments. */
  private static void beforeChange(CodeBuilder code) {
    former(code)
        .iload(1)
        .iload(2)
        .lload(3)
        .invokevirtual(
            FORMER,
            "beforeChange",
            MethodTypeDesc.of(
                ConstantDescs.CD_void,
                ConstantDescs.CD_int,
                ConstantDescs.CD_int,
                ConstantDescs.CD_long));
  }

  /** Replaces the present version; marks pages because of deleted rows. */
  static ClassPatch change() {
    return new ClassPatch(CHANGE)
        .beforeCalls("keep", CHANGE, "replace", 1, code -> code.pop().loadConstant(PageOps.REPLACE))
        .atHead("setBits", EngineOfWriterIds::leaveUnlessGhost);
  }

  /** Puts back what memory has, and knows no savepoints. */
  static ClassPatch history() {
    return new ClassPatch(VERSION + "WriteHistory")
        .insteadOfCalls(
            "putBack", RecoverySpace.class.getName(), "tryAcquire", 1, EngineOfWriterIds::acquire)
        .atHead("savepoint", EngineOfWriterIds::refuse);
  }

  /** The thread that restores rows waits for credit, because no other thread could. */
  private static void acquire(CodeBuilder code) {
    code.invokevirtual(
            desc(RecoverySpace.class),
            "acquire",
            MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int, ConstantDescs.CD_int))
        .iconst_1();
  }

  private static CodeBuilder former(CodeBuilder code) {
    return code.aload(0).getfield(ClassDesc.of(WRITER), FIELD, FORMER);
  }

  private static void leaveUnlessGhost(CodeBuilder code) {
    code.iload(3).ifThen(Opcode.IFEQ, leave -> leave.iconst_0().ireturn());
  }

  private static void refuse(CodeBuilder code) {
    ClassDesc refusal = desc(UnsupportedOperationException.class);
    code.new_(refusal).dup().invokespecial(refusal, ConstantDescs.INIT_NAME, NOTHING).athrow();
  }

  /** Removes restored versions from memory. */
  static ClassPatch revert() {
    return new ClassPatch(VERSION + "RowRevert")
        .insteadOfCalls(
            "revert",
            PageOps.class.getName(),
            "remove",
            1,
            code ->
                code.aload(2)
                    .lload(4)
                    .invokestatic(
                        FORMER,
                        "putBack",
                        MethodTypeDesc.of(
                            ConstantDescs.CD_void,
                            RECORD,
                            ConstantDescs.CD_int,
                            SEGMENT,
                            ConstantDescs.CD_long)));
  }

  /** Rows are appended together whether the page is marked or not: it has not to be. */
  static ClassPatch insert() {
    return new ClassPatch(VERSION + "InsertRequest")
        .insteadOfCalls(
            "run", Page.class.getName(), "hasVersions", 1, code -> code.pop().iconst_1());
  }

  /** Leaves deleted rows to older snapshots: the lack of a predecessor has no meaning here. */
  static ClassPatch visit() {
    return new ClassPatch(VERSION + "PageVisit")
        .insteadOfCalls(
            "isUnseen",
            VolatileStore.class.getName(),
            "mayTakeUnseen",
            1,
            code -> code.pop2().pop2().pop().pop().pop().iconst_0());
  }

  /** Finds older versions in memory. */
  static ClassPatch reader() {
    String store = VolatileStore.class.getName();
    return new ClassPatch(VERSION + "RowReader")
        .insteadOfCalls( // a clear bit has no meaning here
            "seesAll", Page.class.getName(), "hasVersions", 1, code -> code.pop().iconst_1())
        .insteadOfCalls(
            "mayHaveOlder",
            store,
            "isEmpty",
            1,
            code ->
                code.invokestatic(
                    FORMER, "isEmpty", MethodTypeDesc.of(ConstantDescs.CD_boolean, STORE)))
        .insteadOfCalls(
            "older",
            store,
            "find",
            1,
            code ->
                code.invokestatic(
                    FORMER,
                    "find",
                    MethodTypeDesc.of(
                        FOUND, STORE, ConstantDescs.CD_int, KEY, ConstantDescs.CD_long)))
        .insteadOfCalls(
            "findOlder",
            store,
            "findAll",
            1,
            code ->
                code.invokestatic(
                    FORMER,
                    "findAll",
                    MethodTypeDesc.of(
                        FOUND.arrayType(),
                        STORE,
                        ConstantDescs.CD_int,
                        ConstantDescs.CD_List,
                        ConstantDescs.CD_long)));
  }
}
