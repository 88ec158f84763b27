package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Failure;

/**
 * What a failure is made of: with it the opening that failed can be repeated.
 *
 * @param failure what went wrong
 * @param imageBefore a directory with the files as they were before that opening
 * @param log what had been promised
 * @param seq the crash point: everything said before it counts
 */
public record Evidence(Failure failure, Path imageBefore, PromiseLog log, long seq) {}
