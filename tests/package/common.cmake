# Used by the scripts beside it.

# run(command…): fails with the command's output unless it succeeds; sets `output`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# refuse_flags(text): fails when a consumer was made to compile with flags that are Rondo's own.
function(refuse_flags text)
  foreach(flag -march -mtune -ffp-contract -Werror -Wall -fsanitize -ffast-math)
    string(FIND "${text}" "${flag}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "the package forces ${flag} on its users:\n${text}")
    endif()
  endforeach()
endfunction()

# run_consumer(program): the result must be right alone and on two ranks.
function(run_consumer program)
  foreach(ranks 1 2)
    run(${MPIEXEC} -n ${ranks} ${program})
    if(NOT output MATCHES "consumer: ${ranks} ranks agree")
      message(FATAL_ERROR "${ranks} ranks printed:\n${output}")
    endif()
  endforeach()
endfunction()
